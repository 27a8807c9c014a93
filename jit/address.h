/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses of memory that is read, and what stands in front of a fast load. */
#ifndef _GTP_ADDRESS_H
#define _GTP_ADDRESS_H

#include "jit/jit_internal.h"

/* jit_record_at - where byte @offset of the trace frame is that actions write */
static inline struct x86_mem jit_record_at(u32 offset)
{
	return x86_at(JIT_RECORD, (s32)offset);
}

/*
 * jit_take_address - the address in @v, of @span bytes, as @l: a constant, or a register and a
 * displacement for which the check has room
 */
void jit_take_address(struct ax_jit *j, struct jit_val *v, struct jit_load *l, u32 span);

/* jit_may_be_fast - may there be a plain load? Constant addresses are checked now. */
bool jit_may_be_fast(const struct ax_jit *j, const struct jit_load *l, u32 span);

/*
 * jit_align_load - what stands in front of a fast load: padding, the check of @span bytes (NULL: it
 * has been made), the way to slow code number @slow
 */
void jit_align_load(struct ax_jit *j, const struct jit_load *l, u32 span, u32 slow);

/* jit_address - dst = the address; changes no flags */
void jit_address(struct ax_jit *j, enum x86_reg dst, const struct jit_load *l);

#endif /* _GTP_ADDRESS_H */
