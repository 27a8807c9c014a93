// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compiles divisions. Division by zero is an error. Division by -1 does not use idiv, which traps
 * on INT64_MIN. Division by another constant becomes a multiplication: x / d is the upper half of x
 * * (2^64 / d, rounded up), corrected. The correction, and the proof that it is exact, are in T.
 * Granlund and P. Montgomery, "Division by Invariant Integers using Multiplication" (1994), figures
 * 4.1 and 5.2.
 */
#include "agentexpr/meaning.h"
#include "jit/flow.h"
#include "jit/ops_div.h"
#include "jit/ops_shift.h"
#include "jit/slow.h"
#include "jit/values.h"

static bool is_signed(u32 op)
{
	return op == AX_OP_div_signed || op == AX_OP_rem_signed;
}

static bool is_rem(u32 op)
{
	return op == AX_OP_rem_signed || op == AX_OP_rem_unsigned;
}

/* Return floor(rem * 2^64 / d), for rem < d, by long division: one bit after the other. */
static u64 long_divide(u64 rem, u64 d)
{
	u64 q = 0;

	for (u32 i = 0; i < 64; i++) {
		bool carry = rem >> 63;

		rem <<= 1;
		q <<= 1;
		if (carry || rem >= d) {
			rem -= d;
			q |= 1;
		}
	}
	return q;
}

/*
 * Emit rdx = upper half of *v * m, the new value of *v. If @x is not NULL, it receives a register
 * with the old value, which the caller then holds. The caller must hold no register before the
 * call, because this function claims rax and rdx.
 */
static void multiply_high(struct ax_jit *j, struct jit_val *v, u64 m, enum x86_unary mul,
			  enum x86_reg *x)
{
	enum x86_reg factor;

	jit_own_in(j, v, X86_RAX);
	jit_claim(j, X86_RDX);
	if (x) {
		*x = jit_alloc(j);
		x86_mov(&j->b, *x, X86_RAX);
	}
	factor = jit_alloc(j);
	x86_mov_imm(&j->b, factor, m);
	x86_unary(&j->b, mul, X86_64, factor);
	jit_unref_reg(j, factor);
	jit_set(j, v, jit_in_reg(X86_RDX));
}

static void shift_by(struct ax_jit *j, enum x86_shift op, enum x86_reg reg, u32 n)
{
	if (n)
		x86_shift(&j->b, op, X86_64, reg, (u8)n);
}

/* Divide values below 2^32, for which the rounding of 2^64 / d does not change the quotient. */
static void divide_unsigned_32(struct ax_jit *j, struct jit_val *q, u64 d)
{
	multiply_high(j, q, long_divide(1, d) + 1, X86_MUL, NULL);
}

/*
 * t = high(m * x), q = (t + (x - t) / 2) >> (l - 1). m has 65 bits; the top bit is 1 and not stored
 */
static void divide_unsigned_64(struct ax_jit *j, struct jit_val *q, u64 d)
{
	u32 l = jit_log2_up(d);
	u64 m = long_divide((l < 64 ? 1ULL << l : 0) - d, d) + 1;
	enum x86_reg x;

	multiply_high(j, q, m, X86_MUL, &x);
	x86_alu(&j->b, X86_SUB, X86_64, x, q->loc);
	x86_shift(&j->b, X86_SHR, X86_64, x, 1);
	x86_alu(&j->b, X86_ADD, X86_64, q->loc, x);
	shift_by(j, X86_SHR, q->loc, l - 1);
	jit_unref_reg(j, x);
}

/* The product of two 32-bit numbers fits 64: q = (x * m >> (31 + l)) - (x < 0 ? -1 : 0) */
static void divide_signed_32(struct ax_jit *j, struct jit_val *q, u64 d)
{
	u32 l = jit_log2_up(d);
	u64 m = (1ULL << (31 + l)) / d + 1;
	enum x86_reg x, t;

	x = jit_own(j, q);
	t = jit_alloc(j);
	x86_mov_imm(&j->b, t, m);
	x86_imul(&j->b, X86_64, t, x);
	x86_shift(&j->b, X86_SAR, X86_64, t, (u8)(31 + l));
	x86_shift(&j->b, X86_SAR, X86_64, x, 63);
	x86_alu(&j->b, X86_SUB, X86_64, t, x);
	jit_set(j, q, jit_in_reg(t));
}

