// SPDX-License-Identifier: GPL-2.0-only
/* Compiles shifts. The processor uses only 6 bits of the count, an expression all 64. */
#include "agentexpr/meaning.h"
#include "jit/flow.h"
#include "jit/ops_shift.h"
#include "jit/values.h"

static void shift_left(struct ax_jit *j, struct jit_val *v, u32 count)
{
	u32 z = v->zbits + count;

	if (jit_low_is_enough(j)) {
		if (count > 31) {
			jit_set_const(j, v, 0);
			return;
		}
		jit_own_low(j, v);
		x86_shift(&j->b, X86_SHL, X86_32, v->loc, (u8)count);
		jit_know(v, 32, 64);
		return;
	}
	jit_own(j, v);
	x86_shift(&j->b, X86_SHL, X86_64, v->loc, (u8)count);
	jit_know(v, z < 64 ? z : 64, 64);
}

static void shift_right_unsigned(struct ax_jit *j, struct jit_val *v, u32 count)
{
	u32 z = v->zbits;

	if (count >= z) {
		jit_set_const(j, v, 0);
	} else if (z <= 32) {
		jit_own_low(j, v);
		x86_shift(&j->b, X86_SHR, X86_32, v->loc, (u8)count);
		jit_know(v, z - count, 64);
	} else {
		jit_own(j, v);
		x86_shift(&j->b, X86_SHR, X86_64, v->loc, (u8)count);
		jit_know(v, z - count, 64);
	}
}

static void shift_right_signed(struct ax_jit *j, struct jit_val *v, u32 count)
{
	u32 s = v->sbits > count ? v->sbits - count : 1;

	if (v->sbits <= 32) {
		jit_own_low(j, v);
		x86_shift(&j->b, X86_SAR, X86_32, v->loc, (u8)(count < 32 ? count : 31));
		v->bits = 32;
		v->sign = true;
	} else {
		jit_own(j, v);
		x86_shift(&j->b, X86_SAR, X86_64, v->loc, (u8)count);
	}
	jit_know(v, 64, s);
}

void jit_shift_const(struct ax_jit *j, enum ax_op op, struct jit_val *v, u64 count)
{
	if (jit_is_const(v)) {
		jit_set_const(j, v, ax_shift(op, (u64)v->imm, count));
		return;
	}
	if (!count)
		return;
	if (op == AX_OP_rsh_signed && v->zbits < 64)
		op = AX_OP_rsh_unsigned; /* the value is not negative: both give the same */
	if (op == AX_OP_rsh_signed)
		shift_right_signed(j, v, count < 63 ? (u32)count : 63);
	else if (count > 63)
		jit_set_const(j, v, 0);
	else if (op == AX_OP_lsh)
		shift_left(j, v, (u32)count);
	else
		shift_right_unsigned(j, v, (u32)count);
}

/* Limit the count of rsh_signed to 63, which leaves only the sign, like any larger count. */
static void clamp_count(struct ax_jit *j)
{
	enum x86_reg most = jit_alloc(j);

	x86_mov_imm(&j->b, most, 63);
	x86_alu(&j->b, X86_CMP, X86_64, X86_RCX, most);
	x86_cmov(&j->b, X86_CC_A, X86_RCX, most);
	jit_unref_reg(j, most);
}

/*
 * Clear the result for counts of 64 and more: sbb gives a mask of ones for counts below 64,
 * otherwise of zeros.
 */
static void clear_if_all_out(struct ax_jit *j, enum x86_reg reg)
{
	enum x86_reg mask = jit_alloc(j);

	x86_alu_imm(&j->b, X86_CMP, X86_64, X86_RCX, 64);
	x86_alu(&j->b, X86_SBB, X86_64, mask, mask);
	x86_alu(&j->b, X86_AND, X86_64, reg, mask);
	jit_unref_reg(j, mask);
}

static void shift_by_reg(struct ax_jit *j, enum ax_op op, struct jit_val *v, bool small)
{
	u8 z = op == AX_OP_rsh_unsigned ? v->zbits : 64;
	u8 s = op == AX_OP_rsh_signed ? v->sbits : 64;

	if (!small && op == AX_OP_rsh_signed)
		clamp_count(j);
	jit_own(j, v);
	x86_shift_cl(&j->b,
		     op == AX_OP_lsh	    ? X86_SHL :
		     op == AX_OP_rsh_signed ? X86_SAR :
					      X86_SHR,
		     X86_64, v->loc);
	if (!small && op != AX_OP_rsh_signed)
		clear_if_all_out(j, v->loc);
	jit_know(v, z, s);
}

void jit_op_shift(struct ax_jit *j)
{
	struct jit_val *v = jit_arg(j, 1), *count = jit_arg(j, 0);

	if (jit_is_const(count)) {
		jit_shift_const(j, j->insn.op, v, (u64)count->imm);
	} else {
		jit_own_in(j, count, X86_RCX);
		shift_by_reg(j, j->insn.op, v, count->zbits <= 6);
	}
	jit_pop(j);
}
