// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find expressions that only add to a variable, such as $n = $n + 1.
 *
 * Such an expression sets the variable to its old value plus a term in which the variable does not
 * occur. So the expression can read the variable as 0, and add the result to it atomically: no
 * update of another CPU is lost. GDB's code for $n = $n - x:
 *
 *	getv n; reg 5; ext 32; sub; ext 64; setv n; pop; end
 *
 * ax_adds_to() looks for the expression's only setv, without following jumps, and for one getv of
 * the same variable before it. The value that setv stores must be computed from the value of that
 * getv only by
 *   - add, or sub with the variable's value as the minuend
 *   - ext and zero_ext of all 64 bits, which change nothing.
 *
 * No other instruction may use that value or name the variable. Any code may follow the setv, even
 * jumps: after the setv the value on the stack is the sum.
 */
#include "agentexpr/adds.h"

enum { NOWHERE = -1 };

static bool find_only_setv(const struct ax_verified *v, struct ax_insn *setv)
{
	struct ax_insn insn = { 0 };
	u32 n = 0;

	while (ax_next_reached(v, &insn)) {
		if (insn.op != AX_OP_setv)
			continue;
		*setv = insn;
		n++;
	}
	return n == 1;
}

static u32 count_namings(const struct ax_verified *v, u64 tsv)
{
	struct ax_insn insn = { 0 };
	u32 n = 0;

	while (ax_next_reached(v, &insn))
		n += ax_op_info[insn.op].rule == AX_RULE_tsv && insn.operand == tsv;
	return n;
}

/*
 * Follow the variable's value across @insn. The value is entry @at of the stack, counted from the
 * bottom; before @insn the stack has @depth entries. Update @at. Return false if @insn does more
 * than add to the value.
 */
static bool keeps(const struct ax_insn *insn, s32 depth, s32 *at)
{
	const struct ax_op_info *info = &ax_op_info[insn->op];
	s32 lowest = depth - info->pops; /* the first operand's entry */

	switch (info->rule) {
	case AX_RULE_jump:
	case AX_RULE_end:
	case AX_RULE_printf:
		return false;
	case AX_RULE_pick:
		return *at != depth - 1 - (s32)insn->operand;
	default:
		break;
	}
	if (*at < lowest)
		return true;
	switch (insn->op) {
	case AX_OP_add:
		*at = lowest;
		return true;
	case AX_OP_sub:
		return *at == lowest;
	case AX_OP_ext:
	case AX_OP_zero_ext:
		return insn->operand >= 64;
	default:
		return false;
	}
}

bool ax_adds_to(const struct ax_verified *v, u16 *tsv)
{
	struct ax_insn setv, insn;
	s32 at = NOWHERE;
	u32 pc;

	if (!find_only_setv(v, &setv) || count_namings(v, setv.operand) != 2)
		return false;
	for (pc = 0; pc < setv.pc; pc = insn.next) {
		s32 depth = v->points[pc].depth;

		ax_decode(v->code, v->len, pc, &insn);
		if (insn.op == AX_OP_getv && insn.operand == setv.operand)
			at = depth;
		else if (!keeps(&insn, depth, &at))
			return false;
	}
	*tsv = (u16)setv.operand;
	return at == v->points[setv.pc].depth - 1;
}
