// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random agent expressions that the verifier accepts.
 *
 * The generator follows the verifier's rules: it knows the depth of the stack at every byte, jumps
 * only forward, and binds each label at a place with the same depth as at the jump. It chooses the
 * forms of real expressions often, and all other forms sometimes.
 */
#include "tests/fuzz/axgen.h"

static u64 next_random(struct axgen *g)
{
	g->rng ^= g->rng << 13;
	g->rng ^= g->rng >> 7;
	g->rng ^= g->rng << 17;
	return g->rng;
}

static bool exhausted(const struct axgen *g)
{
	return g->in == g->end && !g->rng;
}

u32 axgen_pick(struct axgen *g, u32 n)
{
	if (g->in < g->end)
		return *g->in++ % n;
	return g->rng ? (u32)(next_random(g) >> 11) % n : 0;
}

u64 axgen_addr(struct axgen *g)
{
	static const u32 inside[] = { 0, 8, 64, 100, 1024, 1601, 2047, 3000 };
	static const u32 edge[] = { 4088, 4092, 4094, 4095 };
	u32 page = axgen_pick(g, 16) ? axgen_pick(g, 2) + 2 : axgen_pick(g, 5);
	u64 addr = g->page[page];

	addr += axgen_pick(g, 8) ? inside[axgen_pick(g, 8)] : edge[axgen_pick(g, 4)];
	return axgen_pick(g, 4) ? addr : addr ^ g->alias;
}

u64 axgen_value(struct axgen *g)
{
	static const u64 known[] = {
		/* clang-format off */
		0, 1, 2, 3, 5, 7, 8, 10, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256, 1000,
		0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe,
		0xffffffff, 0x100000000, 0x100000001, 0x7fffffffffffffff, 0x8000000000000000,
		0x8000000000000001, 0xfffffffffffffffe, 0xffffffffffffffff, 0xffffffffffffff80,
		0xffffffffffff8000, 0xffffffff80000000, 0xffffffff7fffffff, 0xffffffff00000000,
		0xaaaaaaaaaaaaaaab, 0xcccccccccccccccd,
		/* clang-format on */
	};
	u64 v = 0;

	switch (axgen_pick(g, 8)) {
	case 0:
		return axgen_addr(g);
	case 1:
		for (u32 i = 0; i < 8; i++)
			v = v << 8 | axgen_pick(g, 256);
		return v;
	case 2:
		return axgen_pick(g, 256);
	case 3:
		return 1ULL << axgen_pick(g, 64);
	default:
		return known[axgen_pick(g, ARRAY_SIZE(known))];
	}
}

static void byte(struct axgen *g, u32 b)
{
	g->code[g->len++] = (u8)b;
}

static void op(struct axgen *g, enum ax_op o)
{
	byte(g, o);
	g->depth += ax_op_info[o].pushes;
	g->depth -= ax_op_info[o].pops;
}

static void op_with(struct axgen *g, enum ax_op o, u64 operand)
{
	u32 n = ax_op_info[o].operand_bytes;

	op(g, o);
	while (n--)
		byte(g, (u32)(operand >> (8 * n)) & 0xff);
}

/*
 * Push a constant in the shortest form or in the next longer one. A negative constant may also be
 * sign-extended by an instruction, as GDB does.
 */
static void constant(struct axgen *g, u64 v)
{
	static const enum ax_op ops[] = {
		AX_OP_const8,
		AX_OP_const16,
		AX_OP_const32,
		AX_OP_const64,
	};
	u32 bits = 8, k = 0;
	bool negative = (s64)v < 0;

	while (k < 3 && (negative ? (s64)v >> (bits - 1) != -1 : v >> bits)) {
		k++;
		bits *= 2;
	}
	if (k < 3 && !negative && !axgen_pick(g, 8))
		k++;
	op_with(g, ops[k], v);
	if (negative && k < 3)
		op_with(g, AX_OP_ext, bits);
}

static void make_const(struct axgen *g)
{
	constant(g, axgen_value(g));
}

static void make_reg(struct axgen *g)
{
	op_with(g, AX_OP_reg, axgen_pick(g, GTP_NR_SAVED_REGS));
	if (axgen_pick(g, 2))
		op_with(g, AX_OP_zero_ext, 64);
}

