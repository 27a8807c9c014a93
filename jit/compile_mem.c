// SPDX-License-Identifier: GPL-2.0-only
/*
 * The compiler's loads, and the slow code behind them.
 *
 *	pad so that the load is aligned
 *	cmp base, limit - disp
 *	jge slow                        no kernel address; a fault finds the displacement here
 *	mov dst, [base + disp]
 * back:
 *	...
 * slow: lea dst, [base + disp]
 *	push what it is about
 *	call the common stub            asks env->ops->read(); returns only with a value
 *	pop dst
 *	jmp back
 */
#include "jit/compile.h"

u32 jit_desc(const struct ax_jit *j, u32 pc, u32 op, u32 reg, bool sign)
{
	return pc | op << JIT_DESC_OP | reg << JIT_DESC_REG | (u32)sign << JIT_DESC_SIGN |
	       (u32)j->stack_frame << JIT_DESC_STACK;
}

/* A ref zero-extends; "ext" by its own width makes it a sign-extending load. */
static bool take_sign(struct ax_jit *j, u32 bytes)
{
	struct ax_insn next;

	if (bytes == 8 || !jit_peek(j, &next) || next.op != AX_OP_ext || next.operand != bytes * 8)
		return false;
	j->next = next.next;
	return true;
}

/* The limit keeps 8 bytes clear of what may not be touched; a longer access needs more. */
static s64 limit_for(const struct ax_jit *j, u32 span)
{
	return (s64)j->req.target->fast_limit - (span > 8 ? span : 0);
}

/*
 * jit_take_address - how an address is told: a constant, or a register and a displacement for which
 * the check has room
 */
void jit_take_address(struct ax_jit *j, struct jit_val *v, struct jit_load *l, u32 span)
{
	if (jit_is_const(v)) {
		l->base = X86_NO_REG;
		l->disp = v->imm;
		return;
	}
	jit_force_base(j, v);
	if (!jit_fits32(limit_for(j, span) - v->imm) || !jit_fits32(v->imm + span))
		jit_force(j, v);
	l->base = v->loc;
	l->disp = v->imm;
}

/* The base's own register is the best place for the value, unless it may be wanted again. */
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

/* A constant address needs no check, but a place for the displacement. */
static void check(struct ax_jit *j, struct x86_buf *b, const struct jit_load *l, u32 span, u32 slow)
{
	u32 to = j->slow[slow].pos;

	if (!l || l->base == X86_NO_REG) {
		x86_nop_to(b, to);
		return;
	}
	x86_alu_imm(b, X86_CMP, X86_64, l->base, (s32)(limit_for(j, span) - l->disp));
	x86_jcc(b, X86_CC_GE, to);
}

/*
 * jit_align_load - what stands in front of a fast load: padding, the check of @span bytes (NULL: it
 * has been made), the way to slow code number @slow
 */
void jit_align_load(struct ax_jit *j, const struct jit_load *l, u32 span, u32 slow)
{
	struct x86_buf measure = { .len = j->b.len };
	u32 pad;

	check(j, &measure, l, span, slow);
	pad = -measure.len & (AX_JIT_LOAD_ALIGN - 1);
	x86_fill_nops(&j->b, j->pass == JIT_ESTIMATE ? AX_JIT_LOAD_ALIGN - 1 : pad);
	check(j, &j->b, l, span, slow);
}

/* jit_may_be_fast - may the processor be asked at all? Of a constant address it is known now. */
bool jit_may_be_fast(const struct ax_jit *j, const struct jit_load *l, u32 span)
{
	if (!j->req.target->fast)
		return false;
	return l->base != X86_NO_REG ||
	       (l->disp < limit_for(j, span) && jit_fits32(l->disp) && jit_fits32(l->disp + span));
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
	slow = jit_slow_add(j, (struct jit_slow){
		.dst = l.dst, .sign = l.sign, .base = l.base, .disp = l.disp });
	if (jit_may_be_fast(j, &l, l.bytes))
		emit_fast(j, &l, slow);
	else
		x86_jmp(&j->b, j->slow[slow].pos);
	j->slow[slow].back = j->b.len;
	if (l.sign)
		jit_know(v, 64, l.bytes * 8U);
	else
		jit_know(v, l.bytes * 8U, 64);
}

/* jit_address - dst = the address; changes no flags */
void jit_address(struct ax_jit *j, enum x86_reg dst, const struct jit_load *l)
{
	if (l->base == X86_NO_REG)
		x86_mov_imm(&j->b, dst, (u64)l->disp);
	else if (l->disp)
		x86_lea(&j->b, X86_64, dst, x86_at(l->base, (s32)l->disp));
	else if (l->base != dst)
		x86_mov(&j->b, dst, l->base);
}

void jit_jump_back(struct ax_jit *j, u32 to)
{
	if (j->b.len + 2 - to <= 128)
		x86_jmp_short(&j->b, to);
	else
		x86_jmp(&j->b, to);
}

static void slow_path(struct ax_jit *j, struct jit_slow *s)
{
	bool load = s->op >= AX_OP_ref8 && s->op <= AX_OP_ref64;
	struct jit_load l = { .base = s->base, .disp = s->disp };

	if (j->pass == JIT_ESTIMATE)
		s->est = j->b.len;
	else
		s->pos = j->b.len;
	if (s->block) {
		jit_slow_block(j, s);
		return;
	}
	jit_record_progress(j, s->progress);
	if (load)
		jit_address(j, s->dst, &l);
	x86_push_imm(&j->b, (s32)jit_desc(j, s->pc, s->op, s->dst, s->sign));
	jit_call(j, AX_JIT_SLOW);
	if (!load)
		return; /* an error: the stub does not come back */
	x86_pop(&j->b, s->dst);
	jit_jump_back(j, s->back);
}

void jit_slow_paths(struct ax_jit *j)
{
	for (u32 i = 0; i < j->nslow; i++)
		slow_path(j, &j->slow[i]);
}
