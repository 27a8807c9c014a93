// SPDX-License-Identifier: GPL-2.0-only
/*
 * ax_adds_to() finds expressions that only add to a variable. An atomic addition gives the same
 * result as such an expression.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agentexpr/adds.h"
#include "tools/axasm.h"
#include "tools/dev/axenv.h"

enum { N = 5, OTHER = 6, INITIAL = 1000 };

static struct {
	u8 code[256];
	struct ax_point points[256];
	struct ax_verified v;
} t;

static void assemble(const char *text)
{
	struct ax_error err;
	char why[200];
	int len = axasm(text, t.code, sizeof(t.code), why, sizeof(why));

	if (len < 0)
		fail_msg("%s: %s", text, why);
	if (ax_verify(t.code, (u32)len, AX_ACTION, t.points, &t.v, &err) != AX_OK)
		fail_msg("%s: %s at %u", text, ax_error_name(err.code), err.pc);
}

static const char *const taken[] = {
	/* As GDB compiles $n = $n + 1, $n += 7, $n = $n - x */
	"getv 5; const8 1; add; ext 64; setv 5; pop; end",
	"getv 5; const8 1; add; ext 64; setv 5; end",
	"getv 5; const8 7; add; setv 5; end",
	"getv 5; reg 5; ext 32; sub; ext 64; setv 5; pop; end",
	/* $n = x + $n, and $n in the middle of a sum */
	"reg 5; ext 32; getv 5; add; ext 64; setv 5; pop; end",
	"reg 5; getv 5; add; reg 4; sub; const8 3; add; zero_ext 64; setv 5; end",
	"reg 1; reg 2; getv 5; add; add; setv 5; end",
	"getv 5; ext 64; ext 200; const8 1; add; setv 5; end",
	/* The addend may be anything that does not access the variable. */
	"getv 5; reg 5; const8 8; add; ref32; ext 32; const8 3; mul; add; setv 5; end",
	"getv 5; reg 5; reg 4; less_signed; log_not; add; setv 5; end",
	"getv 5; reg 5; dup; mul; reg 1; reg 2; swap; sub; add; add; setv 5; end",
	"getv 5; reg 1; reg 2; reg 3; rot; sub; sub; add; setv 5; end",
	"getv 5; reg 1; pick 0; add; add; setv 5; end",
	"reg 1; getv 5; pick 1; add; add; setv 5; end",
	"getv 5; getv 6; add; setv 5; end",
	"getv 5; const8 1; pop; const8 2; add; setv 5; end",
	"reg 5; trace_quick 4; pop; getv 5; const8 1; add; setv 5; end",
	/* Adding 0 is also an addition: an update by another CPU in between must not be lost. */
	"getv 5; setv 5; end",
	/* Any code may follow, with the sum on the stack. */
	"getv 5; const8 1; add; setv 5; const8 5; less_signed; if_goto L; const8 1; end; L: const8 0; end",
	"getv 5; const8 1; add; setv 5; dup; mul; end",
	"getv 5; const8 1; add; setv 5; const8 0; const8 0; printf 1 \"%d\"; end",
	/* Code that is never reached does not count. */
	"getv 5; const8 1; add; setv 5; end; getv 5; setv 6; end",
};

static const char *const left[] = {
	/* The variable is set to another value. */
	"const8 1; setv 5; end",
	"reg 5; getv 5; sub; setv 5; end",
	"getv 5; const8 2; mul; setv 5; end",
	"getv 5; const8 2; lsh; setv 5; end",
	"getv 5; const8 2; div_signed; setv 5; end",
	"getv 5; const8 2; bit_or; setv 5; end",
	"getv 5; bit_not; setv 5; end",
	"getv 5; log_not; setv 5; end",
	"getv 5; const8 1; add; ext 32; setv 5; end",
	"getv 5; const8 1; add; zero_ext 63; setv 5; end",
	"getv 5; const8 1; equal; setv 5; end",
	"getv 5; ref64; setv 5; end",
	/* The variable is read for something else. */
	"getv 5; getv 5; add; setv 5; end",
	"getv 5; dup; add; setv 5; end",
	"getv 5; pick 0; pop; const8 1; add; setv 5; end",
	"getv 5; const8 1; pick 1; add; add; setv 5; end",
	"getv 5; const8 1; swap; add; setv 5; end",
	"getv 5; reg 1; reg 2; rot; add; add; setv 5; end",
	"getv 5; trace_quick 8; const8 1; add; setv 5; end",
	"getv 5; const8 8; trace; getv 5; const8 1; add; setv 5; end",
	"getv 5; pop; const8 1; setv 5; end",
	"getv 5; const8 1; setv 5; add; end",
	"const8 1; getv 5; pop; setv 5; end",
	/* The expression accesses the variable once more. */
	"getv 5; const8 1; add; setv 5; getv 5; end",
	"getv 5; const8 1; add; setv 5; tracev 5; end",
	"tracev 5; const8 1; setv 5; end",
	"getv 5; const8 1; add; setv 5; const8 1; add; setv 5; end",
	/* The expression sets another variable, too. */
	"getv 6; const8 1; add; setv 5; end",
	"getv 5; const8 1; add; setv 5; setv 6; end",
	"getv 5; const8 1; setv 6; add; setv 5; end",
	"getv 5; end",
	"const8 1; end",
	/*
	 * A path leads around the addition, or a jump leads into the middle of it, or the addition
	 * is not reached.
	 */
	"reg 5; if_goto L; getv 5; const8 1; add; setv 5; end; L: end",
	"getv 5; const8 1; reg 5; if_goto L; const8 1; add; L: add; setv 5; end",
	"getv 5; const8 1; goto L; L: add; setv 5; end",
	"end; getv 5; const8 1; add; setv 5; end",
	"const8 0; const8 0; printf 0 \"x\"; getv 5; const8 1; add; setv 5; end",
};

