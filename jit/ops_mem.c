// SPDX-License-Identifier: GPL-2.0-only
/* Compiles loads: as fast loads where these are allowed, otherwise as slow code alone. */
#include "jit/address.h"
#include "jit/flow.h"
#include "jit/ops_fuse.h"
#include "jit/ops_mem.h"
#include "jit/slow.h"
#include "jit/values.h"

/*
 * Return true if "ext" from the same width follows a ref: both then become one sign-extending load.
 * A ref alone zero-extends.
 */
static bool take_sign(struct ax_jit *j, u32 bytes)
{
	struct ax_insn next;

	if (bytes == 8 || !jit_peek(j, &next) || next.op != AX_OP_ext || next.operand != bytes * 8)
		return false;
	j->next = next.next;
	return true;
}

/* Choose the register for the value: the register of the base, unless the base is needed again. */
static void take_dst(struct ax_jit *j, struct jit_val *v, struct jit_load *l)
{
	bool keep = l->base == X86_NO_REG || j->regs[l->base] > 1 || j->cached[l->base] >= 0;
	struct jit_val to;

	if (!keep) {
		l->dst = l->base;
		*v = jit_in_reg(l->dst);
		return;
	}
	to = jit_in_reg(jit_alloc(j));
	l->dst = to.loc;
	jit_set(j, v, to);
}

static void emit_fast(struct ax_jit *j, const struct jit_load *l, u32 slow)
{
	jit_align_load(j, l, l->bytes, slow);
	x86_load(&j->b, l->dst, x86_at(l->base, (s32)l->disp), l->bytes, l->sign);
}

void jit_op_ref(struct ax_jit *j)
{
	struct jit_val *v = jit_arg(j, 0);
	struct jit_load l = { .bytes = (u8)(1U << (j->insn.op - AX_OP_ref8)) };
	u32 slow;

	jit_take_address(j, v, &l, l.bytes);
	if (jit_fuse_compare(j, &l))
		return;
	take_dst(j, v, &l);
	l.sign = take_sign(j, l.bytes);
	slow = jit_slow_add(
		j,
		(struct jit_slow){ .dst = l.dst, .sign = l.sign, .base = l.base, .disp = l.disp });
	if (jit_may_be_fast(j, &l, l.bytes))
		emit_fast(j, &l, slow);
	else
		x86_jmp(&j->b, j->slow[slow].at.pos);
	j->slow[slow].back = j->b.len;
	if (l.sign)
		jit_know(v, 64, l.bytes * 8U);
	else
		jit_know(v, l.bytes * 8U, 64);
}
