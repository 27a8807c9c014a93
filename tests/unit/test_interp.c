// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the interpreter: its arithmetic is compared with wider arithmetic, its printf with libc's.
 * Also tests how evaluations end.
 */
#include "agentexpr/meaning.h"
#include "tests/unit/ax_test.h"
#include "tools/dev/axenv.h"

static struct axenv *env;

static int setup(void **state)
{
	env = axenv_new();
	return 0;
}

static int teardown(void **state)
{
	axenv_free(env);
	return 0;
}

/* Verify and run a copy of @code of the exact size, so that ASan detects a read past its end. */
static int run(const u8 *code, u32 len, u64 *result)
{
	u8 *exact = test_exact(code, len);
	struct ax_point *points = malloc(len * sizeof(*points));
	struct ax_verified v;
	struct ax_error err;
	int ret;

	assert_int_equal(ax_verify(exact, len, AX_ACTION, points, &v, &err), AX_OK);
	ret = ax_interp(&v, &env->ax, result);
	free(points);
	free(exact);
	return ret;
}

#define RUN(result, ...) run((const u8[]){ __VA_ARGS__ }, sizeof((u8[]){ __VA_ARGS__ }), result)

static void put_const(u8 *code, u64 value)
{
	u32 i;

	code[0] = AX_OP_const64;
	for (i = 0; i < 8; i++)
		code[1 + i] = (u8)(value >> (56 - 8 * i));
}

/* Run the expression "a b OP end". */
static int run_binary(u8 op, u64 a, u64 b, u64 *result)
{
	u8 code[20];

	put_const(code, a);
	put_const(code + 9, b);
	code[18] = op;
	code[19] = AX_OP_end;
	return run(code, sizeof(code), result);
}

/* Return an edge case of arithmetic, or a random value of any size. */
static u64 pick_value(u64 *seed)
{
	static const u64 edges[] = { 0,
				     1,
				     2,
				     7,
				     31,
				     32,
				     33,
				     63,
				     64,
				     65,
				     0x7f,
				     0x80,
				     0xff,
				     0x7fff,
				     0x8000,
				     0xffff,
				     0x7fffffff,
				     0x80000000,
				     0xffffffff,
				     0x100000000,
				     0x7fffffffffffffff,
				     0x8000000000000000,
				     0x8000000000000001,
				     0xfffffffffffffffe,
				     0xffffffffffffffff };
	u64 r = test_random(seed);

	if (r % 2)
		return edges[(r >> 1) % ARRAY_SIZE(edges)];
	return test_random(seed) >> (r >> 1) % 64;
}

#define uwide unsigned __int128
#define wide __int128

/* Compute the expected result in arithmetic that cannot overflow; return false for an error. */
static bool expect_binary(u8 op, u64 ua, u64 ub, u64 *result)
{
	wide a = (s64)ua, b = (s64)ub;
	uwide va = ua, vb = ub;

	switch (op) {
	case AX_OP_add:
		*result = (u64)(a + b);
		return true;
	case AX_OP_sub:
		*result = (u64)(a - b);
		return true;
	case AX_OP_mul:
		*result = (u64)(va * vb);
		return true;
	case AX_OP_div_signed:
		*result = b ? (u64)(a / b) : 0;
		return b;
	case AX_OP_rem_signed:
		*result = b ? (u64)(a % b) : 0;
		return b;
	case AX_OP_div_unsigned:
		*result = b ? (u64)(va / vb) : 0;
		return b;
	case AX_OP_rem_unsigned:
		*result = b ? (u64)(va % vb) : 0;
		return b;
	case AX_OP_lsh:
		*result = ub < 64 ? (u64)(va << ub) : 0;
		return true;
	case AX_OP_rsh_unsigned:
		*result = ub < 64 ? (u64)(va >> ub) : 0;
		return true;
	case AX_OP_rsh_signed:
		*result = (u64)(a >> (ub < 64 ? ub : 64));
		return true;
	case AX_OP_bit_and:
		*result = ~(~ua | ~ub);
		return true;
	case AX_OP_bit_or:
		*result = ~(~ua & ~ub);
		return true;
	case AX_OP_bit_xor:
		*result = (ua | ub) - (ua & ub);
		return true;
	case AX_OP_equal:
		*result = !(ua - ub);
		return true;
	case AX_OP_less_signed:
		*result = a - b < 0;
		return true;
	default:
		*result = va - vb > va;
		return true;
	}
}

static const u8 binary_ops[] = {
	AX_OP_add,	    AX_OP_sub,		AX_OP_mul,	    AX_OP_div_signed,
	AX_OP_div_unsigned, AX_OP_rem_signed,	AX_OP_rem_unsigned, AX_OP_lsh,
	AX_OP_rsh_signed,   AX_OP_rsh_unsigned, AX_OP_bit_and,	    AX_OP_bit_or,
	AX_OP_bit_xor,	    AX_OP_equal,	AX_OP_less_signed,  AX_OP_less_unsigned,
};

