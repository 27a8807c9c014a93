// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests stacks of programs that are found by tables of call frame information: several files, code
 * without a rule, signals, and where stacks end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cfi_case.h"
#include "hit/ustack.h"
#include <cmocka.h>

/* --- a program that maps two files --- */

static const u64 MAIN = 0x555500000000, LIB = 0x7f0000000000;
static const u64 SPACE = 0x4700001000000000;
static struct gtp_cfi main_table, lib_table;
static struct cfi_case_file main_file, lib_file;
static u32 asked;

static const u64 JIT = 0x7fff00000000; /* code in no file */

/* Both files are mapped from page 1 of theirs on; the library has a space. */
static bool find(void *ctx, u64 addr, struct gtp_ustack_map *map)
{
	asked++;
	if (addr - MAIN < CFI_CASE_TEXT) {
		*map = (struct gtp_ustack_map){ MAIN, CFI_CASE_TEXT, CFI_CASE_PAGE, &main_table,
						0 };
		return true;
	}
	if (addr - LIB < CFI_CASE_TEXT) {
		*map = (struct gtp_ustack_map){ LIB, CFI_CASE_TEXT, CFI_CASE_PAGE, &lib_table,
						SPACE - LIB };
		return true;
	}
	*map = (struct gtp_ustack_map){ JIT, CFI_CASE_TEXT, 0, NULL, 0 };
	return addr - JIT < CFI_CASE_TEXT;
}

static int clean(void **state)
{
	static const struct gtp_cfi_rule none = { .kind = GTP_CFI_NONE };
	static const struct cfi_case_row row = { CFI_CASE_PAGE, 0 };
	const char *why;

	cfi_case_clean();
	cfi_case_make(&main_file, &none, 1, &row, 1);
	cfi_case_make(&lib_file, &none, 1, &row, 1);
	assert_int_equal(gtp_cfi_open(&main_table, main_file.bytes, main_file.len, &why), 0);
	assert_int_equal(gtp_cfi_open(&lib_table, lib_file.bytes, lib_file.len, &why), 0);
	asked = 0;
	return 0;
}

/* --- stacks --- */

static void make_tables(const struct gtp_cfi_rule *rule, u32 rules,
			const struct cfi_case_row *in_main, u32 n_main,
			const struct cfi_case_row *in_lib, u32 n_lib)
{
	const char *why;

	cfi_case_make(&main_file, rule, rules, in_main, n_main);
	cfi_case_make(&lib_file, rule, rules, in_lib, n_lib);
	assert_int_equal(gtp_cfi_open(&main_table, main_file.bytes, main_file.len, &why), 0);
	assert_int_equal(gtp_cfi_open(&lib_table, lib_file.bytes, lib_file.len, &why), 0);
}

/* Print an address; one in the library must be in the library's space. */
static int print_word(char *to, u64 word)
{
	if (word - SPACE < CFI_CASE_TEXT)
		return sprintf(to, "lib+%llx ", word - SPACE);
	if (word - MAIN < CFI_CASE_TEXT)
		return sprintf(to, "main+%llx ", word - MAIN);
	return sprintf(to, "%llx ", word);
}

static const char *taken(struct gtp_ustack_from from)
{
	static char line[64 * GTP_USTACK_WORDS];
	u64 to[GTP_USTACK_WORDS];
	char *p = line;
	bool cut;
	u32 n, i;

	from.whose = 0x75ULL << 56;
	from.find = find;
	n = gtp_ustack_take(&from, cfi_case_read, NULL, to, &cut);
	*p = '\0';
	for (i = 0; i + 1 < n; i++)
		p += print_word(p, to[i]);
	if (cut)
		sprintf(p, "cut");
	assert_true(to[n - 1] == from.whose);
	return line;
}

