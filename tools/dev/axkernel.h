/* SPDX-License-Identifier: GPL-2.0-only */
/* Run test vectors with the JIT compiler in the running kernel, through gtp_jit_test.ko. */
#ifndef _GTP_AXKERNEL_H
#define _GTP_AXKERNEL_H

#include "tools/dev/axvec.h"

/*
 * axkernel_eval - let the kernel compile and run an expression; has the type axvec_eval. Exits with
 * a message if gtp_jit_test.ko is not loaded.
 */
int axkernel_eval(const struct ax_verified *v, struct ax_env *env, u64 *result);

#endif /* _GTP_AXKERNEL_H */
