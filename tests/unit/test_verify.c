// SPDX-License-Identifier: GPL-2.0-only
/* Tests the verifier: its verdicts, the facts that it records about code, and random bytes. */
#include "tests/unit/ax_test.h"
#include "agentexpr/ax.h"

struct row {
	const char *what;
	enum ax_kind kind;
	enum ax_err code;
	u16 pc;
	u64 arg, arg2;
	u32 len;
	u8 bytes[24];
};

#define GOOD(what, kind, ...)                                                                      \
	{                                                                                          \
		what, kind, AX_OK, 0, 0, 0, sizeof((u8[]){ __VA_ARGS__ }),                         \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define BAD(code, pc, arg, arg2, what, kind, ...)                                                  \
	{                                                                                          \
		what, kind, AX_E_##code, pc, arg, arg2, sizeof((u8[]){ __VA_ARGS__ }),             \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

static const struct row rows[] = {
	GOOD("a condition", AX_CONDITION, 0x22, 1, 0x27),
	GOOD("an empty action, as GDB sends it for a register", AX_ACTION, 0x27),
	GOOD("a jump to the next instruction", AX_CONDITION, 0x22, 1, 0x21, 0, 5, 0x27),
	GOOD("whatever is behind the end", AX_CONDITION, 0x22, 1, 0x27, 0x02, 0x01, 0x21, 0, 0),
	GOOD("unreached bytes need no end", AX_CONDITION, 0x22, 1, 0x27, 0x22, 1),
	GOOD("two ways, one depth", AX_CONDITION, 0x22, 1, 0x20, 0, 10, 0x22, 2, 0x21, 0, 12, 0x22,
	     3, 0x27),
	GOOD("pick of the deepest", AX_CONDITION, 0x22, 1, 0x22, 2, 0x32, 1, 0x27),
	GOOD("the last register that a hit knows", AX_CONDITION, 0x26, 0, 19, 0x27),

	BAD(UNKNOWN_OPCODE, 0, 0, 0, "opcode 0", AX_ACTION, 0x00, 0x27),
	BAD(UNKNOWN_OPCODE, 1, 0x31, 0, "also where nothing gets", AX_ACTION, 0x27, 0x31),
	BAD(OPERAND_CUT, 2, AX_OP_const16, 0, "cut", AX_CONDITION, 0x22, 1, 0x23, 0),
	BAD(OPERAND_CUT, 1, AX_OP_const8, 0, "also where nothing gets", AX_ACTION, 0x27, 0x22),
	BAD(FLOATING_POINT, 2, 0, 0, "ref_float", AX_CONDITION, 0x22, 1, 0x1b, 0x27),
	BAD(FLOATING_POINT, 0, 0, 0, "before the stack is looked at", AX_ACTION, 0x1c, 0x27),
	BAD(JUMP_OUT, 0, 3, 3, "to the end of the bytes", AX_ACTION, 0x21, 0, 3),
	BAD(JUMP_OUT, 0, 0xffff, 4, "far out", AX_ACTION, 0x21, 255, 255, 0x27),
	BAD(JUMP_BACK, 2, 2, 0, "to itself", AX_ACTION, 0x22, 1, 0x21, 0, 2, 0x27),
	BAD(JUMP_BACK, 2, 0, 0, "to the start", AX_ACTION, 0x22, 1, 0x20, 0, 0, 0x27),
	BAD(JUMP_INTO_OPERAND, 0, 1, 0, "into its own operand", AX_ACTION, 0x21, 0, 1, 0x27),
	BAD(JUMP_INTO_OPERAND, 0, 2, 0, "into its own operand", AX_ACTION, 0x21, 0, 2, 0x27),
	BAD(JUMP_INTO_OPERAND, 3, 4, 0, "into a constant", AX_ACTION, 0x21, 0, 4, 0x22, 0x27, 0x27),
	BAD(JUMP_INTO_OPERAND, 3, 8, 0, "into a format", AX_ACTION, 0x21, 0, 8, 0x34, 0, 0, 2, 'a',
	    0, 0x27),
	BAD(DEPTH_MISMATCH, 7, 0, 1, "a jump and the way past it", AX_ACTION, 0x22, 1, 0x20, 0, 7,
	    0x22, 2, 0x27),
	BAD(DEPTH_MISMATCH, 11, 0, 1, "two jumps", AX_ACTION, 0x22, 1, 0x20, 0, 11, 0x22, 1, 0x28,
	    0x20, 0, 11, 0x27),
	BAD(STACK_UNDERFLOW, 2, 2, 1, "add of one", AX_ACTION, 0x22, 1, 0x02, 0x27),
	BAD(STACK_UNDERFLOW, 2, 2, 1, "pick too deep", AX_ACTION, 0x22, 1, 0x32, 1, 0x27),
	BAD(STACK_UNDERFLOW, 2, 256, 1, "pick far too deep", AX_ACTION, 0x22, 1, 0x32, 255, 0x27),
	BAD(STACK_UNDERFLOW, 4, 3, 2, "printf", AX_ACTION, 0x22, 1, 0x22, 1, 0x34, 1, 0, 3, '%',
	    'd', 0, 0x27),
	BAD(NO_END, 0, 0, 0, "runs out", AX_CONDITION, 0x22, 1),
	BAD(NO_END, 2, 0, 0, "a jump on the last way", AX_ACTION, 0x22, 1, 0x29),
	BAD(NO_RESULT, 0, 0, 0, "an empty condition", AX_CONDITION, 0x27),
	BAD(NO_RESULT, 7, 0, 0, "one end of two", AX_CONDITION, 0x22, 1, 0x28, 0x20, 0, 8, 0x29,
	    0x27, 0x27),
	BAD(BAD_REGISTER, 0, 20, 19, "ds", AX_CONDITION, 0x26, 0, 20, 0x27),
	BAD(BAD_REGISTER, 0, 0xffff, 19, "no such register", AX_CONDITION, 0x26, 255, 255, 0x27),
};

static enum ax_err verify(const u8 *bytes, u32 len, enum ax_kind kind, struct ax_verified *v,
			  struct ax_point *points, struct ax_error *err)
{
	u8 *exact = test_exact(bytes, len);
	/* This buffer has the exact size, too, so that ASan sees a write past the results. */
	struct ax_point *own = malloc(len ? len * sizeof(*own) : 1);
	enum ax_err code = ax_verify(exact, len, kind, own, v, err);

	if (points)
		memcpy(points, own, len * sizeof(*own));
	free(own);
	free(exact);
	return code;
}

static void test_rows(void **state)
{
	struct ax_verified v;
	struct ax_error err;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		enum ax_err code = verify(r->bytes, r->len, r->kind, &v, NULL, &err);

		if (code != r->code || err.pc != r->pc)
			print_error("row %zu, %s: %s @%u\n", i, r->what, ax_error_name(code),
				    err.pc);
		assert_int_equal(code, r->code);
		assert_int_equal(err.code, r->code);
		assert_int_equal(err.pc, r->pc);
		assert_true(err.arg == r->arg);
		assert_true(err.arg2 == r->arg2);
		if (code != AX_OK)
			assert_int_equal(err.op, r->bytes[r->pc]);
	}
}

/* Verify @n copies of a byte, then "end". */
static enum ax_err verify_run(u8 byte, u32 n, struct ax_verified *v, struct ax_error *err)
{
	u8 *code = malloc(n + 1);
	struct ax_point *points = malloc((n + 1) * sizeof(*points));
	enum ax_err ret;

	memset(code, byte, n);
	code[n] = AX_OP_end;
	ret = ax_verify(code, n + 1, AX_ACTION, points, v, err);
	free(points);
	free(code);
	return ret;
}

static void test_sizes(void **state)
{
	struct ax_verified v;
	struct ax_error err;
	u32 i;
	u8 deep[2 * (AX_MAX_DEPTH + 1) + 1];

	assert_int_equal(ax_verify((const u8 *)"", 0, AX_ACTION, NULL, &v, &err), AX_E_EMPTY);
	assert_int_equal(verify_run(AX_OP_end, AX_MAX_LEN - 1, &v, &err), AX_OK);
	assert_int_equal(v.len, AX_MAX_LEN);
	assert_int_equal(verify_run(AX_OP_end, AX_MAX_LEN, &v, &err), AX_E_TOO_LONG);
	assert_true(err.arg == AX_MAX_LEN + 1 && err.arg2 == AX_MAX_LEN);

	for (i = 0; i < sizeof(deep); i++)
		deep[i] = i % 2 ? 7 : AX_OP_const8;
	deep[2 * AX_MAX_DEPTH] = AX_OP_end;
	assert_int_equal(verify(deep, 2 * AX_MAX_DEPTH + 1, AX_CONDITION, &v, NULL, &err), AX_OK);
	assert_int_equal(v.max_depth, AX_MAX_DEPTH);
	deep[2 * AX_MAX_DEPTH] = AX_OP_const8;
	deep[2 * AX_MAX_DEPTH + 2] = AX_OP_end;
	assert_int_equal(verify(deep, sizeof(deep), AX_CONDITION, &v, NULL, &err),
			 AX_E_STACK_OVERFLOW);
	assert_true(err.arg == AX_MAX_DEPTH + 1 && err.arg2 == AX_MAX_DEPTH);
	assert_int_equal(err.pc, 2 * AX_MAX_DEPTH);
}

static void test_facts(void **state)
{
	/*
	 * reg 5; if_goto 11; const8 1; goto 20; add (nothing gets here); reg 3; ref8; getv 2; add;
	 * end
	 */
	static const u8 code[] = { 0x26, 0,    5, 0x20, 0,    12,   0x22, 1, 0x21, 0,	20,
				   0x02, 0x26, 0, 3,	0x17, 0x2c, 0,	  2, 0x02, 0x27 };
	static const u8 depth[] = {
		[0] = 0, [3] = 1, [6] = 0, [8] = 1, [12] = 0, [15] = 1, [16] = 1, [19] = 2, [20] = 1
	};
	struct ax_point points[sizeof(code)];
	struct ax_verified v;
	struct ax_error err;
	u32 pc;

	assert_int_equal(verify(code, sizeof(code), AX_CONDITION, &v, points, &err), AX_OK);
	assert_int_equal(err.code, AX_OK);
	assert_int_equal(v.len, sizeof(code));
	assert_int_equal(v.max_depth, 2);
	assert_int_equal(v.ninsns, 9);
	assert_int_equal(v.flags, AX_F_READS_MEM | AX_F_GETS_TSV);
	assert_true(v.regs_used == (BIT_ULL(3) | BIT_ULL(5)));
	for (pc = 0; pc < sizeof(code); pc++) {
		static const u8 starts[] = { 1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0,
					     1, 1, 0, 0, 1, 1, 0, 0, 1, 1 };
		bool target = pc == 12 || pc == 20;

		assert_int_equal(!!(points[pc].flags & AX_P_INSN), starts[pc]);
		assert_int_equal(!!(points[pc].flags & AX_P_REACHED), starts[pc] && pc != 11);
		assert_int_equal(!!(points[pc].flags & AX_P_TARGET), target);
		if (points[pc].flags & AX_P_REACHED)
			assert_int_equal(points[pc].depth, depth[pc]);
	}
}

static const struct {
	u16 flags;
	u8 len;
	u8 bytes[16];
} flag_rows[] = {
	{ AX_F_READS_MEM, 4, { 0x22, 0, 0x17, 0x27 } },
	{ AX_F_READS_MEM, 4, { 0x22, 0, 0x1a, 0x27 } },
	{ AX_F_COLLECTS, 6, { 0x22, 0, 0x22, 0, 0x0c, 0x27 } },
	{ AX_F_COLLECTS | AX_F_STRING, 6, { 0x22, 0, 0x22, 0, 0x2f, 0x27 } },
	{ AX_F_COLLECTS, 5, { 0x22, 0, 0x0d, 4, 0x27 } },
	{ AX_F_COLLECTS, 6, { 0x22, 0, 0x30, 0, 4, 0x27 } },
	{ AX_F_COLLECTS | AX_F_GETS_TSV, 4, { 0x2e, 0, 1, 0x27 } },
	{ AX_F_UPDATES_TSV | AX_F_LOCKED, 7, { 0x2c, 0, 1, 0x2d, 0, 1, 0x27 } },
	{ AX_F_SETS_TSV | AX_F_LOCKED, 6, { 0x22, 0, 0x2d, 0, 1, 0x27 } },
	{ AX_F_PRINTS, 10, { 0x22, 0, 0x22, 0, 0x34, 0, 0, 1, 0, 0x27 } },
	{ AX_F_PRINTS | AX_F_READS_MEM,
	  14,
	  { 0x22, 0, 0x22, 0, 0x22, 0, 0x34, 1, 0, 3, '%', 's', 0, 0x27 } },
	{ 0, 3, { 0x27, 0x17, 0x0d } },
};

static void test_flags(void **state)
{
	struct ax_verified v;
	struct ax_error err;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flag_rows); i++) {
		u32 len = flag_rows[i].len;

		/* The last row ends in a truncated operand and gets no "end". */
		if (!flag_rows[i].flags)
			len--;
		assert_int_equal(verify(flag_rows[i].bytes, len, AX_ACTION, &v, NULL, &err), AX_OK);
		assert_int_equal(v.flags, flag_rows[i].flags);
	}
}