/* Rule 1 is a function's first instruction, 2 after one push, 3 the outermost function. */
static const struct gtp_cfi_rule rules[] = {
	{ .kind = GTP_CFI_NONE },
	{ .kind = GTP_CFI_SP, .offset = 8 },
	{ .kind = GTP_CFI_SP, .offset = 16, .bp = 2 },
	{ .kind = GTP_CFI_END },
	{ .kind = GTP_CFI_BP, .offset = 16, .bp = 2 },
	{ .kind = GTP_CFI_SIGNAL },
	{ .kind = GTP_CFI_UNKNOWN },
};

/*
 * The library's functions are at 0 and 0x200, the program's at 0x100 and 0x200; 0x300 has no rule.
 */
static const struct cfi_case_row main_rows[] = {
	{ CFI_CASE_PAGE, 0 },	      { CFI_CASE_PAGE + 0x100, 1 }, { CFI_CASE_PAGE + 0x110, 2 },
	{ CFI_CASE_PAGE + 0x200, 3 }, { CFI_CASE_PAGE + 0x300, 0 }, { CFI_CASE_PAGE + 0x500, 4 }
};

static const struct cfi_case_row lib_rows[] = { { CFI_CASE_PAGE, 1 },
						{ CFI_CASE_PAGE + 1, 2 },
						{ CFI_CASE_PAGE + 0x200, 4 },
						{ CFI_CASE_PAGE + 0x2ff, 5 },
						{ CFI_CASE_PAGE + 0x310, 6 } };

static void two_files(void **state)
{
	struct gtp_ustack_from from = { .pc = LIB, .sp = cfi_case_at(0), .bp = 0xbb };

	make_tables(rules, 7, main_rows, 6, lib_rows, 5);
	cfi_case_stack[0] = MAIN + 0x150;
	cfi_case_stack[1] = 0xb1;
	cfi_case_stack[2] = MAIN + 0x180;
	cfi_case_stack[3] = cfi_case_at(10);
	cfi_case_stack[4] = LIB + 0x240;
	cfi_case_stack[11] = MAIN + 0x222;
	/* The addresses in the library are those of its space, as it has one. */
	assert_string_equal(taken(from), "lib+0 main+150 main+180 lib+240 main+222 ");
	/* Each mapping is looked up once. */
	assert_int_equal(asked, 2);
	/* A call that is a function's last instruction returns to the next function. */
	cfi_case_stack[4] = LIB + 0x2ff;
	assert_string_equal(taken(from), "lib+0 main+150 main+180 lib+2ff main+222 ");
	cfi_case_stack[2] = MAIN + 0x200;
	assert_string_equal(taken(from), "lib+0 main+150 main+200 lib+2ff main+222 ");
	/* The instruction that was hit is the first one of the next function. */
	from.pc = MAIN + 0x200;
	assert_string_equal(taken(from), "main+200 ");
}

/* Code without rules is followed by frame pointers; the table takes over again after it. */
static void without_a_rule(void **state)
{
	struct gtp_ustack_from from = { .pc = LIB + 0x50,
					.sp = cfi_case_at(0),
					.bp = cfi_case_at(6) };

	make_tables(rules, 7, main_rows, 6, lib_rows, 5);
	cfi_case_stack[0] = cfi_case_at(6);
	cfi_case_stack[1] = MAIN + 0x350;
	cfi_case_stack[6] = cfi_case_at(9);
	cfi_case_stack[7] = LIB + 0x250;
	cfi_case_stack[9] = 0;
	cfi_case_stack[10] = MAIN + 0x210;
	/* The return address is not after a call. */
	assert_string_equal(taken(from), "lib+50 main+350 0 ");
	cfi_case_code[0x24b] = 0xe8;
	assert_string_equal(taken(from), "lib+50 main+350 lib+250 main+210 ");
	/* In no file: the same, and this code need not follow a call. */
	cfi_case_code[0x24b] = 0x90;
	cfi_case_stack[1] = JIT + 0x350;
	assert_string_equal(taken(from), "lib+50 7fff00000350 lib+250 main+210 ");
	/* The frame pointer is lost. */
	cfi_case_stack[0] = 0xb1;
	assert_string_equal(taken(from), "lib+50 7fff00000350 0 ");
}

