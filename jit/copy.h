/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions that a jump displaces, made to do the same elsewhere. */
#ifndef _GTP_COPY_H
#define _GTP_COPY_H

#include "jit/jit.h"
#include "jit/x86_emit.h"
#include "regions/region.h"

/* gtp_copy_can - can all of them be moved? */
bool gtp_copy_can(const struct gtp_region *r);

/**
 * gtp_copy_emit() - write them, and the jump behind what they were
 * @b: where to; how many bytes that is depends on @b->len and on @at, not on @base
 * @base: where byte 0 of @b will run, a multiple of AX_JIT_LOAD_ALIGN
 * @w: what returns and indirect branches have to be there
 * @r: what; gtp_copy_can()
 * @at: where they are
 * @begin: receives the offset in @b of each of them; or NULL
 *
 * No copy begins where a fast load could (see jit/jit.h): a fault of one must stay what it is.
 */
void gtp_copy_emit(struct x86_buf *b, u64 base, const struct ax_jit_target *w,
		   const struct gtp_region *r, u64 at, u32 *begin);

#endif /* _GTP_COPY_H */
