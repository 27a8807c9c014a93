// SPDX-License-Identifier: GPL-2.0-only
/* Makes conditions for random pads: random expressions, and common forms. */
#include "agentexpr/meaning.h"
#include "tests/fuzz/padcond.h"

static void put(struct axgen *g, u32 byte)
{
	g->code[g->len++] = (u8)byte;
}

static void put_const(struct axgen *g, u64 value)
{
	put(g, AX_OP_const64);
	for (u32 i = 8; i--;)
		put(g, value >> (8 * i) & 0xff);
}

/* Return a number close to a value in memory, or close to the limit of an encoding. */
static u64 near_value(struct axgen *g, u64 addr, u32 bytes, bool sign)
{
	struct padworld_read read = { 0 };
	u8 buf[8] = { 0 };
	u64 v = axgen_value(g);

	if (!axgen_pick(g, 4) || padworld_ops.read(&read, buf, addr, bytes))
		return v;
	v = gtp_get_le(buf, bytes);
	return (sign ? ax_extend(AX_OP_ext, v, 8 * bytes) : v) + axgen_pick(g, 3) - 1;
}

/* Make a common form of condition: compare a field with a constant, or test one of its bits. */
static void make_field(struct axgen *g, const struct padworld_regs *in)
{
	static const u8 reg[] = { X86_RSI, X86_RDI, X86_RBP }; /* 4, 5 and 6 in GDB */
	u32 n = axgen_pick(g, 3), width = axgen_pick(g, 4), disp = axgen_pick(g, 2) * 8;
	bool sign = axgen_pick(g, 2);

	g->len = 0;
	put(g, AX_OP_reg);
	put(g, 0);
	put(g, 4 + n);
	put(g, AX_OP_const8);
	put(g, disp);
	put(g, AX_OP_add);
	put(g, AX_OP_ref8 + width);
	if (axgen_pick(g, 4)) {
		put(g, sign ? AX_OP_ext : AX_OP_zero_ext);
		put(g, 8U << width);
	}
	if (!axgen_pick(g, 4)) {
		put_const(g, axgen_pick(g, 2) ? 1ULL << axgen_pick(g, 64) : axgen_value(g));
		put(g, AX_OP_bit_and);
	}
	if (axgen_pick(g, 8)) {
		put_const(g, axgen_pick(g, 4) ?
				     near_value(g, in->gpr[reg[n]] + disp, 1U << width, sign) :
				     0);
		if (axgen_pick(g, 2))
			put(g, AX_OP_swap);
		put(g, AX_OP_equal + axgen_pick(g, 3));
	}
	if (axgen_pick(g, 2))
		put(g, AX_OP_log_not);
	put(g, AX_OP_end);
}

/*
 * Let a condition that is a field read a variable of tasks, too, or set it: and the result with
 * the variable or its opposite, or set the variable to the result.
 */
static void add_tasks(struct axgen *g)
{
	bool sets = !axgen_pick(g, 3);

	g->len--;
	put(g, sets ? AX_OP_setv : AX_OP_getv);
	put(g, 0);
	put(g, PADWORLD_TASKS);
	if (!sets && axgen_pick(g, 4))
		put(g, AX_OP_log_not);
	if (!sets)
		put(g, axgen_pick(g, 4) ? AX_OP_bit_and : AX_OP_bit_or);
	put(g, AX_OP_end);
}

void padcond_make(struct axgen *g, const struct padworld_regs *in)
{
	if (axgen_pick(g, 2)) {
		make_field(g, in);
		if (!axgen_pick(g, 4))
			add_tasks(g);
		return;
	}
	g->plain = axgen_pick(g, 3) ? 0 : PADWORLD_TASKS;
	axgen_make(g, 1 + axgen_pick(g, axgen_pick(g, 8) ? 16 : 60));
	g->plain = 0;
}
