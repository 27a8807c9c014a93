// SPDX-License-Identifier: GPL-2.0-only
/* Compiles arithmetic: add to xor, comparisons, not, and extensions. */
#include "agentexpr/meaning.h"
#include "jit/flow.h"
#include "jit/ops_alu.h"
#include "jit/ops_shift.h"
#include "jit/values.h"

/* struct operand - the right-hand side of an instruction, as the encoder takes it */
struct operand {
	enum { IN_REG, IN_MEM, IMM } kind;
	enum x86_reg reg;
	struct x86_mem mem;
	s32 imm;
};

static bool is_commutative(u32 op)
{
	return op != AX_OP_sub;
}

/*
 * True if an instruction can use the value as a memory operand: it is a register of the hit or a
 * slot, without a pending extension or addition.
 */
static bool usable_in_memory(const struct ax_jit *j, const struct jit_val *v, enum x86_width w)
{
	if (v->imm || v->bits < (w == X86_64 ? 64 : 32))
		return false;
	return v->where == JIT_SLOT || (v->where == JIT_HIT && jit_cached(j, v->loc) == X86_NO_REG);
}

static struct operand operand(struct ax_jit *j, struct jit_val *v, enum x86_width w)
{
	if (jit_is_const(v)) {
		s64 imm = w == X86_64 ? v->imm : (s32)v->imm;

		if (x86_fits32(imm))
			return (struct operand){ .kind = IMM, .imm = (s32)imm };
	}
	if (usable_in_memory(j, v, w))
		return (struct operand){
			.kind = IN_MEM,
			.mem = v->where == JIT_SLOT ? jit_slot(j, v->loc) : jit_hit(j, v),
		};
	if (w == X86_64)
		jit_force(j, v);
	else
		jit_force_low(j, v);
	return (struct operand){ .kind = IN_REG, .reg = v->loc };
}

static void alu(struct ax_jit *j, enum x86_alu op, enum x86_width w, enum x86_reg dst,
		const struct operand *o)
{
	if (o->kind == IMM)
		x86_alu_imm(&j->b, op, w, dst, o->imm);
	else if (o->kind == IN_MEM)
		x86_alu_mem(&j->b, op, w, dst, o->mem);
	else
		x86_alu(&j->b, op, w, dst, o->reg);
}

static enum x86_reg own(struct ax_jit *j, struct jit_val *v, enum x86_width w)
{
	return w == X86_64 ? jit_own(j, v) : jit_own_low(j, v);
}

static u8 max8(u8 a, u8 b)
{
	return a > b ? a : b;
}

/* Record that a 32-bit operation has cleared the upper half of its result. */
static void know_width(struct jit_val *v, enum x86_width w)
{
	jit_know(v, w == X86_64 ? 64 : 32, 64);
}

static bool is_single_reg(const struct ax_jit *j, const struct jit_val *v)
{
	return v->where == JIT_REG && j->regs[v->loc] == 1 && j->cached[v->loc] < 0;
}

/*
 * The result replaces the left operand. Swap the operands if it is cheaper to overwrite the right
 * one.
 */
static void arrange(struct ax_jit *j, struct jit_val *a, struct jit_val *b)
{
	struct jit_val t = *a;

	if (jit_is_const(a) || (!jit_is_const(b) && !is_single_reg(j, a) && is_single_reg(j, b))) {
		*a = *b;
		*b = t;
	}
}

/*
 * Add a constant without emitting code; the later use of the value includes the addition. Return
 * false if that is not possible.
 */
static bool add_lazily(struct jit_val *a, s64 imm)
{
	if (a->where == JIT_FLAGS || !x86_fits32(imm) || !x86_fits32(a->imm + imm))
		return false;
	a->imm += imm;
	jit_know(a, 64, 64);
	return true;
}

static bool op_lazily(struct ax_jit *j, u32 op, struct jit_val *a, const struct jit_val *b,
		      enum x86_width w)
{
	if ((op != AX_OP_add && op != AX_OP_sub) || !jit_is_const(b) || b->imm == S64_MIN)
		return false;
	if (a->bits < 64 && w == X86_32)
		jit_force_low(j, a);
	else if (a->bits < 64)
		jit_force(j, a);
	return add_lazily(a, op == AX_OP_add ? b->imm : -b->imm);
}

