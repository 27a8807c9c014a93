// SPDX-License-Identifier: GPL-2.0-only
/* Defines the opcode table, and decodes instructions. */
#include "agentexpr/ax.h"

/* In ax_ops.h no operand has more than 8 bytes, and no two rows have the same opcode. */
const struct ax_op_info ax_op_info[256] = {
#define X(name_, code, bytes, pops_, pushes_, rule_)                                               \
	[code] = {                                                                                 \
		.name = #name_,                                                                    \
		.rule = AX_RULE_##rule_,                                                           \
		.operand_bytes = bytes,                                                            \
		.pops = pops_,                                                                     \
		.pushes = pushes_,                                                                 \
	},
	AX_OPS(X)
#undef X
};

/* Decode printf's operands: u8 arguments, u16 length of the format, the format itself. */
static enum ax_err decode_printf(const u8 *operand, u32 left, struct ax_insn *insn)
{
	insn->nargs = operand[0];
	insn->data_len = (u16)gtp_get_be(operand + 1, 2);
	if (insn->data_len > left)
		return AX_E_OPERAND_CUT;
	insn->operand = 0;
	insn->data = operand + 3;
	insn->next = (u16)(insn->next + insn->data_len);
	return AX_OK;
}

enum ax_err ax_decode(const u8 *code, u32 len, u32 pc, struct ax_insn *insn)
{
	const struct ax_op_info *info = &ax_op_info[code[pc]];
	u32 left = len - pc - 1; /* bytes after the opcode */

	*insn = (struct ax_insn){
		.pc = (u16)pc,
		.next = (u16)(pc + 1 + info->operand_bytes),
		.op = code[pc],
	};
	if (info->rule == AX_RULE_invalid)
		return AX_E_UNKNOWN_OPCODE;
	if (info->operand_bytes > left)
		return AX_E_OPERAND_CUT;
	if (info->rule == AX_RULE_printf)
		return decode_printf(code + pc + 1, left - info->operand_bytes, insn);
	insn->operand = gtp_get_be(code + pc + 1, info->operand_bytes);
	return AX_OK;
}

bool ax_next_reached(const struct ax_verified *v, struct ax_insn *insn)
{
	u32 pc;

	for (pc = insn->next; pc < v->len; pc = insn->next) {
		ax_decode(v->code, v->len, pc, insn);
		if (v->points[pc].flags & AX_P_REACHED)
			return true;
	}
	return false;
}