/* q = ((x + high(m * x)) >> (l - 1)) - (x < 0 ? -1 : 0), where m is read as a negative number */
static void divide_signed_64(struct ax_jit *j, struct jit_val *q, u64 d)
{
	u32 l = jit_log2_up(d);
	u64 m = long_divide(1ULL << (l - 1), d) + 1;
	enum x86_reg x;

	multiply_high(j, q, m, X86_IMUL, &x);
	x86_alu(&j->b, X86_ADD, X86_64, q->loc, x);
	shift_by(j, X86_SAR, q->loc, l - 1);
	x86_shift(&j->b, X86_SAR, X86_64, x, 63);
	x86_alu(&j->b, X86_SUB, X86_64, q->loc, x);
	jit_unref_reg(j, x);
}

/* Divide by 2^k, rounding toward zero: add 2^k - 1 to negative numbers before the shift. */
static void divide_signed_power(struct ax_jit *j, struct jit_val *q, u32 k)
{
	enum x86_reg x = jit_own(j, q);
	enum x86_reg bias = jit_alloc(j);

	x86_mov(&j->b, bias, x);
	shift_by(j, X86_SAR, bias, 63);
	shift_by(j, X86_SHR, bias, 64 - k);
	x86_alu(&j->b, X86_ADD, X86_64, x, bias);
	shift_by(j, X86_SAR, x, k);
	jit_unref_reg(j, bias);
}

static void quotient_unsigned(struct ax_jit *j, struct jit_val *q, u64 d)
{
	u8 z = q->zbits;

	if (jit_is_power_of_2(d)) {
		jit_shift_const(j, AX_OP_rsh_unsigned, q, jit_log2_up(d));
		return;
	}
	if (z <= 32 && d <= U32_MAX)
		divide_unsigned_32(j, q, d);
	else
		divide_unsigned_64(j, q, d);
	jit_know(q, z, 64);
}

static void quotient_signed(struct ax_jit *j, struct jit_val *q, u64 d)
{
	u8 s = q->sbits;

	if (jit_is_power_of_2(d))
		divide_signed_power(j, q, jit_log2_up(d));
	else if (s <= 32 && d < BIT_ULL(31))
		divide_signed_32(j, q, d);
	else
		divide_signed_64(j, q, d);
	jit_know(q, 64, s);
}

/* Divide by @d, the absolute value of a constant divisor, which is more than 1. */
static void quotient(struct ax_jit *j, struct jit_val *v, u64 d)
{
	if (is_signed(j->insn.op) && v->zbits == 64)
		quotient_signed(j, v, d);
	else
		quotient_unsigned(j, v, d);
}

/* x % d = x - x / d * d; @q is a stack entry for the quotient */
static void remainder_by(struct ax_jit *j, struct jit_val *x, struct jit_val *q, u64 d)
{
	enum x86_reg factor;

	jit_ref(j, x);
	jit_set(j, q, *x);
	quotient(j, q, d);
	jit_own(j, q);
	if (x86_fits32((s64)d)) {
		x86_imul_imm(&j->b, X86_64, q->loc, q->loc, (s32)d);
	} else {
		factor = jit_alloc(j);
		x86_mov_imm(&j->b, factor, d);
		x86_imul(&j->b, X86_64, q->loc, factor);
		jit_unref_reg(j, factor);
	}
	jit_own(j, x);
	x86_alu(&j->b, X86_SUB, X86_64, x->loc, q->loc);
	/* |x % d| <= |x|, so @zbits stays valid, but @sbits only in a signed division. */
	jit_know(x, x->zbits, is_signed(j->insn.op) ? x->sbits : 64);
}

static void negate(struct ax_jit *j, struct jit_val *v)
{
	u32 s = v->sbits + 1U;

	if (jit_is_const(v)) {
		jit_set_const(j, v, 0 - (u64)v->imm);
		return;
	}
	jit_own(j, v);
	x86_unary(&j->b, X86_NEG, X86_64, v->loc);
	jit_know(v, 64, s < 64 ? s : 64);
}