/* Combine pending constants without code: (a + 1) + (b + 2) becomes a + b with 3 pending. */
static s64 split_imm(u32 op, struct jit_val *a, struct jit_val *b)
{
	s64 sum;

	if (jit_is_const(a) || jit_is_const(b))
		return 0;
	sum = a->imm + (op == AX_OP_sub ? -b->imm : b->imm);
	if (!x86_fits32(sum))
		return 0;
	a->imm = 0;
	b->imm = 0;
	return sum;
}

/*
 * True if both values are the same except for pending constants: then their difference is a
 * constant.
 */
static bool same_place(const struct jit_val *a, const struct jit_val *b)
{
	return a->where == b->where && a->where != JIT_CONST && a->loc == b->loc &&
	       a->bits == b->bits && a->sign == b->sign;
}

static void add_or_sub(struct ax_jit *j, struct jit_val *a, struct jit_val *b, enum x86_width w)
{
	u32 op = j->insn.op;
	struct operand o;
	s64 imm;

	if (op == AX_OP_sub && same_place(a, b)) {
		jit_set_const(j, a, (u64)(a->imm - b->imm));
		return;
	}
	if (op_lazily(j, op, a, b, w))
		return;
	imm = split_imm(op, a, b);
	o = operand(j, b, w);
	own(j, a, w);
	alu(j, op == AX_OP_add ? X86_ADD : X86_SUB, w, a->loc, &o);
	know_width(a, w);
	if (imm)
		add_lazily(a, imm);
}

/*
 * Multiply by 3, 5 or 9 with lea, as x + x * 2, 4 or 8, which takes a third of the time of imul.
 * Return false for other factors.
 */
static bool multiply_as_address(struct ax_jit *j, struct jit_val *a, s64 by, enum x86_width w)
{
	struct x86_mem mem = { .disp = 0 };

	if (by != 3 && by != 5 && by != 9)
		return false;
	mem.base = own(j, a, w);
	mem.index = mem.base;
	mem.scale = (u8)jit_log2_up((u64)by - 1);
	x86_lea(&j->b, w, mem.base, mem);
	return true;
}

static void multiply(struct ax_jit *j, struct jit_val *a, struct jit_val *b, enum x86_width w)
{
	struct operand o;

	if (jit_is_const(b) && b->imm == 0) {
		jit_set_const(j, a, 0);
		return;
	}
	if (jit_is_const(b) && jit_is_power_of_2((u64)b->imm)) {
		jit_shift_const(j, AX_OP_lsh, a, jit_log2_up((u64)b->imm));
		return;
	}
	if (jit_is_const(b) && multiply_as_address(j, a, b->imm, w)) {
		know_width(a, w);
		return;
	}
	o = operand(j, b, w);
	own(j, a, w);
	if (o.kind == IMM)
		x86_imul_imm(&j->b, w, a->loc, a->loc, o.imm);
	else if (o.kind == IN_MEM)
		x86_imul_mem(&j->b, w, a->loc, o.mem);
	else
		x86_imul(&j->b, w, a->loc, o.reg);
	know_width(a, w);
}

/*
 * Extend without code: record that the value is the extension of the low 8, 16 or 32 bits of its
 * location. Return false if that is not possible.
 */
static bool extend_by_view(struct jit_val *v, bool sign, u32 n)
{
	if ((n != 8 && n != 16 && n != 32) || v->imm || v->bits < n || v->where == JIT_FLAGS)
		return false;
	v->bits = (u8)n;
	v->sign = sign;
	v->zbits = 64;
	v->sbits = 64;
	if (sign)
		jit_know(v, 64, n);
	else
		jit_know(v, n, 64);
	return true;
}

/*
 * Mask by 0xff, 0xffff or 0xffffffff without code. A value that is known to fit the mask stays the
 * same; otherwise record that only the low bits of its location count. Return false for other
 * masks.
 */
