/* SPDX-License-Identifier: GPL-2.0-only */
/* Compute the addresses of loads, and emit the code before a fast load. */
#ifndef _GTP_ADDRESS_H
#define _GTP_ADDRESS_H

#include "jit/jit_internal.h"

/* jit_record_at - return the operand for byte @offset of the trace frame that actions write */
static inline struct x86_mem jit_record_at(u32 offset)
{
	return x86_at(JIT_RECORD, (s32)offset);
}

/*
 * jit_take_address - turn @v, the address of @span bytes, into a constant, or a register plus a
 * displacement that the check can encode; store that in @l
 */
void jit_take_address(struct ax_jit *j, struct jit_val *v, struct jit_load *l, u32 span);

/* jit_may_be_fast - true if a fast load is allowed; a constant address is checked now */
bool jit_may_be_fast(const struct ax_jit *j, const struct jit_load *l, u32 span);

/*
 * jit_align_load - emit the code before a fast load: padding, the check of the address @l of @span
 * bytes, the jump to slow code number @slow. @l is NULL if the address was checked before
 */
void jit_align_load(struct ax_jit *j, const struct jit_load *l, u32 span, u32 slow);

/* jit_address - emit dst = the address; changes no flags */
void jit_address(struct ax_jit *j, enum x86_reg dst, const struct jit_load *l);

#endif /* _GTP_ADDRESS_H */