static void divide_by_zero(struct ax_jit *j, struct jit_val *v)
{
	u32 slow = jit_slow_add(j, (struct jit_slow){ .dst = 0 });

	x86_jmp(&j->b, j->slow[slow].at.pos);
	jit_set_const(j, v, 0); /* control does not get here, but later code must compile */
}

/* Try the faster forms for constant divisors; return false if none fits. */
static bool divide_by_const(struct ax_jit *j, struct jit_val *v, struct jit_val *by)
{
	u32 op = j->insn.op;
	u64 d = (u64)by->imm;
	bool minus = is_signed(op) && (s64)d < 0;
	u64 abs = minus ? 0 - d : d;

	if (minus && abs == BIT_ULL(63))
		return false;
	if (!d)
		divide_by_zero(j, v);
	else if (abs == 1 && is_rem(op))
		jit_set_const(j, v, 0);
	else if (is_rem(op))
		remainder_by(j, v, by, abs);
	else if (abs > 1)
		quotient(j, v, abs);
	if (minus && !is_rem(op))
		negate(j, v);
	return true;
}

/* Return the width of the division that the processor must do; set @sign if it is signed. */
static enum x86_width division_width(struct ax_jit *j, const struct jit_val *a,
				     const struct jit_val *b, bool *sign)
{
	if (a->zbits <= 32 && b->zbits <= 32) {
		*sign = false;
		return X86_32;
	}
	if (*sign && a->sbits <= 32 && b->sbits <= 32 && jit_low_is_enough(j))
		return X86_32;
	return X86_64;
}

/* Emit rax = rdx:rax / reg, rdx = rdx:rax % reg. */
static void emit_divide(struct ax_jit *j, enum x86_reg reg, enum x86_width w, bool sign)
{
	if (sign)
		x86_sign_to_rdx(&j->b, w);
	else
		x86_zero(&j->b, X86_RDX);
	x86_unary(&j->b, sign ? X86_IDIV : X86_DIV, w, reg);
}

/* Emit a division that treats -1 specially: x / -1 is -x, which may wrap, and x % -1 is 0. */
static void emit_divide_unless_minus_one(struct ax_jit *j, enum x86_reg reg, enum x86_width w)
{
	u32 other, done;

	x86_alu_imm(&j->b, X86_CMP, w, reg, -1);
	other = x86_skip_if(&j->b, X86_CC_NE);
	x86_unary(&j->b, X86_NEG, w, X86_RAX);
	x86_zero(&j->b, X86_RDX);
	done = x86_skip(&j->b);
	x86_land(&j->b, other);
	emit_divide(j, reg, w, true);
	x86_land(&j->b, done);
}

static void divide_by_reg(struct ax_jit *j, struct jit_val *a, struct jit_val *b)
{
	u32 op = j->insn.op;
	bool sign = is_signed(op);
	enum x86_width w = division_width(j, a, b, &sign);
	u32 z = w == X86_32 ? 32 : is_signed(op) ? 64 : a->zbits;
	bool minus_one = sign && b->zbits == 64;
	u32 slow;

	jit_own_in(j, a, X86_RAX);
	jit_claim(j, X86_RDX);
	jit_force(j, b);
	x86_test(&j->b, w, b->loc, b->loc);
	slow = jit_slow_add(j, (struct jit_slow){ .dst = 0 });
	jit_jcc(j, X86_CC_E, &j->slow[slow].at);
	if (minus_one)
		emit_divide_unless_minus_one(j, b->loc, w);
	else
		emit_divide(j, b->loc, w, sign);
	if (is_rem(op))
		jit_set(j, a, jit_in_reg(X86_RDX));
	else
		jit_unref_reg(j, X86_RDX);
	jit_know(a, z, 64);
}

void jit_op_divide(struct ax_jit *j)
{
	struct jit_val *a = jit_arg(j, 1), *b = jit_arg(j, 0);
	u64 result;

	if (jit_is_const(a) && jit_is_const(b) &&
	    ax_divide(j->insn.op, (u64)a->imm, (u64)b->imm, &result))
		jit_set_const(j, a, result);
	else if (!jit_is_const(b) || !divide_by_const(j, a, b))
		divide_by_reg(j, a, b);
	jit_pop(j);
}