static void test_binary(void **state)
{
	u64 seed = test_seed();
	u64 a, b, got, want;
	u32 i;

	for (i = 0; i < 40000; i++) {
		u8 op = binary_ops[i % ARRAY_SIZE(binary_ops)];

		a = pick_value(&seed);
		b = pick_value(&seed);
		if (expect_binary(op, a, b, &want)) {
			assert_int_equal(run_binary(op, a, b, &got), 0);
			if (got != want)
				print_error("%s 0x%llx 0x%llx\n", ax_op_info[op].name, a, b);
			assert_true(got == want);
			continue;
		}
		assert_int_equal(run_binary(op, a, b, &got), -EINVAL);
		assert_int_equal(env->ax.err.code, AX_E_DIVIDE_BY_ZERO);
		assert_int_equal(env->ax.err.pc, 18);
		assert_int_equal(env->ax.err.op, op);
		assert_true(got == 0);
	}
}

static const struct {
	u8 op;
	u64 a, b, result;
} edge_rows[] = {
	{ AX_OP_div_signed, 1ULL << 63, ~0ULL, 1ULL << 63 },
	{ AX_OP_rem_signed, 1ULL << 63, ~0ULL, 0 },
	{ AX_OP_div_signed, -7ULL, 2, -3ULL },
	{ AX_OP_rem_signed, -7ULL, 2, -1ULL },
	{ AX_OP_rem_signed, 7, -2ULL, 1 },
	{ AX_OP_div_unsigned, 1ULL << 63, ~0ULL, 0 },
	{ AX_OP_lsh, 1, 63, 1ULL << 63 },
	{ AX_OP_lsh, 1, 64, 0 },
	{ AX_OP_lsh, 1, 1ULL << 32, 0 },
	{ AX_OP_rsh_unsigned, ~0ULL, 1ULL << 63, 0 },
	{ AX_OP_rsh_signed, 1ULL << 63, 63, ~0ULL },
	{ AX_OP_rsh_signed, 1ULL << 63, 64, ~0ULL },
	{ AX_OP_rsh_signed, 1ULL << 63, ~0ULL, ~0ULL },
	{ AX_OP_rsh_signed, 1, ~0ULL, 0 },
};

static void test_edges(void **state)
{
	size_t i;
	u64 got;

	for (i = 0; i < ARRAY_SIZE(edge_rows); i++) {
		assert_int_equal(run_binary(edge_rows[i].op, edge_rows[i].a, edge_rows[i].b, &got),
				 0);
		assert_true(got == edge_rows[i].result);
	}
}

static u64 expect_extend(u8 op, u64 value, u32 bits)
{
	uwide mask = ((uwide)1 << (bits < 64 ? bits : 64)) - 1;
	uwide low = value & mask;

	if (op == AX_OP_ext && bits && bits < 64 && low >> (bits - 1))
		return (u64)(low | ~mask);
	return (u64)low;
}

static void test_extend(void **state)
{
	u64 seed = test_seed();
	u8 code[] = { AX_OP_const64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, AX_OP_end };
	u64 value, got;
	u32 bits, i;

	for (bits = 0; bits < 256; bits++) {
		for (i = 0; i < 40; i++) {
			value = pick_value(&seed);
			put_const(code, value);
			code[9] = i % 2 ? AX_OP_ext : AX_OP_zero_ext;
			code[10] = (u8)bits;
			assert_int_equal(run(code, sizeof(code), &got), 0);
			assert_true(got == expect_extend(code[9], value, bits));
			assert_true(ax_extend(code[9], value, bits) == got);
		}
	}
}

static void test_registers(void **state)
{
	u64 got;

	env->regs.rax = 0x1111222233334444;
	env->regs.r15 = 15;
	env->regs.rip = 0xdead;
	env->regs.eflags = 0xffffffff00000246;
	env->ax.pc = 0xffffffff81234567;
	assert_int_equal(RUN(&got, AX_OP_reg, 0, 0, AX_OP_end), 0);
	assert_true(got == 0x1111222233334444);
	assert_int_equal(RUN(&got, AX_OP_reg, 0, 15, AX_OP_end), 0);
	assert_true(got == 15);
	assert_int_equal(RUN(&got, AX_OP_reg, 0, 16, AX_OP_end), 0);
	assert_true(got == 0xffffffff81234567);
	assert_int_equal(RUN(&got, AX_OP_reg, 0, 17, AX_OP_end), 0);
	assert_true(got == 0x246);
}