static void make_binary(struct axgen *g)
{
	static const enum ax_op ops[] = {
		AX_OP_add,    AX_OP_add,     AX_OP_sub, AX_OP_mul,	  AX_OP_bit_and,
		AX_OP_bit_or, AX_OP_bit_xor, AX_OP_lsh, AX_OP_rsh_signed, AX_OP_rsh_unsigned,
	};

	op(g, ops[axgen_pick(g, ARRAY_SIZE(ops))]);
}

/* Make a binary operation with a constant operand, for which the compiler has special code. */
static void make_binary_const(struct axgen *g)
{
	make_const(g);
	if (axgen_pick(g, 4) == 0)
		op(g, AX_OP_swap);
	make_binary(g);
}

static void make_divide(struct axgen *g)
{
	if (axgen_pick(g, 3))
		make_const(g);
	if (g->depth < 2)
		make_reg(g);
	if (axgen_pick(g, 3)) {
		constant(g, 1);
		op(g, AX_OP_bit_or); /* make the divisor odd, so not 0 */
	}
	op(g, AX_OP_div_signed + axgen_pick(g, 4));
}

static void make_compare(struct axgen *g)
{
	if (g->depth < 2 || axgen_pick(g, 2))
		make_const(g);
	if (!axgen_pick(g, 3))
		op(g, AX_OP_swap);
	op(g, AX_OP_equal + axgen_pick(g, 3));
	if (!axgen_pick(g, 3))
		op(g, AX_OP_log_not);
}

static void make_unary(struct axgen *g)
{
	op(g, axgen_pick(g, 2) ? AX_OP_log_not : AX_OP_bit_not);
}

static void make_extend(struct axgen *g)
{
	static const u8 bits[] = { 32, 32, 32, 8, 16, 64, 1, 5, 13, 31, 33, 40, 63, 0, 65, 255 };

	op_with(g, axgen_pick(g, 2) ? AX_OP_ext : AX_OP_zero_ext,
		bits[axgen_pick(g, ARRAY_SIZE(bits))]);
}

static void make_ref(struct axgen *g)
{
	u32 width = axgen_pick(g, 4);

	if (axgen_pick(g, 32)) {
		if (axgen_pick(g, 2))
			constant(g, axgen_addr(g));
		else
			op_with(g, AX_OP_reg, 4 + axgen_pick(g, 3)); /* these hold addresses */
		if (axgen_pick(g, 2)) {
			constant(g, axgen_pick(g, 128));
			op(g, axgen_pick(g, 5) ? AX_OP_add : AX_OP_sub);
		}
	}
	if (!g->depth)
		make_reg(g);
	op(g, AX_OP_ref8 + width);
	if (axgen_pick(g, 2))
		op_with(g, axgen_pick(g, 4) ? AX_OP_ext : AX_OP_zero_ext, 8U << width);
}

static void make_stack(struct axgen *g)
{
	switch (axgen_pick(g, 5)) {
	case 0:
		op(g, AX_OP_dup);
		break;
	case 1:
		op(g, AX_OP_pop);
		break;
	case 2:
		op_with(g, AX_OP_pick, axgen_pick(g, g->depth));
		g->depth++;
		g->depth -= ax_op_info[AX_OP_pick].pushes;
		break;
	case 3:
		if (g->depth > 1)
			op(g, AX_OP_swap);
		break;
	default:
		if (g->depth > 2)
			op(g, AX_OP_rot);
	}
}

static void make_own(struct axgen *g)
{
	u32 tsv = g->own + axgen_pick(g, 5);

	if (tsv > g->own + 1 || axgen_pick(g, 2))
		op_with(g, AX_OP_setv, tsv);
	else
		op_with(g, axgen_pick(g, 2) ? AX_OP_getv : AX_OP_tracev, tsv);
}

static void make_tsv(struct axgen *g)
{
	u32 n = axgen_pick(g, 4);
	u32 tsv = n > 1 && g->plain ? g->plain + n - 2 : g->tsv + n;

	if (g->nbuiltin && !axgen_pick(g, 3)) {
		op_with(g, axgen_pick(g, 4) ? AX_OP_getv : AX_OP_tracev,
			g->builtin + axgen_pick(g, g->nbuiltin));
		return;
	}
	if (g->own && g->depth && axgen_pick(g, 2)) {
		make_own(g);
		return;
	}
	switch (axgen_pick(g, 3) * (g->straight ? 2 : 1)) {
	case 0:
		op_with(g, AX_OP_getv, tsv);
		break;
	case 1:
		op_with(g, AX_OP_setv, tsv);
		break;
	default:
		op_with(g, AX_OP_tracev, tsv);
	}
}