static void ends(void **state)
{
	struct gtp_ustack_from from = { .pc = LIB + 0x50, .sp = cfi_case_at(0), .bp = 0 };

	make_tables(rules, 7, main_rows, 6, lib_rows, 5);
	cfi_case_stack[1] = 0;
	assert_string_equal(taken(from), "lib+50 ");
	cfi_case_stack[1] = CFI_CASE_KERNEL;
	assert_string_equal(taken(from), "lib+50 0 ");
	cfi_case_stack[1] = LIB + 0x320;
	assert_string_equal(taken(from), "lib+50 lib+320 0 ");
	/* No code is there, or the mapping cannot be read; a frame is not looked for. */
	from.bp = cfi_case_at(6);
	cfi_case_stack[0] = cfi_case_at(6);
	cfi_case_stack[1] = JIT + CFI_CASE_TEXT + 1;
	cfi_case_stack[7] = LIB + 0x240;
	assert_string_equal(taken(from), "lib+50 7fff00001001 0 ");
	from.sp = CFI_CASE_KERNEL;
	assert_string_equal(taken(from), "lib+50 0 ");
	from.sp = cfi_case_at(CFI_CASE_WORDS - 1);
	assert_string_equal(taken(from), "lib+50 0 ");
}

/*
 * A handler returns to 0x300 of the library, which the table knows. The instruction that the signal
 * interrupted is the first one of a function, and no call is before it.
 */
static void by_signals(void **state)
{
	struct gtp_ustack_from from = { .pc = LIB, .sp = cfi_case_at(100), .bp = 0 };
	static const u8 restorer[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	static const u8 shorter[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };

	make_tables(rules, 7, main_rows, 6, lib_rows, 5);
	cfi_case_stack[100] = LIB + 0x300;
	cfi_case_signal(101, MAIN + 0x100, cfi_case_at(0), cfi_case_at(2), 0);
	cfi_case_stack[0] = MAIN + 0x210;
	assert_string_equal(taken(from), "lib+0 lib+300 main+100 main+210 ");
	/* The same where only the code shows that a handler returns to it. */
	from.pc = LIB + 0x50;
	from.sp = cfi_case_at(99);
	cfi_case_stack[100] = LIB + 0x800;
	lib_file.bytes[lib_file.rows_at + 4 * 4 + 2] = 0;
	cfi_case_seal(&lib_file);
	memcpy(cfi_case_code + 0x800, restorer, sizeof(restorer));
	cfi_case_stack[99] = cfi_case_at(300);
	assert_string_equal(taken(from), "lib+50 lib+800 main+100 main+210 ");
	memcpy(cfi_case_code + 0x800, shorter, sizeof(shorter));
	assert_string_equal(taken(from), "lib+50 lib+800 main+100 main+210 ");
	cfi_case_code[0x801] = 14;
	assert_string_equal(taken(from), "lib+50 lib+800 ");
}

/* Signals that lead from one stack to the other and back end at the greatest depth. */
static void endless_signals(void **state)
{
	struct gtp_ustack_from from = { .pc = LIB + 0x300 - 1, .sp = cfi_case_at(0) };
	u32 i, n = 0;
	const char *text;

	make_tables(rules, 7, main_rows, 6, lib_rows, 5);
	cfi_case_signal(0, LIB + 0x300 - 1, cfi_case_at(0), 0, 0);
	text = taken(from);
	for (i = 0; text[i]; i++)
		n += text[i] == ' ';
	assert_int_equal(n, GTP_USTACK_DEPTH);
	assert_string_equal(text + strlen(text) - 3, "cut");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(two_files, clean),
		cmocka_unit_test_setup(without_a_rule, clean),
		cmocka_unit_test_setup(ends, clean),
		cmocka_unit_test_setup(by_signals, clean),
		cmocka_unit_test_setup(endless_signals, clean),
	};

	return cmocka_run_group_tests_name("cfi_stack", tests, NULL, NULL);
}
