/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The semantics of the opcodes as C functions. The interpreter and the constant folding of the
 * compiler call these functions, and so does C code that compiled expressions call.
 */
#ifndef _GTP_MEANING_H
#define _GTP_MEANING_H

#include "agentexpr/ax.h"

/* ax_arithmetic - evaluate add, sub, mul, bit_and, bit_or, bit_xor, modulo 2^64 */
static inline u64 ax_arithmetic(enum ax_op op, u64 a, u64 b)
{
	switch (op) {
	case AX_OP_add:
		return a + b;
	case AX_OP_sub:
		return a - b;
	case AX_OP_mul:
		return a * b;
	case AX_OP_bit_and:
		return a & b;
	case AX_OP_bit_or:
		return a | b;
	default:
		return a ^ b;
	}
}

/* ax_compare - evaluate equal, less_signed, less_unsigned */
static inline u64 ax_compare(enum ax_op op, u64 a, u64 b)
{
	if (op == AX_OP_equal)
		return a == b;
	return op == AX_OP_less_signed ? (s64)a < (s64)b : a < b;
}

/* ax_not - evaluate log_not, bit_not */
static inline u64 ax_not(enum ax_op op, u64 a)
{
	return op == AX_OP_log_not ? !a : ~a;
}

/*
 * ax_shift - evaluate lsh, rsh_unsigned, rsh_signed. A count of 64 or more gives 0; for rsh_signed
 * it gives 0 or -1, by the sign
 */
static inline u64 ax_shift(enum ax_op op, u64 value, u64 count)
{
	bool out = count > 63;

	if (op == AX_OP_lsh)
		return out ? 0 : value << count;
	if (op == AX_OP_rsh_unsigned)
		return out ? 0 : value >> count;
	return (u64)((s64)value >> (out ? 63 : count));
}

/*
 * ax_extend - evaluate ext, zero_ext: extend the low @bits. 64 or more leave the value unchanged, 0
 * gives zero
 */
static inline u64 ax_extend(enum ax_op op, u64 value, u32 bits)
{
	u64 sign;

	if (bits >= 64)
		return value;
	value &= BIT_ULL(bits) - 1;
	if (op == AX_OP_zero_ext || !bits)
		return value;
	sign = BIT_ULL(bits - 1);
	return (value ^ sign) - sign;
}

/* ax_divide - evaluate div_* and rem_*; return false if @b is zero */
static inline bool ax_divide(enum ax_op op, u64 a, u64 b, u64 *result)
{
	bool rem = op == AX_OP_rem_signed || op == AX_OP_rem_unsigned;

	if (!b)
		return false;
	if (op == AX_OP_div_unsigned || op == AX_OP_rem_unsigned)
		*result = rem ? a % b : a / b;
	else if (b == ~0ULL) /* idiv traps on INT64_MIN / -1; a negation has the same result */
		*result = rem ? 0 : 0 - a;
	else
		*result = (u64)(rem ? (s64)a % (s64)b : (s64)a / (s64)b);
	return true;
}

/* ax_is_added - true if @insn is the getv or setv of the variable that @v adds to atomically */
static inline bool ax_is_added(const struct ax_verified *v, const struct ax_insn *insn)
{
	return v->flags & AX_F_ADDS && insn->operand == v->adds;
}

/*
 * The following functions use only the members @pc and @op of an instruction, because compiled code
 * fills in only these.
 */

/* ax_fail - end the evaluation with an error of @insn; return -EINVAL */
static inline int ax_fail(struct ax_env *env, const struct ax_insn *insn, enum ax_err code, u64 arg,
			  u64 arg2)
{
	env->err = (struct ax_error){
		.code = (u16)code,
		.pc = insn->pc,
		.op = insn->op,
		.arg = arg,
		.arg2 = arg2,
	};
	return -EINVAL;
}

/*
 * ax_ref - evaluate ref8 to ref64: little-endian, zero-extended; return 0, or -EINVAL with
 * @env->err
 */
static inline int ax_ref(struct ax_env *env, const struct ax_insn *insn, u64 addr, u64 *value)
{
	u32 bytes = 1U << (insn->op - AX_OP_ref8);
	u8 buf[8];

	if (env->ops->read(env->ctx, buf, addr, bytes))
		return ax_fail(env, insn, AX_E_BAD_ADDRESS, addr, bytes);
	*value = gtp_get_le(buf, bytes);
	return 0;
}

/*
 * ax_collected - turn the result @ret of a collection into the result of the expression. 0 and
 * -ENOSPC stay the same, because a full buffer is not an error of the expression. Other results
 * become errors
 */
static inline int ax_collected(struct ax_env *env, const struct ax_insn *insn, int ret, u64 addr,
			       u64 len)
{
	if (!ret || ret == -ENOSPC)
		return ret;
	if (ret == -E2BIG)
		return ax_fail(env, insn, AX_E_TOO_MUCH, len, 0);
	return ax_fail(env, insn, AX_E_BAD_ADDRESS, addr, len);
}

#endif /* _GTP_MEANING_H */