static void make_trace(struct axgen *g)
{
	if (axgen_pick(g, 16))
		constant(g, axgen_addr(g));
	switch (axgen_pick(g, 4)) {
	case 0:
		constant(g, axgen_pick(g, 16) ? axgen_pick(g, 200) : axgen_value(g));
		op(g, AX_OP_trace);
		break;
	case 1:
		constant(g, axgen_pick(g, 200));
		op(g, g->straight ? AX_OP_trace : AX_OP_tracenz);
		break;
	case 2:
		op_with(g, AX_OP_trace16, axgen_pick(g, 200));
		break;
	default:
		op_with(g, AX_OP_trace_quick, axgen_pick(g, 200));
	}
}

static void make_printf(struct axgen *g)
{
	static const struct {
		u8 nargs;
		const char *format;
	} prints[] = {
		{ 0, "hello" }, { 1, "%d" }, { 2, "%llx %u" }, { 1, "%s" }, { 3, "%c%%%hd %ld" },
	};
	u32 which = axgen_pick(g, ARRAY_SIZE(prints));
	const char *s = prints[which].format;
	u32 n = prints[which].nargs;

	if (s[1] == 's')
		constant(g, axgen_addr(g));
	while (g->depth < n)
		make_const(g);
	constant(g, 0);
	constant(g, 0);
	byte(g, AX_OP_printf);
	byte(g, n);
	byte(g, 0);
	byte(g, (u32)strlen(s) + 1);
	do
		byte(g, (u8)*s);
	while (*s++);
	g->depth -= n + 2;
}

static void add_label(struct axgen *g)
{
	g->label[g->nlabels].at = g->len - 2;
	g->label[g->nlabels++].depth = g->depth;
}

static void bind(struct axgen *g, u32 i)
{
	g->code[g->label[i].at] = (u8)(g->len >> 8);
	g->code[g->label[i].at + 1] = (u8)g->len;
	g->depth = g->label[i].depth;
	g->alive = true;
	g->label[i] = g->label[--g->nlabels];
}

static void jump(struct axgen *g, enum ax_op o)
{
	op_with(g, o, 0);
	add_label(g);
}

/* Make a branch: "if_goto A; goto B; A:", as GDB does for && and ||, or a plain "if_goto A". */
static void make_branch(struct axgen *g)
{
	if (g->nlabels + 2 > AXGEN_LABELS || g->straight)
		return;
	if (axgen_pick(g, 2))
		make_compare(g);
	jump(g, AX_OP_if_goto);
	if (axgen_pick(g, 2))
		return;
	jump(g, AX_OP_goto);
	bind(g, g->nlabels - 2);
}

/*
 * Make a goto if a label is left to bind. For example, GDB turns a condition into a value by
 * "const8 1; goto E; F: const8 0; E:".
 */
static void make_goto(struct axgen *g)
{
	if (g->nlabels == AXGEN_LABELS || !g->nlabels)
		return;
	if (axgen_pick(g, 2))
		constant(g, axgen_pick(g, 2));
	jump(g, AX_OP_goto);
	g->alive = false;
}

static void make_end(struct axgen *g)
{
	if (!g->nlabels)
		return;
	op(g, AX_OP_end);
	g->alive = false;
}

/*
 * Bind some of the labels whose jumps leave the stack as deep as it is now. Bind at least one if
 * nothing else reaches the code that follows.
 */
static void bind_some(struct axgen *g)
{
	if (!g->alive && g->nlabels)
		bind(g, axgen_pick(g, g->nlabels));
	for (u32 i = g->nlabels; i--;)
		if (g->label[i].depth == g->depth && !axgen_pick(g, 3))
			bind(g, i);
}

/*
 * struct maker - a function that makes code; @depth: how many values the code pops; @weight: how
 * often step() chooses the function, relative to the sum of all weights
 */
