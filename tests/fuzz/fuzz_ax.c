// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer of the interpreter: takes any bytes as an expression, and decodes and verifies it. If the
 * verifier accepts it, runs it in a hostile environment.
 */
#include <stdlib.h>
#include "agentexpr/ax.h"

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                 \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/*
 * Return 0 or an error for an access of memory. Bits of the address decide which, so the fuzzer can
 * choose.
 */
static int world(u64 addr)
{
	static const int answers[] = { 0, 0, 0, 0, 0, -EFAULT, -ENOSPC, -E2BIG };

	return answers[(addr ^ addr >> 8 ^ addr >> 32) % ARRAY_SIZE(answers)];
}

static int op_read(void *ctx, void *dst, u64 addr, u32 len)
{
	CHECK(len == 1 || len == 2 || len == 4 || len == 8);
	if (world(addr >> 4))
		return -EFAULT;
	/* Most addresses read as bytes that are not 0, so that a string there has no end. */
	memset(dst, (int)(addr & 0x30 ? addr | 1 : 0), len);
	return 0;
}

static s64 op_getv(void *ctx, u16 tsv)
{
	static const s64 values[] = { 0, 1, -1, S64_MIN, 63, 64, 0xffffffff, 0x1000 };

	return values[tsv % ARRAY_SIZE(values)];
}

static void op_setv(void *ctx, u16 tsv, s64 value)
{
}

static s64 op_addv(void *ctx, u16 tsv, s64 by)
{
	return op_getv(ctx, tsv);
}

static int op_trace(void *ctx, u64 addr, u64 len)
{
	return world(addr + len);
}

static int op_tracev(void *ctx, u16 tsv)
{
	return tsv % 8 ? 0 : -ENOSPC;
}

static void op_print(void *ctx, const char *text, u32 len)
{
	CHECK(len < AX_PRINT_MAX);
	CHECK(text[len] == '\0');
}

static const struct ax_ops ops = {
	.read = op_read,
	.getv = op_getv,
	.setv = op_setv,
	.addv = op_addv,
	.trace = op_trace,
	.trace_string = op_trace,
	.tracev = op_tracev,
	.print = op_print,
};

/* Decode at every byte, also inside instructions: no read may go past the last byte. */
static void decode_everywhere(const u8 *code, u32 len)
{
	struct ax_insn insn;
	char text[64];
	u32 pc;

	for (pc = 0; pc < len; pc++) {
		if (ax_decode(code, len, pc, &insn) != AX_OK)
			continue;
		CHECK(insn.next > pc && insn.next <= len);
		CHECK(ax_disasm(&insn, text, sizeof(text)) > 0);
		CHECK(memchr(text, '\0', sizeof(text)));
	}
}

static void check_error(const struct ax_error *err, u32 len)
{
	char text[128];

	CHECK(err->code > AX_OK && err->code < AX_NR_ERRORS);
	CHECK(err->pc < len || !len);
	CHECK(ax_error_format(err, text, sizeof(text)) < (int)sizeof(text));
}

static void check_points(const struct ax_verified *v)
{
	u32 pc, reached = 0;

	for (pc = 0; pc < v->len; pc++) {
		if (!(v->points[pc].flags & AX_P_REACHED))
			continue;
		CHECK(v->points[pc].flags & AX_P_INSN);
		CHECK(v->points[pc].depth <= v->max_depth);
		reached++;
	}
	CHECK(reached == v->ninsns);
}

/*
 * Run with exactly as many words of stack as the verifier computed. ASan reports the use of more.
 */
static void run(const struct ax_verified *v)
{
	static const struct gtp_regs regs = {
		.rdi = 0xffff888000001000,
		.rsi = 64,
		.rdx = 1ULL << 63,
		.rcx = ~0ULL,
	};
	struct ax_env env = { .ops = &ops, .regs = &regs, .pc = 0xffffffff81000000 };
	u64 result;
	int ret;

	env.stack = malloc(v->max_depth * sizeof(u64) + !v->max_depth);
	env.text = malloc(AX_PRINT_MAX);
	ret = ax_interp(v, &env, &result);
	CHECK(ret == 0 || ret == -EINVAL || ret == -ENOSPC);
	CHECK(!ret || !result);
	if (ret == -EINVAL) {
		check_error(&env.err, v->len);
		CHECK(env.err.code >= AX_E_DIVIDE_BY_ZERO);
		CHECK(v->points[env.err.pc].flags & AX_P_REACHED);
		CHECK(env.err.op == v->code[env.err.pc]);
	} else {
		CHECK(env.err.code == AX_OK);
	}
	free(env.text);
	free(env.stack);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* The first byte of the input is the kind of expression, the other bytes are the expression. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	enum ax_kind kind = size && data[0] & 1 ? AX_ACTION : AX_CONDITION;
	const u8 *code = data + !!size;
	u32 len = (u32)size - !!size;
	struct ax_point *points = malloc(len * sizeof(*points) + !len);
	struct ax_verified v;
	struct ax_error err;

	decode_everywhere(code, len);
	if (ax_verify(code, len, kind, points, &v, &err) == AX_OK) {
		CHECK(err.code == AX_OK && v.len == len && v.max_depth <= AX_MAX_DEPTH);
		check_points(&v);
		run(&v);
	} else {
		check_error(&err, len);
	}
	free(points);
	return 0;
}