static bool masks_by_view(struct jit_val *a, const struct jit_val *b)
{
	u32 n;

	if (!jit_is_const(b))
		return false;
	n = b->imm == 0xff ? 8 : b->imm == 0xffff ? 16 : b->imm == U32_MAX ? 32 : 0;
	return n && (a->zbits <= n || extend_by_view(a, false, n));
}

/*
 * Handle x & 0, x & ~0, x | 0, x ^ 0 and similar operations, which need no code. Return false for
 * others.
 */
static bool bitwise_folds(struct ax_jit *j, u32 op, struct jit_val *a, const struct jit_val *b)
{
	if (!jit_is_const(b) || (b->imm != 0 && b->imm != -1) || (op == AX_OP_bit_xor && b->imm))
		return false;
	if (op == AX_OP_bit_and ? !b->imm : b->imm)
		jit_set_const(j, a, (u64)b->imm);
	return true;
}

static void bitwise(struct ax_jit *j, struct jit_val *a, struct jit_val *b, enum x86_width w)
{
	static const u8 alu_op[] = { X86_AND, X86_OR, X86_XOR };
	u32 op = j->insn.op;
	bool is_and = op == AX_OP_bit_and;
	u8 z = max8(a->zbits, b->zbits), s = max8(a->sbits, b->sbits);
	struct operand o;

	if (bitwise_folds(j, op, a, b) || (is_and && masks_by_view(a, b)))
		return;
	if (is_and)
		z = a->zbits < b->zbits ? a->zbits : b->zbits;
	if (is_and && jit_is_const(b) && b->zbits <= 32)
		w = X86_32; /* the upper half becomes zero, which is right */
	o = operand(j, b, w);
	own(j, a, w);
	alu(j, alu_op[op - AX_OP_bit_and], w, a->loc, &o);
	if (w == X86_64)
		jit_know(a, z, s);
	else
		jit_know(a, z < 32 ? z : 32, 64);
}

void jit_op_arithmetic(struct ax_jit *j)
{
	struct jit_val *a = jit_arg(j, 1), *b = jit_arg(j, 0);
	enum x86_width w = jit_low_is_enough(j) ? X86_32 : X86_64;
	u32 op = j->insn.op;

	if (jit_is_const(a) && jit_is_const(b)) {
		jit_set_const(j, a, ax_arithmetic(op, (u64)a->imm, (u64)b->imm));
		jit_pop(j);
		return;
	}
	if (is_commutative(op))
		arrange(j, a, b);
	if (op == AX_OP_add || op == AX_OP_sub)
		add_or_sub(j, a, b, w);
	else if (op == AX_OP_mul)
		multiply(j, a, b, w);
	else
		bitwise(j, a, b, w);
	jit_pop(j);
}

static bool both_within(const struct jit_val *a, const struct jit_val *b, bool sign)
{
	return sign ? a->sbits <= 32 && b->sbits <= 32 : a->zbits <= 32 && b->zbits <= 32;
}

/* Emit cmp a, b in either width; a constant is on the right. */
static void emit_cmp(struct ax_jit *j, struct jit_val *a, struct jit_val *b, enum x86_width w)
{
	bool zero = jit_is_const(b) && !b->imm;
	struct operand left, right;

	left = operand(j, a, w);
	if (zero && left.kind == IN_REG) {
		x86_test(&j->b, w, left.reg, left.reg);
		return;
	}
	right = operand(j, b, w);
	if (left.kind == IN_MEM && right.kind == IMM) {
		x86_alu_mem_imm(&j->b, X86_CMP, w, left.mem, right.imm);
		return;
	}
	if (left.kind == IN_MEM) {
		if (w == X86_64)
			jit_force(j, a);
		else
			jit_force_low(j, a);
		left.reg = a->loc;
	}
	alu(j, X86_CMP, w, left.reg, &right);
}

/* Return the condition code that corresponds to @cc if the operands are swapped. */
static enum x86_cc mirrored(enum x86_cc cc)
{
	switch (cc) {
	case X86_CC_L:
		return X86_CC_G;
	case X86_CC_B:
		return X86_CC_A;
	default:
		return cc;
	}
}

