/* SPDX-License-Identifier: GPL-2.0-only */
/* Copy displaced instructions so that they have the same effect at another address. */
#ifndef _GTP_COPY_H
#define _GTP_COPY_H

#include "jit/jit.h"
#include "jit/x86_emit.h"
#include "regions/region.h"

/* gtp_copy_can - true if all instructions of the region can be moved */
bool gtp_copy_can(const struct gtp_region *r);

/**
 * gtp_copy_emit() - write the copies, and the jump to the end of the originals
 * @b: receives the copies; the number of bytes depends on @b->len and @at, but not on @base
 * @base: address where byte 0 of @b will run, a multiple of AX_JIT_LOAD_ALIGN
 * @w: the target, which says what form returns and indirect branches must have
 * @r: the region whose instructions are copied; gtp_copy_can() accepts it
 * @at: the address of the original instructions
 * @begin: receives the offset in @b of each copy; may be NULL
 *
 * No copy that reads or writes memory begins at a multiple of AX_JIT_LOAD_ALIGN: a fault there
 * would be handled like a fault of a fast load (see jit/jit.h).
 */
void gtp_copy_emit(struct x86_buf *b, u64 base, const struct ax_jit_target *w,
		   const struct gtp_region *r, u64 at, u32 *begin);

#endif /* _GTP_COPY_H */