/* printf formats: which are allowed, and the byte that an error names. */
static const struct {
	const char *format;
	u8 nargs;
	enum ax_err code;
	u64 arg, arg2;
} format_rows[] = {
	{ "", 0, AX_OK, 0, 0 },
	{ "plain", 0, AX_OK, 0, 0 },
	{ "100%%", 0, AX_OK, 0, 0 },
	{ "%d %i %u %x %X %o %c %p", 8, AX_OK, 0, 0 },
	{ "%-+ #05.3lld|%hhx|%hd|%ld|%zu", 5, AX_OK, 0, 0 },
	{ "%s %.10s %-8s", 3, AX_OK, 0, 0 },
	{ "%999d", 1, AX_OK, 0, 0 },
	{ "%9999d", 1, AX_E_BAD_FORMAT, 4, 0 },
	{ "%.9999d", 1, AX_E_BAD_FORMAT, 5, 0 },
	{ "ab%n", 1, AX_E_BAD_FORMAT, 3, 0 },
	{ "%f", 1, AX_E_BAD_FORMAT, 1, 0 },
	{ "%*d", 2, AX_E_BAD_FORMAT, 1, 0 },
	{ "%.*d", 2, AX_E_BAD_FORMAT, 2, 0 },
	{ "%", 0, AX_E_BAD_FORMAT, 1, 0 },
	{ "%l", 1, AX_E_BAD_FORMAT, 2, 0 },
	{ "%llld", 1, AX_E_BAD_FORMAT, 3, 0 },
	{ "%hhhd", 1, AX_E_BAD_FORMAT, 3, 0 },
	{ "%ls", 1, AX_E_BAD_FORMAT, 2, 0 },
	{ "%lc", 1, AX_E_BAD_FORMAT, 2, 0 },
	{ "%hp", 1, AX_E_BAD_FORMAT, 2, 0 },
	{ "%5%", 0, AX_E_BAD_FORMAT, 2, 0 },
	{ "%1$d", 1, AX_E_BAD_FORMAT, 2, 0 },
	{ "\\n\\t\\\\\\\"\\e\\101", 0, AX_OK, 0, 0 },
	{ "a\\q", 0, AX_E_BAD_FORMAT, 2, 0 },
	{ "a\\", 0, AX_E_BAD_FORMAT, 2, 0 },
	{ "\\0", 0, AX_E_BAD_FORMAT, 2, 0 },
	{ "\\045d", 0, AX_E_BAD_FORMAT, 4, 0 },
	{ "\\777", 0, AX_E_BAD_FORMAT, 4, 0 },
	{ "%d", 0, AX_E_FORMAT_ARGS, 1, 0 },
	{ "%d", 2, AX_E_FORMAT_ARGS, 1, 2 },
	{ "%d%d%d%d%d%d%d%d%d", 9, AX_E_PRINT_ARGS, 9, AX_MAX_PRINT_ARGS },
};

