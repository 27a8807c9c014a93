// SPDX-License-Identifier: GPL-2.0-only
/* Untrusted text is printed without characters that control a terminal; letters are unchanged. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include "tools/run/text.h"
#include <cmocka.h>

/* Return the printed form of a text. The buffer is static, so the caller must compare at once. */
static const char *shown(const char *text, size_t len)
{
	static char *bytes;
	size_t size;
	FILE *to;

	free(bytes);
	bytes = NULL;
	to = open_memstream(&bytes, &size);
	assert_non_null(to);
	text_put(to, text, len);
	assert_int_equal(fclose(to), 0);
	return bytes;
}

#define SHOWN(text) shown(text, sizeof(text) - 1)

static void letters_stay(void **state)
{
	assert_string_equal(SHOWN("6.1.0-56-amd64 \\ ~"), "6.1.0-56-amd64 \\ ~");
	assert_string_equal(SHOWN("gr\303\274n \320\277\321\200 \342\202\254 \360\237\220\247"),
			    "gr\303\274n \320\277\321\200 \342\202\254 \360\237\220\247");
}

static void controls(void **state)
{
	assert_string_equal(SHOWN("a\033[2J\nb\t\r\7\177"), "a\\033[2J\\nb\\t\\r\\a\\177");
	assert_string_equal(SHOWN("a\0b"), "a\\000b");
	assert_string_equal(SHOWN("\302\233m"), "\\302\\233m");		     /* C1's CSI */
	assert_string_equal(SHOWN("\342\200\256gpj"), "\\342\\200\\256gpj"); /* right to left */
	assert_string_equal(SHOWN("\342\201\246x"), "\\342\\201\\246x");     /* an isolate */
	assert_string_equal(SHOWN("\342\200\250x"), "\\342\\200\\250x");     /* a line end */
}

static void no_utf8(void **state)
{
	assert_string_equal(SHOWN("\377\200"), "\\377\\200");
	assert_string_equal(SHOWN("\303"), "\\303"); /* an incomplete character */
	assert_string_equal(SHOWN("\303x"), "\\303x");
	assert_string_equal(SHOWN("\300\233"), "\\300\\233"); /* overlong */
	assert_string_equal(SHOWN("\340\200\233"), "\\340\\200\\233");
	assert_string_equal(SHOWN("\355\240\200"), "\\355\\240\\200"); /* a surrogate */
	assert_string_equal(SHOWN("\364\220\200\200"),
			    "\\364\\220\\200\\200"); /* beyond U+10FFFF */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_stay),
		cmocka_unit_test(controls),
		cmocka_unit_test(no_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
