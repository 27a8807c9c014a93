// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests tables of call frame information: what tables are refused, exact look-ups, and the step
 * that each kind of rule describes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cfi_case.h"
#include <cmocka.h>

enum { ROWS = 4096 };

/* Open a heap copy of exactly the table's size, so that ASan detects a read past the end. */
static int open_copy(const struct cfi_case_file *f, struct gtp_cfi *t, u8 **copy, const char **why)
{
	*copy = malloc(f->len ? f->len : 1);
	memcpy(*copy, f->bytes, f->len);
	return gtp_cfi_open(t, *copy, f->len, why);
}

static u64 seed;

static u32 roll(u32 below)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (u32)(seed >> 33) % below;
}

/* --- tables --- */

static void look_ups(void **state)
{
	static const u32 steps[] = { 1, 3, 50, 4000, 100000 };
	static struct gtp_cfi_rule rule[7];
	static struct cfi_case_row row[ROWS];
	static struct cfi_case_file f;
	u32 i, round;

	for (i = 0; i < 7; i++)
		rule[i] = (struct gtp_cfi_rule){ GTP_CFI_SP, (u8)i, (u8)(2 * i), (u8)(3 * i),
						 -(s32)i };
	for (round = 0; round < ARRAY_SIZE(steps); round++) {
		u32 n = 0, at = 2 * CFI_CASE_PAGE, last = 0;
		u64 known[8] = { 0 };
		struct gtp_cfi t;
		const char *why;
		u8 *copy;

		for (seed = round; n < ROWS && at < 6 * CFI_CASE_PAGE;) {
			row[n++] = (struct cfi_case_row){ at, roll(7) };
			at += 1 + roll(steps[round]);
			if (at / CFI_CASE_PAGE != row[n - 1].offset / CFI_CASE_PAGE)
				at = (row[n - 1].offset / CFI_CASE_PAGE + 1) * CFI_CASE_PAGE;
		}
		cfi_case_make(&f, rule, 7, row, n);
		assert_int_equal(open_copy(&f, &t, &copy, &why), 0);
		/* The second time, an offset may be remembered. */
		if (round % 2)
			gtp_cfi_remember(&t, known, 3);
		for (at = 0; at < 7 * CFI_CASE_PAGE; at++) {
			struct gtp_cfi_rule found = gtp_cfi_find(&t, at);
			struct gtp_cfi_rule again = gtp_cfi_find(&t, at);
			u32 end = (row[n - 1].offset / CFI_CASE_PAGE + 1) * CFI_CASE_PAGE;

			while (last + 1 < n && row[last + 1].offset <= at)
				last++;
			if (at < row[0].offset || at >= end)
				assert_int_equal(found.kind, GTP_CFI_NONE);
			else
				assert_memory_equal(&found, &rule[row[last].rule], sizeof(found));
			assert_memory_equal(&again, &found, sizeof(found));
			gtp_cfi_find(&t, roll(7 * CFI_CASE_PAGE));
		}
		for (i = 0; i < 64; i++)
			assert_int_equal(gtp_cfi_find(&t, (1ULL << i) * 8 * CFI_CASE_PAGE).kind,
					 GTP_CFI_NONE);
		free(copy);
	}
}

static void head(void **state)
{
	static const struct gtp_cfi_rule rule[] = { { .kind = GTP_CFI_SP } };
	static const struct cfi_case_row row[] = { { 0, 0 } };
	static struct cfi_case_file f;
	struct gtp_cfi t;
	const char *why;
	const u8 *id;
	u8 *copy;

	cfi_case_make(&f, rule, 1, row, 1);
	assert_int_equal(open_copy(&f, &t, &copy, &why), 0);
	assert_int_equal(gtp_cfi_build_id(&t, &id), 20);
	assert_int_equal(id[0], 0xab);
	assert_int_equal(id[19], 0xab);
	free(copy);
}

/* The rules of the four rows are at 92 to 107, after three pages at 64 and two rules at 76. */
static const struct {
	u32 at, value;
	const char *why;
} damage[] = {
	{ 0, 0x47505448, "another version" },
	{ 16, 32, "build-id is too long" },
	{ 48, 0xffff, "too many pages" },
	{ 52, 0, "too many pages" },
	{ 52, 65537, "too many pages" },
	{ 52, 1, "another size" },
	{ 56, 3, "another size" },
	{ 56, 0x40000004, "another size" },
	{ 60, 3, "another size" },
	{ 60, 65537, "too many pages or rules" },
	{ 64, 1, "do not have all" },
	{ 68, 0, "no rows, or other rows" },
	{ 68, 4, "not in order" },
	{ 68, 1, "first byte" },
	{ 68, 3, "not in order" },
	{ 68, 1 << 30, "no rows, or other rows" },
	{ 72, 3, "do not have all" },
	{ 76, GTP_CFI_KINDS, "unknown kind" },
	{ 92, 1, "first byte" },
	{ 96, 0 | 1 << 16, "not in order" },
	{ 96, 5 | 2 << 16, "does not exist" },
	{ 104, 0, "not in order" },
};

