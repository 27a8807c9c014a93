// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compute the addresses of loads, and emit the code before a fast load (see jit/jit.h):
 *
 *	pad so that the load is aligned
 *	cmp base, limit - disp
 *	jge slow                        not a kernel address; a fault of the load leads to slow, too
 *	mov dst, [base + disp]
 */
#include "jit/address.h"
#include "jit/values.h"

/*
 * Return the limit for the address of an access of @span bytes. The target's fast_limit is right
 * for an access of 8 bytes; a longer access needs a lower limit.
 */
static s64 limit_for(const struct ax_jit *j, u32 span)
{
	return (s64)j->req.target->fast_limit - (span > 8 ? span : 0);
}

void jit_take_address(struct ax_jit *j, struct jit_val *v, struct jit_load *l, u32 span)
{
	if (jit_is_const(v)) {
		l->base = X86_NO_REG;
		l->disp = v->imm;
		return;
	}
	jit_force_base(j, v);
	if (!x86_fits32(limit_for(j, span) - v->imm) || !x86_fits32(v->imm + span))
		jit_force(j, v);
	l->base = v->loc;
	l->disp = v->imm;
}

/*
 * Emit the check of an address. A constant address needs no check, but if the load faults, the slow
 * code is found by the displacement before the load: emit that in a nop.
 */
static void check(struct ax_jit *j, struct x86_buf *b, const struct jit_load *l, u32 span, u32 slow)
{
	u32 to = j->slow[slow].at.pos;

	if (!l || l->base == X86_NO_REG) {
		x86_nop_to(b, to);
		return;
	}
	x86_alu_imm(b, X86_CMP, X86_64, l->base, (s32)(limit_for(j, span) - l->disp));
	x86_jcc(b, X86_CC_GE, to);
}

void jit_align_load(struct ax_jit *j, const struct jit_load *l, u32 span, u32 slow)
{
	struct x86_buf measure = { .len = j->b.len };
	u32 pad;

	check(j, &measure, l, span, slow);
	pad = -measure.len & (AX_JIT_LOAD_ALIGN - 1);
	x86_fill_nops(&j->b, j->pass == JIT_ESTIMATE ? AX_JIT_LOAD_ALIGN - 1 : pad);
	check(j, &j->b, l, span, slow);
}

bool jit_may_be_fast(const struct ax_jit *j, const struct jit_load *l, u32 span)
{
	if (!j->req.target->fast)
		return false;
	return l->base != X86_NO_REG ||
	       (l->disp < limit_for(j, span) && x86_fits32(l->disp) && x86_fits32(l->disp + span));
}

void jit_address(struct ax_jit *j, enum x86_reg dst, const struct jit_load *l)
{
	if (l->base == X86_NO_REG)
		x86_mov_imm(&j->b, dst, (u64)l->disp);
	else if (l->disp)
		x86_lea(&j->b, X86_64, dst, x86_at(l->base, (s32)l->disp));
	else if (l->base != dst)
		x86_mov(&j->b, dst, l->base);
}
