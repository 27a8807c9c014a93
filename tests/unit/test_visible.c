// SPDX-License-Identifier: GPL-2.0-only
/* Names keep visible characters; each byte of other characters becomes a question mark. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/visible.h"

/* Return the visible part of a text. The buffer is static, so the caller must compare at once. */
static const char *only(const char *text)
{
	static char bytes[80];

	snprintf(bytes, sizeof(bytes), "%s", text);
	gtp_visible_only(bytes);
	return bytes;
}

static void letters_stay(void **state)
{
	assert_string_equal(only("/usr/bin/x y~"), "/usr/bin/x y~");
	assert_string_equal(only("gr\303\274n \342\202\254 \360\237\220\247"),
			    "gr\303\274n \342\202\254 \360\237\220\247");
	assert_string_equal(only(""), "");
}

static void controls_do_not(void **state)
{
	assert_string_equal(only("a\033[2J\nb\177"), "a?[2J?b?");
	assert_string_equal(only("\302\2332J"), "??2J");	 /* C1's CSI */
	assert_string_equal(only("\342\200\256x"), "???x");	 /* right to left */
	assert_string_equal(only("\357\277\276"), "???");	 /* XML has no U+FFFE */
	assert_string_equal(only("\355\240\200"), "???");	 /* a surrogate */
	assert_string_equal(only("\377x\300\233\303"), "?x???"); /* not UTF-8, overlong, cut off */
}

static void nothing_without_a_glyph(void **state)
{
	/* For instance a Hangul filler, a Khmer vowel, a variation selector, a musical control. */
	static const char *const unseen[] = {
		"\315\217",	"\341\205\237", "\343\205\244",	    "\357\276\240",
		"\341\236\264", "\341\240\217", "\357\270\217",	    "\360\235\205\263",
		"\341\232\200", "\343\200\200", "\360\223\220\270", "\363\240\201\201",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(unseen); i++)
		if (gtp_visible_length(unseen[i], strlen(unseen[i])))
			fail_msg("character %u is taken for a visible one", i);
}

static void no_byte_after_the_end(void **state)
{
	/* The third byte would complete the character. */
	assert_int_equal(gtp_visible_length("\342\202\254", 2), 0);
	assert_int_equal(gtp_visible_length("\342\202\254", 3), 3);
	assert_int_equal(gtp_visible_length("a", 1), 1);
	assert_int_equal(gtp_visible_length("\0", 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_stay),
		cmocka_unit_test(controls_do_not),
		cmocka_unit_test(nothing_without_a_glyph),
		cmocka_unit_test(no_byte_after_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