static enum ax_err verify_format(const char *format, u32 len, u8 nargs, struct ax_error *err)
{
	u8 code[128];
	struct ax_verified v;
	u32 n = 0;
	u32 i;

	for (i = 0; i < nargs + 2U; i++) {
		code[n++] = AX_OP_const8;
		code[n++] = 0;
	}
	code[n++] = AX_OP_printf;
	code[n++] = nargs;
	code[n++] = 0;
	code[n++] = (u8)len;
	memcpy(code + n, format, len);
	n += len;
	code[n++] = AX_OP_end;
	return verify(code, n, AX_ACTION, &v, NULL, err);
}

static void test_formats(void **state)
{
	struct ax_error err;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(format_rows); i++) {
		const char *f = format_rows[i].format;

		if (verify_format(f, (u32)strlen(f) + 1, format_rows[i].nargs, &err) !=
		    format_rows[i].code)
			print_error("\"%s\": %s\n", f, ax_error_name(err.code));
		assert_int_equal(err.code, format_rows[i].code);
		assert_true(err.arg == format_rows[i].arg);
		assert_true(err.arg2 == format_rows[i].arg2);
		if (err.code)
			assert_int_equal(err.op, AX_OP_printf);
	}
	assert_int_equal(verify_format("", 0, 0, &err), AX_E_FORMAT_NUL);
	assert_int_equal(verify_format("a", 1, 0, &err), AX_E_FORMAT_NUL);
	assert_int_equal(verify_format("a\0b", 4, 0, &err), AX_E_FORMAT_NUL);
	assert_int_equal(verify_format("%d\0", 4, 1, &err), AX_E_FORMAT_NUL);
	assert_true(err.arg == 4);
}

