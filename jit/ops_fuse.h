/* SPDX-License-Identifier: GPL-2.0-only */
/* A pad's comparisons of memory with a constant, in one instruction. */
#ifndef _GTP_OPS_FUSE_H
#define _GTP_OPS_FUSE_H

#include "jit/jit_internal.h"

/**
 * jit_fuse_compare() - a ref and the comparison behind it
 * @j: the ref is being compiled
 * @l: where and how much it reads
 *
 * Return: false when there is none, or this is no pad; then nothing has been done.
 */
bool jit_fuse_compare(struct ax_jit *j, const struct jit_load *l);

#endif /* _GTP_OPS_FUSE_H */