static const struct maker {
	void (*make)(struct axgen *g);
	u8 depth;
	u8 weight;
} makers[] = {
	{ make_const, 0, 10 },	      { make_reg, 0, 12 },    { make_binary, 2, 14 },
	{ make_binary_const, 1, 14 }, { make_divide, 1, 4 },  { make_compare, 1, 8 },
	{ make_unary, 1, 4 },	      { make_extend, 1, 14 }, { make_ref, 0, 14 },
	{ make_stack, 1, 8 },	      { make_tsv, 1, 3 },     { make_trace, 1, 3 },
	{ make_printf, 0, 1 },	      { make_branch, 1, 9 },  { make_goto, 0, 3 },
	{ make_end, 1, 1 },
};

static void step(struct axgen *g)
{
	u32 n = axgen_pick(g, 122); /* the sum of the weights */

	for (u32 i = 0; i < ARRAY_SIZE(makers); i++) {
		if (n >= makers[i].weight) {
			n -= makers[i].weight;
			continue;
		}
		if (g->depth >= makers[i].depth)
			makers[i].make(g);
		else
			make_reg(g);
		return;
	}
}

/* Bind every label that is left, after bringing the stack to the depth of the label's jumps. */
static void finish(struct axgen *g)
{
	while (g->nlabels) {
		u32 i = axgen_pick(g, g->nlabels);

		while (g->alive && g->depth > g->label[i].depth)
			op(g, AX_OP_pop);
		while (g->alive && g->depth < g->label[i].depth)
			op_with(g, AX_OP_const8, 7);
		bind(g, i);
	}
	if (g->alive && !g->depth)
		op_with(g, AX_OP_const8, 3);
	op(g, AX_OP_end);
}

static void begin(struct axgen *g)
{
	g->len = 0;
	g->depth = 0;
	g->nlabels = 0;
	g->alive = true;
}

/* Make some steps that do not change the values on the stack, and push one value. */
static void make_term(struct axgen *g, u32 steps)
{
	u32 below = g->depth, own = g->own;

	g->depth = 0;
	g->own = 0; /* so that the expression sets no other variable */
	while (steps-- && !exhausted(g)) {
		while (g->depth > AX_MAX_DEPTH / 2)
			op(g, AX_OP_pop);
		step(g);
	}
	if (!g->depth)
		make_reg(g);
	while (g->depth > 1)
		op(g, AX_OP_pop);
	g->depth = below + 1;
	g->own = own;
}

/*
 * Add the two values on top of the stack. Rarely, do something else as well. Then the compiler must
 * not turn the expression into an atomic addition.
 */
static void make_sum(struct axgen *g)
{
	static const enum ax_op ops[] = { AX_OP_add, AX_OP_add, AX_OP_sub };

	if (!axgen_pick(g, 16))
		op(g, AX_OP_swap);
	op(g, axgen_pick(g, 16) ? ops[axgen_pick(g, ARRAY_SIZE(ops))] : AX_OP_bit_xor);
	if (axgen_pick(g, 2))
		op_with(g, axgen_pick(g, 4) ? AX_OP_ext : AX_OP_zero_ext,
			axgen_pick(g, 16) ? 64 : 32);
}

void axgen_make_add(struct axgen *g, u32 steps)
{
	bool straight = g->straight;

	begin(g);
	g->straight = true;
	if (axgen_pick(g, 2)) {
		make_term(g, axgen_pick(g, steps));
		op_with(g, AX_OP_getv, g->added);
		op(g, AX_OP_add);
	} else {
		op_with(g, AX_OP_getv, g->added);
	}
	make_term(g, axgen_pick(g, steps));
	make_sum(g);
	op_with(g, AX_OP_setv, g->added);
	if (axgen_pick(g, 2))
		op(g, AX_OP_pop);
	else if (axgen_pick(g, 2))
		make_binary_const(g);
	if (!axgen_pick(g, 4))
		make_term(g, axgen_pick(g, steps));
	g->straight = straight;
	finish(g);
}

void axgen_make(struct axgen *g, u32 steps)
{
	begin(g);
	/* Leave room for one more step and for finish(), in the stack and in the code. */
	while (steps-- && !exhausted(g) && g->len < AXGEN_CODE_MAX / 4) {
		bind_some(g);
		if (!g->alive)
			break;
		while (g->depth > AX_MAX_DEPTH - 8)
			op(g, AX_OP_pop);
		step(g);
	}
	finish(g);
}