static enum ax_err known(void *ctx, u16 tsv, bool sets)
{
	(*(u32 *)ctx)++;
	if (tsv > 9)
		return AX_E_UNKNOWN_TSV;
	return tsv == 1 && sets ? AX_E_READ_ONLY_TSV : AX_OK;
}

static void test_tsvs(void **state)
{
	static const struct {
		enum ax_err code;
		u16 pc;
		u32 calls;
		u8 bytes[11];
	} tsv_rows[] = {
		/* The last instruction is never reached and not checked. */
		{ AX_OK, 0, 3, { 0x2c, 0, 1, 0x2d, 0, 2, 0x2e, 0, 9, 0x27, 0x27 } },
		{ AX_E_UNKNOWN_TSV, 6, 3, { 0x2c, 0, 1, 0x2d, 0, 2, 0x2e, 0, 10, 0x27, 0x27 } },
		{ AX_E_READ_ONLY_TSV, 3, 2, { 0x2c, 0, 1, 0x2d, 0, 1, 0x2e, 0, 9, 0x27, 0x27 } },
		{ AX_E_UNKNOWN_TSV, 0, 1, { 0x2c, 1, 0, 0x2d, 0, 1, 0x2e, 0, 9, 0x27, 0x27 } },
		{ AX_OK, 0, 1, { 0x2c, 0, 1, 0x27, 0x2c, 0, 99, 0x27, 0x27, 0x27, 0x27 } },
	};
	struct ax_point points[11];
	struct ax_verified v;
	struct ax_error err;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tsv_rows); i++) {
		u32 calls = 0;

		assert_int_equal(ax_verify(tsv_rows[i].bytes, 11, AX_ACTION, points, &v, &err),
				 AX_OK);
		assert_int_equal(ax_verify_tsvs(&v, known, &calls, &err), tsv_rows[i].code);
		assert_int_equal(err.code, tsv_rows[i].code);
		assert_int_equal(err.pc, tsv_rows[i].pc);
		assert_int_equal(calls, tsv_rows[i].calls);
		if (err.code)
			assert_true(err.arg == tsv_rows[i].bytes[err.pc + 1] * 256U +
						       tsv_rows[i].bytes[err.pc + 2]);
	}
}