static void test_taken(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
		u16 tsv = 0;

		assemble(taken[i]);
		if (!ax_adds_to(&t.v, &tsv) || tsv != N)
			fail_msg("%s: %u", taken[i], tsv);
	}
}

static void test_left(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(left); i++) {
		u16 tsv = 0;

		assemble(left[i]);
		if (ax_adds_to(&t.v, &tsv))
			fail_msg("%s", left[i]);
	}
}

/* Variables' numbers have two bytes. */
static void test_number(void **state)
{
	u16 tsv = 0;

	assemble("getv 0xfffe; const8 1; add; setv 0xfffe; end");
	assert_true(ax_adds_to(&t.v, &tsv));
	assert_int_equal(tsv, 0xfffe);
	assemble("getv 0; const8 1; add; setv 0; end");
	assert_true(ax_adds_to(&t.v, &tsv));
	assert_int_equal(tsv, 0);
}

/* Simulates an update by another CPU between an expression's getv and its setv. */
static struct axenv *racing;

static s64 racing_addv(void *ctx, u16 num, s64 by)
{
	racing->tsvs[0].value += 500;
	return axenv_ops.addv(ctx, num, by);
}

static struct axenv *world(void)
{
	static const u8 memory[64] = { 7 };
	struct axenv *e = axenv_new();

	axenv_tsv(e, N, INITIAL, false);
	axenv_tsv(e, OTHER, 3, false);
	axenv_map(e, 0x2000, memory, sizeof(memory));
	e->regs.rdi = 0x2000;
	e->regs.rsi = 9;
	return e;
}

static u64 evaluate(struct axenv *e)
{
	u64 result;

	axenv_reset(e);
	assert_int_equal(ax_interp(&t.v, &e->ax, &result), 0);
	return result;
}

static void test_same(void **state)
{
	u8 ways[16] = { [N] = AX_TSV_ADDED };
	struct axenv *e = world();
	struct ax_ops ops = axenv_ops;

	ops.addv = racing_addv;
	racing = e;
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
		u64 result;
		s64 value;

		assemble(taken[i]);
		assert_true(t.v.flags & AX_F_LOCKED);
		e->ax.ops = &axenv_ops;
		result = evaluate(e);
		value = e->tsvs[0].value;
		ax_settle_tsvs(&t.v, ways);
		assert_int_equal(t.v.flags & (AX_F_LOCKED | AX_F_ADDS), AX_F_ADDS);
		assert_int_equal(t.v.adds, N);
		assert_int_equal(evaluate(e), result);
		assert_int_equal(e->tsvs[0].value, value);
		assert_int_equal(e->tsvs[1].value, 3);
		e->ax.ops = &ops;
		evaluate(e);
		assert_int_equal(e->tsvs[0].value, value + 500);
	}
	axenv_free(e);
}

/*
 * ax_settle_tsvs() decides for each expression whether it needs the lock. Expressions of other
 * forms always need it. The decision can be made again, and reversed.
 */
static void test_settle(void **state)
{
	u8 ways[16] = { [N] = AX_TSV_ADDED };

	for (size_t i = 0; i < ARRAY_SIZE(left); i++) {
		u16 sets;

		assemble(left[i]);
		sets = t.v.flags & AX_F_LOCKED;
		ax_settle_tsvs(&t.v, ways);
		assert_int_equal(t.v.flags & (AX_F_LOCKED | AX_F_ADDS), sets);
	}
	assemble(taken[0]);
	ax_settle_tsvs(&t.v, ways);
	ways[N] = AX_TSV_CALL;
	ax_settle_tsvs(&t.v, ways);
	assert_int_equal(t.v.flags & (AX_F_LOCKED | AX_F_ADDS), AX_F_LOCKED);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),  cmocka_unit_test(test_left),
		cmocka_unit_test(test_number), cmocka_unit_test(test_same),
		cmocka_unit_test(test_settle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
