/* SPDX-License-Identifier: GPL-2.0-only */
/* Run test vectors with the JIT compiler, and show its machine code as text. */
#ifndef _GTP_AXJIT_H
#define _GTP_AXJIT_H

#include "tools/dev/axvec.h"

enum { AXJIT_SEEDS = 14 }; /* the number of possible choices of registers */

/*
 * axjit_eval - compile an expression and run it; has the type axvec_eval. Every load calls
 * ->read(), because a vector's memory is not really at the address that the vector gives.
 */
int axjit_eval(const struct ax_verified *v, struct ax_env *env, u64 *result);

/* axjit_seed - choose the registers that the code of later calls of axjit_eval() uses */
void axjit_seed(u32 seed);

/*
 * axjit_listing - print the machine code as objdump shows it, or its bytes if there is no objdump
 */
void axjit_listing(const struct ax_verified *v);

#endif /* _GTP_AXJIT_H */
