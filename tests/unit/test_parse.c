// SPDX-License-Identifier: GPL-2.0-only
/* Packets are parsed within their bounds, and a refusal names the column. */
#include <setjmp.h>
#include <stdlib.h>
#include "base/parse.h"
#include <cmocka.h>

/* Return a parser of a heap copy of the exact size, so that ASan detects a read past the end. */
static struct gtp_in in_of(const char *text)
{
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1);
	struct gtp_in in;

	memcpy(copy, text, len);
	gtp_in_init(&in, copy, len);
	return in;
}

static void in_free(struct gtp_in *in)
{
	free((void *)in->start);
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		bool ok64, ok32;
		u64 value;
		u32 taken;
	} rows[] = {
		{ "", false, false, 0, 0 },
		{ ":1", false, false, 0, 0 },
		{ "-1", false, false, 0, 0 },
		{ "0", true, true, 0, 1 },
		{ "1f:", true, true, 0x1f, 2 },
		{ "DeadBeef,", true, true, 0xdeadbeef, 8 },
		{ "100000000", true, false, 0x100000000, 9 },
		{ "ffffffffffffffff", true, false, ~0ULL, 16 },
		{ "0000000000000000000001", true, true, 1, 22 },
		{ "10000000000000000", false, false, 0, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct gtp_in in = in_of(rows[i].text);
		u64 v = 0;
		u32 w = 0;

		assert_int_equal(gtp_in_hex64(&in, &v), rows[i].ok64);
		assert_int_equal(in.p - in.start, rows[i].taken);
		assert_true(v == rows[i].value);
		in.p = in.start;
		assert_int_equal(gtp_in_hex32(&in, &w), rows[i].ok32);
		assert_int_equal(in.p - in.start, rows[i].ok32 ? rows[i].taken : 0);
		assert_int_equal(w, rows[i].ok32 ? rows[i].value : 0);
		in_free(&in);
	}
}

static void pieces(void **state)
{
	struct gtp_in in = in_of("QT:ab12;x");
	const char *from;
	u8 bytes[2];

	in.skipped = 4;
	assert_false(gtp_in_char(&in, 'x'));
	assert_false(gtp_in_word(&in, "QT:ab12;xy"));
	assert_true(gtp_in_word(&in, "QT"));
	assert_int_equal(gtp_in_peek(&in), ':');
	assert_int_equal(gtp_in_column(&in), 7);
	assert_true(gtp_in_char(&in, ':'));
	assert_false(gtp_in_bytes(&in, bytes, 3));
	assert_false(gtp_in_bytes(&in, bytes, (size_t)-1));
	assert_true(gtp_in_bytes(&in, bytes, 2));
	assert_int_equal(bytes[0], 0xab);
	assert_int_equal(bytes[1], 0x12);
	assert_int_equal(gtp_in_until(&in, 'x', &from), 1);
	assert_int_equal(*from, ';');
	assert_int_equal(gtp_in_left(&in), 1);
	assert_int_equal(gtp_in_rest(&in, &from), 1);
	assert_true(gtp_in_end(&in));
	assert_int_equal(gtp_in_peek(&in), '\0');
	assert_false(gtp_in_char(&in, '\0'));
	assert_int_equal(gtp_in_until(&in, 'x', &from), 0);
	in_free(&in);
}

static void hex(void **state)
{
	u8 bytes[4] = { 1, 2, 3, 4 };
	char text[9] = "........";

	assert_int_equal(gtp_hex_encode(text, bytes, 2), 4);
	assert_string_equal(text, "0102....");
	assert_int_equal(gtp_hex_decode(bytes, 4, "fFa0", 4), 2);
	assert_int_equal(bytes[0], 0xff);
	assert_int_equal(bytes[1], 0xa0);
	assert_int_equal(gtp_hex_decode(bytes, 4, "", 0), 0);
	assert_int_equal(gtp_hex_decode(bytes, 4, "abc", 3), -EINVAL);
	assert_int_equal(gtp_hex_decode(bytes, 4, "0g", 2), -EINVAL);
	assert_int_equal(gtp_hex_decode(bytes, 1, "0102", 4), -E2BIG);
	assert_int_equal(bytes[0], 0xff);
	assert_true(gtp_hex_is("", 0));
	assert_false(gtp_hex_is("a", 1));
}

static void output_is_cut(void **state)
{
	char *buf = malloc(6);
	struct gtp_out out;

	gtp_out_init(&out, buf, 6);
	gtp_out_printf(&out, "%x", 0xabc);
	gtp_out_text(&out, "d", 1);
	assert_false(out.cut);
	gtp_out_hex(&out, "\x12", 1);
	assert_true(out.cut);
	assert_string_equal(buf, "abcd");
	gtp_out_printf(&out, "%s", "efg");
	assert_string_equal(buf, "abcde");
	gtp_out_text(&out, "x", 1);
	assert_int_equal(out.len, 5);
	assert_string_equal(buf, "abcde");
	free(buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(pieces),
		cmocka_unit_test(hex),
		cmocka_unit_test(output_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
