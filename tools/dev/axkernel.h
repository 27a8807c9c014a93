/* SPDX-License-Identifier: GPL-2.0-only */
/* The compiler in the running kernel as an engine for vectors: gtp_jit_test.ko must be loaded. */
#ifndef _GTP_AXKERNEL_H
#define _GTP_AXKERNEL_H

#include "tools/dev/axvec.h"

/*
 * axkernel_eval - have the kernel compile and run an expression; an axvec_eval. Exits with a
 * message if the module is not there.
 */
int axkernel_eval(const struct ax_verified *v, struct ax_env *env, u64 *result);

#endif /* _GTP_AXKERNEL_H */
