// SPDX-License-Identifier: GPL-2.0-only
/* Converts an action of a tracepoint to the form that the compiler reads. */
#include "jit/item.h"

struct ax_jit_item gtp_jit_item(const struct gtp_action *a)
{
	static const u8 kind[] = {
		[GTP_ACTION_REGS] = AX_JIT_REGS,
		[GTP_ACTION_MEM] = AX_JIT_MEM,
		[GTP_ACTION_EXPR] = AX_JIT_EXPR,
		[GTP_ACTION_STATIC] = AX_JIT_ELSEWHERE,
	};

	return (struct ax_jit_item){
		.kind = kind[a->kind],
		.mask = a->mask,
		.base = a->base,
		.offset = a->offset,
		.len = a->len,
		.v = a->expr ? &a->expr->ax : NULL,
	};
}