static void refusals(void **state)
{
	static const struct gtp_cfi_rule rule[] = { { .kind = GTP_CFI_NONE },
						    { .kind = GTP_CFI_SP } };
	static const struct cfi_case_row row[] = { { CFI_CASE_PAGE, 0 },
						   { CFI_CASE_PAGE + 5, 1 },
						   { 2 * CFI_CASE_PAGE, 0 },
						   { 2 * CFI_CASE_PAGE + 9, 1 } };
	static struct cfi_case_file f;
	struct gtp_cfi t;
	const char *why;
	u8 *copy;
	u32 i;

	cfi_case_make(&f, rule, 2, row, 4);
	assert_int_equal(f.len, 108);
	for (i = 0; i < ARRAY_SIZE(damage); i++) {
		cfi_case_make(&f, rule, 2, row, 4);
		cfi_case_put32(&f, damage[i].at, damage[i].value);
		cfi_case_seal(&f);
		assert_int_equal(open_copy(&f, &t, &copy, &why), -EINVAL);
		if (!strstr(why, damage[i].why))
			fail_msg("damage %u: %s", i, why);
		free(copy);
	}
	for (i = 0; i < 108; i++) {
		cfi_case_make(&f, rule, 2, row, 4);
		f.len = i;
		if (i >= 16)
			cfi_case_seal(&f);
		assert_int_equal(open_copy(&f, &t, &copy, &why), -EINVAL);
		free(copy);
	}
	cfi_case_make(&f, rule, 2, row, 4);
	f.bytes[90] ^= 1;
	assert_int_equal(open_copy(&f, &t, &copy, &why), -EINVAL);
	assert_string_equal(why, "its checksum is wrong");
	free(copy);
	cfi_case_make(&f, rule, 2, row, 4);
	cfi_case_put32(&f, 8, 107);
	assert_int_equal(open_copy(&f, &t, &copy, &why), -EINVAL);
	assert_non_null(strstr(why, "size"));
	free(copy);
}

static const struct gtp_cfi_memory memory = { cfi_case_read, NULL };

static int clean(void **state)
{
	cfi_case_clean();
	return 0;
}

/* --- steps --- */

static struct gtp_cfi_regs regs;

static enum gtp_cfi_step step(struct gtp_cfi_rule rule)
{
	return gtp_cfi_step(&rule, &regs, &memory);
}

static void begin(u32 sp, u32 bp)
{
	regs = (struct gtp_cfi_regs){ .pc = 0x555500000123,
				      .sp = cfi_case_at(sp),
				      .bp = cfi_case_at(bp),
				      .bx = cfi_case_at(bp + 20) };
}

static void reaches(u32 word)
{
	assert_true(regs.pc == cfi_case_stack[word]);
	assert_true(regs.sp == cfi_case_at(word + 1));
	assert_true(regs.is_return);
}

static void each_kind(void **state)
{
	u32 i;

	for (i = 0; i < CFI_CASE_WORDS; i++)
		cfi_case_stack[i] = 0x600000 + i;
	begin(10, 50);
	assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_SP, 0, 0, 0, 24 }), GTP_CFI_CALLER);
	reaches(12);
	assert_true(regs.bp == cfi_case_at(50) && regs.bx == cfi_case_at(70) && !regs.lost);
	begin(10, 50);
	assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_BP, 2, 3, 0, 16 }), GTP_CFI_CALLER);
	reaches(51);
	assert_true(regs.bp == cfi_case_stack[50] && regs.bx == cfi_case_stack[49]);
	begin(10, 50);
	assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_BX, 4, 0, 0, -8 }), GTP_CFI_CALLER);
	reaches(68);
	assert_true(regs.bp == cfi_case_stack[65] && regs.bx == cfi_case_at(70));
	/* The CFA is in a word of the frame; registers are relative to rbp then. */
	begin(10, 50);
	cfi_case_stack[48] = cfi_case_at(90);
	assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_AT_BP, 1, 6, 1, -16 }),
			 GTP_CFI_CALLER);
	reaches(90);
	assert_true(regs.bp == cfi_case_stack[50] && regs.bx == cfi_case_stack[45]);
	begin(10, 50);
	cfi_case_stack[13] = cfi_case_at(80);
	assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_AT_SP, 2, 0, 2, 24 }), GTP_CFI_CALLER);
	reaches(81);
	assert_true(regs.bp == cfi_case_stack[80]);
	for (i = 0; i < 16; i++) {
		begin(10, 50);
		regs.pc = 0x555500000000 + i;
		assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_PLT, 0, 0, 0, 11 }),
				 GTP_CFI_CALLER);
		reaches(i < 11 ? 10 : 11);
	}
	begin(10, 50);
	assert_int_equal(step((struct gtp_cfi_rule){ .kind = GTP_CFI_END }), GTP_CFI_OUTERMOST);
	assert_int_equal(step((struct gtp_cfi_rule){ .kind = GTP_CFI_UNKNOWN }), GTP_CFI_NOWHERE);
}

