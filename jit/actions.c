// SPDX-License-Identifier: GPL-2.0-only
/* Compile a tracepoint's actions as one snippet, in which each action records its blocks. */
#include "jit/actions.h"
#include "jit/expr.h"
#include "jit/record.h"
#include "jit/values.h"

static void mem_item(struct ax_jit *j, const struct ax_jit_item *item)
{
	struct jit_val addr = jit_const(item->offset);

	if (item->base >= 0 && item->base != GTP_REG_PC) {
		addr = jit_hit_val(j, (u32)item->base);
		/*
		 * In a pad, rsp is lower than the hit's rsp by the words that the pad has pushed.
		 */
		if (addr.bits < 64 || !x86_fits32((s64)item->offset) ||
		    !x86_fits32(addr.imm + (s32)item->offset))
			j->unsuitable = true; /* GDB never sends such an address */
		else
			addr.imm += (s32)item->offset;
		jit_know(&addr, 64, 64);
	} else if (item->base == GTP_REG_PC) {
		addr = jit_const(j->req.pc + item->offset);
	}
	jit_push(j, addr);
	j->held = 1;
	jit_record_mem(j, jit_arg(j, 0), item->len);
	jit_pop(j);
}

/* True if the expression has no jumps, and sets no variable that needs the lock. */
static bool is_simple(const struct ax_verified *v)
{
	u32 pc;

	if (v->flags & AX_F_LOCKED)
		return false;
	for (pc = 0; pc < v->len; pc++)
		if (v->points[pc].flags & AX_P_TARGET)
			return false;
	return true;
}

static void action(struct ax_jit *j, const struct ax_jit_item *item)
{
	j->insn = (struct ax_insn){ 0 }; /* errors of other actions have pc 0 and opcode 0 */
	jit_record_note(j);
	switch (item->kind) {
	case AX_JIT_REGS:
		jit_record_regs(j, item->mask);
		break;
	case AX_JIT_MEM:
		mem_item(j, item);
		break;
	case AX_JIT_EXPR:
		if (is_simple(item->v))
			jit_expr(j, item->v);
		else
			j->unsuitable = true;
		break;
	case AX_JIT_ELSEWHERE:
		break;
	}
}

void jit_actions(struct ax_jit *j)
{
	bool all_exprs = true;

	jit_record_begin(j);
	for (u32 i = 0; i < j->req.nitems && !j->unsuitable; i++) {
		j->item = i + 1;
		action(j, &j->req.items[i]);
		all_exprs &= j->req.items[i].kind == AX_JIT_EXPR;
	}
	/* A snippet cannot tell its caller that a frame is shorter than planned. */
	if (j->ends_pair && (j->record_used || !all_exprs))
		j->unsuitable = true;
}
