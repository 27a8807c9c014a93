/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses of memory to read, and the code before a fast load. */
#ifndef _GTP_ADDRESS_H
#define _GTP_ADDRESS_H

#include "jit/jit_internal.h"

/* jit_record_at - return the operand for byte @offset of the trace frame that actions write */
static inline struct x86_mem jit_record_at(u32 offset)
{
	return x86_at(JIT_RECORD, (s32)offset);
}

/*
 * jit_take_address - turn @v, the address of @span bytes, into @l: a constant, or a register and a
 * displacement that the check can encode
 */
void jit_take_address(struct ax_jit *j, struct jit_val *v, struct jit_load *l, u32 span);

/* jit_may_be_fast - true if a plain load is allowed; a constant address is checked right here */
bool jit_may_be_fast(const struct ax_jit *j, const struct jit_load *l, u32 span);

/*
 * jit_align_load - emit the code before a fast load: padding, the check of @span bytes (@l NULL:
 * the check was made already), the jump to slow code number @slow
 */
void jit_align_load(struct ax_jit *j, const struct jit_load *l, u32 span, u32 slow);

/* jit_address - emit dst = the address; changes no flags */
void jit_address(struct ax_jit *j, enum x86_reg dst, const struct jit_load *l);

#endif /* _GTP_ADDRESS_H */