/* A register that is lost cannot be a base, until a frame has saved it again. */
static void lost_registers(void **state)
{
	static const struct gtp_cfi_rule bp = { GTP_CFI_BP, 2, 0, 0, 16 },
					 bx = { GTP_CFI_BX, 0, 0, 0, 16 },
					 at_bp = { GTP_CFI_AT_BP, 1, 0, 0, -8 };

	begin(10, 50);
	assert_int_equal(
		step((struct gtp_cfi_rule){ GTP_CFI_SP, GTP_CFI_LOST, GTP_CFI_LOST, 0, 8 }),
		GTP_CFI_CALLER);
	assert_int_equal(regs.lost, GTP_CFI_BP_LOST | GTP_CFI_BX_LOST);
	assert_int_equal(step(bp), GTP_CFI_NOWHERE);
	assert_int_equal(step(bx), GTP_CFI_NOWHERE);
	assert_int_equal(step(at_bp), GTP_CFI_NOWHERE);
	cfi_case_stack[12] = cfi_case_at(60);
	assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_SP, 3, 0, 0, 32 }), GTP_CFI_CALLER);
	assert_int_equal(regs.lost, GTP_CFI_BX_LOST);
	assert_int_equal(step(bp), GTP_CFI_CALLER);
	/* A saved register that cannot be read is lost, too. */
	begin(0, 50);
	assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_SP, 9, 0, 0, 16 }), GTP_CFI_CALLER);
	assert_int_equal(regs.lost, GTP_CFI_BP_LOST);
}

/* Each frame is above the previous one; addresses that no program has are not read. */
static void bad_frames(void **state)
{
	const u64 bad[] = { cfi_case_at(9),
			    cfi_case_at(10),
			    cfi_case_at(5),
			    cfi_case_at(12) + 4,
			    0,
			    7,
			    8,
			    CFI_CASE_KERNEL,
			    ~0ULL,
			    ~0ULL - 7,
			    1ULL << 56,
			    cfi_case_at(CFI_CASE_WORDS) + 8,
			    cfi_case_at(CFI_CASE_WORDS + 1) };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		begin(10, 50);
		regs.bp = bad[i];
		assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_BP, 0, 0, 0, 0 }),
				 GTP_CFI_NOWHERE);
		regs.bx = bad[i];
		assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_BX, 0, 0, 0, 0 }),
				 GTP_CFI_NOWHERE);
		cfi_case_stack[20] = bad[i];
		assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_AT_SP, 0, 0, 0, 80 }),
				 GTP_CFI_NOWHERE);
		regs.sp = bad[i] == cfi_case_at(9) || bad[i] == cfi_case_at(10) ||
					  bad[i] == cfi_case_at(5) ?
				  CFI_CASE_KERNEL :
				  bad[i];
		regs.bp = bad[i];
		assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_SP, 0, 0, 0, 0 }),
				 GTP_CFI_NOWHERE);
		assert_int_equal(step((struct gtp_cfi_rule){ .kind = GTP_CFI_SIGNAL }),
				 GTP_CFI_NOWHERE);
	}
	begin(10, 50);
	assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_SP, 0, 0, 0, 0 }), GTP_CFI_NOWHERE);
	assert_int_equal(step((struct gtp_cfi_rule){ GTP_CFI_SP, 0, 0, 0, -8 }), GTP_CFI_NOWHERE);
}

static void a_signal(void **state)
{
	begin(10, 50);
	regs.is_return = true;
	regs.lost = GTP_CFI_BX_LOST;
	/* The handler ran on another stack, above the one that was interrupted. */
	cfi_case_signal(10, 0x4711, cfi_case_at(3), 0xb9, 0xb3);
	assert_int_equal(step((struct gtp_cfi_rule){ .kind = GTP_CFI_SIGNAL }), GTP_CFI_CALLER);
	assert_true(regs.pc == 0x4711 && regs.sp == cfi_case_at(3) && regs.bp == 0xb9 &&
		    regs.bx == 0xb3);
	assert_false(regs.is_return);
	assert_int_equal(regs.lost, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(look_ups),
		cmocka_unit_test(head),
		cmocka_unit_test(refusals),
		cmocka_unit_test_setup(each_kind, clean),
		cmocka_unit_test_setup(lost_registers, clean),
		cmocka_unit_test_setup(bad_frames, clean),
		cmocka_unit_test_setup(a_signal, clean),
	};

	return cmocka_run_group_tests_name("cfi", tests, NULL, NULL);
}