/* Make bytes many of which are opcodes, so that random programs get far. */
static void random_code(u64 *seed, u8 *bytes, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		bytes[i] = (u8)(test_random(seed) % (test_random(seed) % 8 ? 0x36 : 256));
	if (len > 4 && test_random(seed) % 2) {
		bytes[0] = AX_OP_const8;
		bytes[2] = AX_OP_const8;
	}
	bytes[len - 1] = AX_OP_end;
}

static void test_random_code(void **state)
{
	u64 seed = test_seed();
	struct ax_verified v;
	struct ax_error err;
	char text[200];
	u8 bytes[64];
	u32 i, good = 0;

	for (i = 0; i < 50000; i++) {
		u32 len = 1 + (u32)(test_random(&seed) % sizeof(bytes));

		random_code(&seed, bytes, len);
		if (verify(bytes, len, i % 2 ? AX_ACTION : AX_CONDITION, &v, NULL, &err) == AX_OK) {
			assert_true(v.max_depth <= AX_MAX_DEPTH);
			assert_in_range(v.ninsns, 1, len);
			good++;
		} else {
			assert_true(err.pc < len);
			assert_true(ax_error_format(&err, text, sizeof(text)) < (int)sizeof(text));
		}
	}
	/* Enough random programs must pass, or this test would prove nothing. */
	assert_true(good > 100);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),	    cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_facts),	    cmocka_unit_test(test_flags),
		cmocka_unit_test(test_formats),	    cmocka_unit_test(test_tsvs),
		cmocka_unit_test(test_random_code),
	};

	return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
