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

/* struct load - one ref, with the extension that follows it */
struct load {
	u8 bytes;
	bool sign;
	u8 dst;
	u8 base; /* X86_NO_REG: the address is disp */
	s64 disp;
};

u32 jit_desc(const struct ax_jit *j, u32 pc, u32 op, u32 reg, bool sign)
{
	return pc | op << JIT_DESC_OP | reg << JIT_DESC_REG | (u32)sign << JIT_DESC_SIGN |
	       (u32)j->framed << JIT_DESC_FRAMED;
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

/*
 * How the address is told: a constant, or a register and a displacement that the limit has room
 * for.
 */
static void take_address(struct ax_jit *j, struct jit_val *v, struct load *l)
{
	s64 limit = j->req.world->fast_limit;

	if (jit_is_const(v)) {
		l->base = X86_NO_REG;
		l->disp = v->imm;
		return;
	}
	jit_force_base(j, v);
	if (!jit_fits32(limit - v->imm))
		jit_force(j, v);
	l->base = v->loc;
	l->disp = v->imm;
}

/* The base's own register is the best place for the value, unless it may be wanted again. */
static void take_dst(struct ax_jit *j, struct jit_val *v, struct load *l)
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
static void check(struct ax_jit *j, struct x86_buf *b, const struct load *l, u32 slow)
{
	u32 to = j->slow[slow].pos;

	if (l->base == X86_NO_REG) {
		x86_nop_to(b, to);
		return;
	}
	x86_alu_imm(b, X86_CMP, X86_64, l->base, (s32)(j->req.world->fast_limit - l->disp));
	x86_jcc(b, X86_CC_GE, to);
}

static void emit_fast(struct ax_jit *j, const struct load *l, u32 slow)
{
	struct x86_buf measure = { .len = j->b.len };
	u32 pad;

	check(j, &measure, l, slow);
	pad = -measure.len & (AX_JIT_LOAD_ALIGN - 1);
	x86_fill_nops(&j->b, j->pass == JIT_ESTIMATE ? AX_JIT_LOAD_ALIGN - 1 : pad);
	check(j, &j->b, l, slow);
	x86_load(&j->b, l->dst, x86_at(l->base, (s32)l->disp), l->bytes, l->sign);
}

/* May the processor be asked at all? Of a constant address it is known now. */
static bool may_be_fast(const struct ax_jit *j, const struct load *l)
{
	if (!j->req.world->fast)
		return false;
	return l->base != X86_NO_REG ||
	       (l->disp < j->req.world->fast_limit && jit_fits32(l->disp));
}

void jit_op_ref(struct ax_jit *j)
{
	struct jit_val *v = jit_arg(j, 0);
	struct load l = { .bytes = (u8)(1U << (j->insn.op - AX_OP_ref8)) };
	u32 slow;

	take_address(j, v, &l);
	take_dst(j, v, &l);
	l.sign = take_sign(j, l.bytes);
	slow = jit_slow_add(j, (struct jit_slow){
		.dst = l.dst, .sign = l.sign, .base = l.base, .disp = l.disp });
	if (may_be_fast(j, &l))
		emit_fast(j, &l, slow);
	else
		x86_jmp(&j->b, j->slow[slow].pos);
	j->slow[slow].back = j->b.len;
	if (l.sign)
		jit_know(v, 64, l.bytes * 8U);
	else
		jit_know(v, l.bytes * 8U, 64);
}

static void slow_address(struct ax_jit *j, const struct jit_slow *s)
{
	if (s->base == X86_NO_REG)
		x86_mov_imm(&j->b, s->dst, (u64)s->disp);
	else if (s->disp)
		x86_lea(&j->b, X86_64, s->dst, x86_at(s->base, (s32)s->disp));
	else if (s->base != s->dst)
		x86_mov(&j->b, s->dst, s->base);
}

static void jump_back(struct ax_jit *j, u32 to)
{
	if (j->b.len + 2 - to <= 128)
		x86_jmp_short(&j->b, to);
	else
		x86_jmp(&j->b, to);
}

static void slow_path(struct ax_jit *j, struct jit_slow *s)
{
	bool load = s->op >= AX_OP_ref8 && s->op <= AX_OP_ref64;

	if (j->pass == JIT_ESTIMATE)
		s->est = j->b.len;
	else
		s->pos = j->b.len;
	if (load)
		slow_address(j, s);
	x86_push_imm(&j->b, (s32)jit_desc(j, s->pc, s->op, s->dst, s->sign));
	jit_call(j, AX_JIT_SLOW);
	if (!load)
		return; /* an error: the stub does not come back */
	x86_pop(&j->b, s->dst);
	jump_back(j, s->back);
}

void jit_slow_paths(struct ax_jit *j)
{
	for (u32 i = 0; i < j->nslow; i++)
		slow_path(j, &j->slow[i]);
}