static void test_result(void **state)
{
	u64 got = 77;

	assert_int_equal(RUN(&got, AX_OP_end), 0);
	assert_true(got == 0);
	assert_int_equal(RUN(NULL, AX_OP_const8, 1, AX_OP_end), 0);
	assert_int_equal(RUN(&got, AX_OP_const8, 9, AX_OP_const8, 5, AX_OP_end), 0);
	assert_true(got == 5);
}

/* An error of one evaluation must not appear in the next one. */
static void test_error_is_cleared(void **state)
{
	u64 got = 77;

	assert_int_equal(RUN(&got, AX_OP_const8, 8, AX_OP_ref16, AX_OP_end), -EINVAL);
	assert_int_equal(env->ax.err.code, AX_E_BAD_ADDRESS);
	assert_int_equal(env->ax.err.pc, 2);
	assert_int_equal(env->ax.err.op, AX_OP_ref16);
	assert_true(env->ax.err.arg == 8 && env->ax.err.arg2 == 2);
	assert_true(got == 0);
	assert_int_equal(RUN(&got, AX_OP_const8, 8, AX_OP_end), 0);
	assert_int_equal(env->ax.err.code, AX_OK);
}

static void test_refs(void **state)
{
	static const u8 bytes[] = { 0x80, 0x91, 0xa2, 0xb3, 0xc4, 0xd5, 0xe6, 0xf7, 0x08 };
	static const u64 want[] = { 0x91, 0xa291, 0xc4b3a291, 0x08f7e6d5c4b3a291 };
	u32 i;
	u64 got;

	axenv_map(env, 0x40, bytes, sizeof(bytes));
	for (i = 0; i < 4; i++) {
		/* Unaligned, and up to the last mapped byte. One byte further faults. */
		assert_int_equal(RUN(&got, AX_OP_const8, 0x41, (u8)(AX_OP_ref8 + i), AX_OP_end), 0);
		assert_true(got == want[i]);
		assert_int_equal(RUN(&got, AX_OP_const8, (u8)(0x49 - (1 << i) + 1),
				     (u8)(AX_OP_ref8 + i), AX_OP_end),
				 -EINVAL);
		assert_true(env->ax.err.arg == 0x49U - (1 << i) + 1);
		assert_true(env->ax.err.arg2 == 1ULL << i);
	}
}

static void test_collection_ends(void **state)
{
	axenv_map(env, 0, NULL, 255);
	env->room = 100;
	assert_int_equal(RUN(NULL, AX_OP_const8, 0, AX_OP_trace_quick, 100, AX_OP_end), -ENOSPC);
	assert_int_equal(env->ax.err.code, AX_OK);
	assert_int_equal(env->log_len, 0);
	assert_int_equal(RUN(NULL, AX_OP_const8, 0, AX_OP_const64, 1, 0, 0, 0, 0, 0, 0, 0,
			     AX_OP_trace, AX_OP_end),
			 -EINVAL);
	assert_int_equal(env->ax.err.code, AX_E_TOO_MUCH);
	assert_true(env->ax.err.arg == 1ULL << 56);
	assert_int_equal(RUN(NULL, AX_OP_const8, 250, AX_OP_trace16, 0, 6, AX_OP_end), -EINVAL);
	assert_int_equal(env->ax.err.code, AX_E_BAD_ADDRESS);
	assert_true(env->ax.err.arg == 250 && env->ax.err.arg2 == 6);
}

static int full(void *ctx, u16 tsv)
{
	return -ENOSPC;
}

static void test_tracev_full(void **state)
{
	struct ax_ops ops = axenv_ops;

	ops.tracev = full;
	env->ax.ops = &ops;
	assert_int_equal(RUN(NULL, AX_OP_tracev, 0, 1, AX_OP_end), -ENOSPC);
}

/* Evaluate printf of one argument; the output is in env->printed. */
static int print_one(const char *format, u64 arg)
{
	u8 code[128];
	u32 len = (u32)strlen(format) + 1;

	axenv_reset(env);
	put_const(code, arg);
	memcpy(code + 9, (u8[]){ AX_OP_const8, 3, AX_OP_const8, 4, AX_OP_printf, 1, 0, (u8)len },
	       8);
	memcpy(code + 17, format, len);
	code[17 + len] = AX_OP_end;
	return run(code, 18 + len, NULL);
}