/*
 * Return the width in which to compare. It is enough to compare the low halves of two values that
 * are both sign-extended from 32 bits. The same holds if both are zero-extended, with an unsigned
 * comparison.
 */
static enum x86_width compare_width(const struct jit_val *a, const struct jit_val *b,
				    enum x86_cc *cc)
{
	if (both_within(a, b, true))
		return X86_32;
	if (!both_within(a, b, false))
		return X86_64;
	if (*cc == X86_CC_L)
		*cc = X86_CC_B; /* neither is negative */
	return X86_32;
}

void jit_op_compare(struct ax_jit *j)
{
	struct jit_val *a = jit_arg(j, 1), *b = jit_arg(j, 0);
	u32 op = j->insn.op;
	enum x86_cc cc = op == AX_OP_equal	 ? X86_CC_E :
			 op == AX_OP_less_signed ? X86_CC_L :
						   X86_CC_B;
	enum x86_width w = compare_width(a, b, &cc);

	if (jit_is_const(a) && jit_is_const(b)) {
		jit_set_const(j, a, ax_compare(op, (u64)a->imm, (u64)b->imm));
		jit_pop(j);
		return;
	}
	if (jit_is_const(a)) {
		emit_cmp(j, b, a, w);
		cc = mirrored(cc);
	} else {
		emit_cmp(j, a, b, w);
	}
	jit_pop(j);
	jit_set(j, jit_arg(j, 0), jit_flags(cc));
}

enum x86_cc jit_test(struct ax_jit *j, struct jit_val *v)
{
	struct jit_val zero = jit_const(0);
	enum x86_cc cc = X86_CC_E;

	if (v->where == JIT_FLAGS)
		return v->loc;
	emit_cmp(j, v, &zero, compare_width(v, &zero, &cc));
	return X86_CC_NE;
}

void jit_op_log_not(struct ax_jit *j)
{
	struct jit_val *v = jit_arg(j, 0);

	if (jit_is_const(v))
		jit_set_const(j, v, ax_not(AX_OP_log_not, (u64)v->imm));
	else
		jit_set(j, v, jit_flags(jit_test(j, v) ^ 1));
}

void jit_op_bit_not(struct ax_jit *j)
{
	struct jit_val *v = jit_arg(j, 0);
	enum x86_width w = jit_low_is_enough(j) ? X86_32 : X86_64;
	u8 s = v->sbits;

	if (jit_is_const(v)) {
		jit_set_const(j, v, ax_not(AX_OP_bit_not, (u64)v->imm));
		return;
	}
	own(j, v, w);
	x86_unary(&j->b, X86_NOT, w, v->loc);
	if (w == X86_64)
		jit_know(v, 64, s);
	else
		know_width(v, w);
}

static void extend_by_code(struct ax_jit *j, struct jit_val *v, bool sign, u32 n)
{
	if (n <= 32)
		jit_own_low(j, v);
	else
		jit_own(j, v);
	if (extend_by_view(v, sign, n))
		return;
	if (!sign && n < 32) {
		x86_alu_imm(&j->b, X86_AND, X86_32, v->loc, (s32)(BIT_ULL(n) - 1));
	} else {
		x86_shift(&j->b, X86_SHL, X86_64, v->loc, (u8)(64 - n));
		x86_shift(&j->b, sign ? X86_SAR : X86_SHR, X86_64, v->loc, (u8)(64 - n));
	}
	if (sign)
		jit_know(v, 64, n);
	else
		jit_know(v, n, 64);
}

void jit_op_extend(struct ax_jit *j)
{
	struct jit_val *v = jit_arg(j, 0);
	bool sign = j->insn.op == AX_OP_ext;
	u32 n = (u32)j->insn.operand;

	if (n >= 64 || (n && (sign ? v->sbits : v->zbits) <= n))
		return;
	if (jit_is_const(v))
		jit_set_const(j, v, ax_extend(j->insn.op, (u64)v->imm, n));
	else if (!n)
		jit_set_const(j, v, 0);
	else if (!extend_by_view(v, sign, n))
		extend_by_code(j, v, sign, n);
}
