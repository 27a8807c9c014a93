// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the parser of the list of a function's exits. It refuses a wrong list, and names the
 * column.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "probe/user/exits.h"

static struct gtp_exit exits[GTP_EXITS_MOST];

/*
 * parsed - parse @text with and without storing the exits, and expect equal results; return the
 * number of exits; @at receives the column at which parsing ended
 */
static u32 parsed(const char *text, u32 *at)
{
	struct gtp_in counted, in;
	u32 n;

	gtp_in_init(&counted, text, strlen(text));
	gtp_in_init(&in, text, strlen(text));
	n = gtp_exits_parse(&counted, NULL);
	assert_int_equal(gtp_exits_parse(&in, exits), n);
	assert_int_equal(gtp_in_column(&in), gtp_in_column(&counted));
	*at = gtp_in_column(&in);
	return n;
}

static void lists(void **state)
{
	u32 at;

	assert_int_equal(parsed("r11a9", &at), 1);
	assert_int_equal(exits[0].kind, GTP_EXIT_RETURN);
	assert_int_equal(exits[0].addr, 0x11a9);
	assert_int_equal(parsed("s1,j2,rffffffff", &at), 3);
	assert_int_equal(exits[0].kind, GTP_EXIT_SHARED);
	assert_int_equal(exits[1].kind, GTP_EXIT_JUMP);
	assert_int_equal(exits[2].addr, 0xffffffff);
}

static void wrong(void **state)
{
	static const struct {
		const char *text;
		u32 at;
	} cases[] = {
		{ "", 1 },  { "r", 2 },	    { "x1", 1 },  { "r1,", 4 },
		{ "1", 1 }, { "r1;r2", 3 }, { "r1 ", 3 }, { "r11112222333344445", 2 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		u32 at;

		assert_int_equal(parsed(cases[i].text, &at), 0);
		assert_int_equal(at, cases[i].at);
	}
}

static void as_many_as_may_be(void **state)
{
	char text[3 * GTP_EXITS_MOST + 3];
	u32 at, i;

	for (i = 0; i <= GTP_EXITS_MOST; i++)
		memcpy(text + 3 * i, "r1,", 3);
	text[3 * GTP_EXITS_MOST - 1] = '\0';
	assert_int_equal(parsed(text, &at), GTP_EXITS_MOST);
	text[3 * GTP_EXITS_MOST - 1] = ',';
	text[3 * GTP_EXITS_MOST + 2] = '\0';
	assert_int_equal(parsed(text, &at), 0);
}

static void instructions(void **state)
{
	static const struct {
		const char *code;
		bool returns, jumps;
	} cases[] = {
		{ "c3", true, false },	       { "f3c3", true, false },
		{ "f2c3", true, false },       { "c20800", true, false },
		{ "e900000000", false, true }, { "eb00", false, true },
		{ "ffe0", false, true },       { "3effe0", false, true },
		{ "41ffe4", false, true },     { "ff2500000000", false, true },
		{ "ffd0", false, false },      { "ff", false, false },
		{ "48c3", true, false },       { "90", false, false },
		{ "f3", false, false },	       { "", false, false },
		{ "cb", false, false },	       { "e800000000", false, false },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		u32 n = (u32)strlen(cases[i].code) / 2, k;
		u8 code[8], *exact = malloc(n ? n : 1);

		for (k = 0; k < n; k++) {
			const char digits[] = { cases[i].code[2 * k], cases[i].code[2 * k + 1],
						'\0' };

			code[k] = (u8)strtoul(digits, NULL, 16);
		}
		/* Use a copy of exactly this size, so that ASan sees a read past the end. */
		memcpy(exact, code, n);
		assert_int_equal(gtp_exits_is(GTP_EXIT_RETURN, exact, n), cases[i].returns);
		assert_int_equal(gtp_exits_is(GTP_EXIT_SHARED, exact, n), cases[i].returns);
		assert_int_equal(gtp_exits_is(GTP_EXIT_JUMP, exact, n), cases[i].jumps);
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(wrong),
		cmocka_unit_test(as_many_as_may_be),
		cmocka_unit_test(instructions),
	};

	return cmocka_run_group_tests_name("exits", tests, NULL, NULL);
}