static const struct {
	const char *format;
	u64 arg;
	const char *text;
} print_rows[] = {
	{ "%d", 0x1ffffffff, "-1" },
	{ "%ld", 0x1ffffffff, "8589934591" },
	{ "%hhd", 0x180, "-128" },
	{ "%hu", 0x18000, "32768" },
	{ "%lld", 1ULL << 63, "-9223372036854775808" },
	{ "%zu", ~0ULL, "18446744073709551615" },
	{ "%lo", ~0ULL, "1777777777777777777777" },
	{ "%#lx", 0xffffffff81000000, "0xffffffff81000000" },
	{ "%p", 0xffffffff81000000, "0xffffffff81000000" },
	{ "%p", 0, "0x0" },
	{ "[%6p]", 0x1f, "[  0x1f]" },
	{ "%c", 'A' + 256, "A" },
	{ "[%3c]", 'A', "[  A]" },
	{ "[%-3c]", 'A', "[A  ]" },
	{ "[%c]", 0, "[]" },
	{ "[%s]", 0x100, "[gdbtp]" },
	{ "[%.3s]", 0x100, "[gdb]" },
	{ "[%8s]", 0x100, "[   gdbtp]" },
	{ "[%-8.2s]", 0x100, "[gd      ]" },
	{ "[%.5s]", 0x110, "[whole]" }, /* has no NUL: the sixth byte must not be read */
	{ "%%%d%%", 5, "%5%" },
	{ "\\t%d\\n\\\\ \\\"\\101\\12", 5, "\t5\n\\ \"A\n" }, /* in the form that GDB sends */
	{ "\\1012\\377%d", 5, "A2\3775" },		      /* three octal digits at most */
};

static void test_print_rows(void **state)
{
	size_t i;

	axenv_map(env, 0x100, "gdbtp", 6);
	axenv_map(env, 0x110, "whole", 5);
	for (i = 0; i < ARRAY_SIZE(print_rows); i++) {
		assert_int_equal(print_one(print_rows[i].format, print_rows[i].arg), 0);
		assert_string_equal(env->printed, print_rows[i].text);
	}
	assert_int_equal(print_one("a %s", 0x110), -EINVAL);
	assert_int_equal(env->ax.err.code, AX_E_BAD_ADDRESS);
	assert_int_equal(env->ax.err.op, AX_OP_printf);
	assert_true(env->ax.err.arg == 0x115 && env->ax.err.arg2 == 1);
	assert_string_equal(env->printed, "");
}

static void test_print_is_cut(void **state)
{
	char *s = (char *)axenv_map(env, 0x1000, NULL, 400);

	assert_int_equal(print_one("%999d", 1), 0);
	assert_int_equal(env->printed_len, AX_PRINT_MAX - 1);
	memset(s, 'x', 399);
	assert_int_equal(print_one("abc%sdef", 0x1000), 0);
	assert_int_equal(env->printed_len, AX_PRINT_MAX - 1);
	assert_memory_equal(env->printed, "abcxxx", 6);
	assert_int_equal(env->printed[AX_PRINT_MAX - 2], 'x');
	strcpy(s, "tail");
	assert_int_equal(print_one("%300s", 0x1000), 0);
	assert_int_equal(env->printed_len, AX_PRINT_MAX - 1);
	assert_memory_equal(env->printed + AX_PRINT_MAX - 5, "tail", 4);
}

/* Make a random format that C defines, so that the output can be compared with libc's. */
static void random_format(u64 *seed, char *format)
{
	static const char *const lengths[] = { "hh", "h", "", "l", "ll", "z" };
	const char type = "diuxXo"[test_random(seed) % 6];
	u64 r = test_random(seed);
	char *p = format;

	*p++ = '%';
	if (r & 1)
		*p++ = '-';
	/* C does not define these for a conversion without a sign, or without an alternate form. */
	if (r & 2 && strchr("di", type))
		*p++ = r & 4 ? '+' : ' ';
	if (r & 8 && strchr("xXo", type))
		*p++ = '#';
	if (r & 16)
		*p++ = '0';
	if (r & 32)
		p += sprintf(p, "%u", (u32)(1 + (r >> 8) % 30));
	if (r & 64)
		p += sprintf(p, ".%u", (u32)((r >> 16) % 30));
	p += sprintf(p, "%s%c", lengths[(r >> 24) % 6], type);
}

static void test_print_as_libc(void **state)
{
	u64 seed = test_seed();
	char format[24], want[AX_PRINT_MAX];
	u64 value;
	u32 i;

	for (i = 0; i < 40000; i++) {
		random_format(&seed, format);
		value = pick_value(&seed);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(want, sizeof(want), format, value);
#pragma GCC diagnostic pop
		assert_int_equal(print_one(format, value), 0);
		if (strcmp(env->printed, want))
			print_error("%s of 0x%llx\n", format, value);
		assert_string_equal(env->printed, want);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(test_binary),	    T(test_edges),	     T(test_extend),
		T(test_registers),  T(test_result),	     T(test_error_is_cleared),
		T(test_refs),	    T(test_collection_ends), T(test_tracev_full),
		T(test_print_rows), T(test_print_is_cut),    T(test_print_as_libc),
	};

	return cmocka_run_group_tests_name("interp", tests, NULL, NULL);
}
