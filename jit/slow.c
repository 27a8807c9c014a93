// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emits calls of the common stubs, and the slow code, which follows the fast code:
 *
 *	lea dst, [base + disp]
 *	push the instruction's description
 *	call the slow stub              calls env->ops->read(); returns only with a value
 *	pop dst
 *	jmp back
 *
 * For a block of memory that actions collect it is:
 *
 *	mov dword [env.progress], p
 *	mov d, address; push length; push place; push the description; call the slow stub
 *	pop d; lea rsp, [rsp + 16]; jmp back
 */
#include "jit/address.h"
#include "jit/flow.h"
#include "jit/slow.h"

/* Add slow code, numbered in the order of compilation; keep its offset from the previous pass. */
u32 jit_slow_add(struct ax_jit *j, struct jit_slow s)
{
	struct jit_slow *slot = &j->slow[j->nslow];

	if (j->pad.on) {
		j->slow[0].at = j->pad.tail[JIT_PUNT];
		j->nslow = 1;
		return 0;
	}
	s.at = slot->at;
	s.pc = j->insn.pc;
	s.op = j->insn.op;
	s.progress = j->progress;
	*slot = s;
	return j->nslow++;
}

u32 jit_desc(const struct ax_jit *j, u32 pc, u32 op, u32 reg, bool sign)
{
	return pc | op << JIT_DESC_OP | reg << JIT_DESC_REG | (u32)sign << JIT_DESC_SIGN |
	       (u32)j->stack_frame << JIT_DESC_STACK;
}

void jit_call_stub(struct ax_jit *j, enum ax_jit_stub stub)
{
	if (j->pad.on)
		j->unsuitable = true; /* a pad's fast code must not call */
	x86_call_far(&j->b, j->base, j->pass == JIT_WRITE ? j->req.target->stub[stub] : j->base);
}

void jit_progress(struct ax_jit *j, u32 progress)
{
	struct x86_mem to = x86_at(JIT_ENV, (s32)offsetof(struct ax_env, progress));

	if (j->req.nitems)
		x86_store_imm(&j->b, to, (s32)progress, 4);
}

void jit_slow_copy(struct ax_jit *j, const struct jit_slow *s)
{
	struct jit_load l = { .base = s->base, .disp = s->disp };

	jit_progress(j, s->progress);
	jit_address(j, s->dst, &l);
	x86_push_imm(&j->b, (s32)s->len);
	x86_push_imm(&j->b, (s32)s->where);
	x86_push_imm(&j->b, (s32)(jit_desc(j, s->pc, s->op, s->dst, false) | 1 << JIT_DESC_BLOCK));
	jit_call_stub(j, AX_JIT_SLOW);
	x86_pop(&j->b, s->dst);
	x86_lea(&j->b, X86_64, X86_RSP, x86_at(X86_RSP, 16));
	if (s->keep)
		x86_load(&j->b, s->dst, jit_record_at(s->where), s->len, false);
}

static void slow_path(struct ax_jit *j, struct jit_slow *s)
{
	bool load = s->op >= AX_OP_ref8 && s->op <= AX_OP_ref64;
	struct jit_load l = { .base = s->base, .disp = s->disp };

	jit_mark(j, &s->at);
	if (s->emit) {
		s->emit(j, s);
		jit_jmp_back(j, s->back);
		return;
	}
	if (s->block) {
		jit_slow_copy(j, s);
		jit_jmp_back(j, s->back);
		return;
	}
	jit_progress(j, s->progress);
	if (load)
		jit_address(j, s->dst, &l);
	x86_push_imm(&j->b, (s32)jit_desc(j, s->pc, s->op, s->dst, s->sign));
	jit_call_stub(j, AX_JIT_SLOW);
	if (!load)
		return; /* for an error: the stub then does not return */
	x86_pop(&j->b, s->dst);
	jit_jmp_back(j, s->back);
}

void jit_slow_paths(struct ax_jit *j)
{
	for (u32 i = 0; i < j->nslow; i++)
		slow_path(j, &j->slow[i]);
}
