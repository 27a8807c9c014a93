/* SPDX-License-Identifier: GPL-2.0-only */
/* Compiles the comparison of memory with a constant to one instruction, in a pad. */
#ifndef _GTP_OPS_FUSE_H
#define _GTP_OPS_FUSE_H

#include "jit/jit_internal.h"

/**
 * jit_fuse_compare() - compile a ref and the following comparison as one instruction
 * @j: the compilation, at the ref
 * @l: the memory that the ref reads
 *
 * Return: false, with nothing done, if no comparison follows or this is not a pad.
 */
bool jit_fuse_compare(struct ax_jit *j, const struct jit_load *l);

#endif /* _GTP_OPS_FUSE_H */
