// SPDX-License-Identifier: GPL-2.0-only
/* Comparing names of symbols, with and without the suffixes that compilers add. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "probe/policy/symbol_name.h"

static const char *plain(const char *symbol)
{
	static char buf[64];

	gtp_symbol_plain(buf, sizeof(buf), symbol);
	return buf;
}

static void names(void **state)
{
	assert_string_equal(plain("cpu_init+0x5/0x20"), "cpu_init+0x5/0x20");
	assert_string_equal(plain("cpu_init.part.0+0x5/0x20"), "cpu_init+0x5/0x20");
	assert_string_equal(plain("mod_find.isra.0.cold+0x0/0x1"), "mod_find+0x0/0x1");
	assert_string_equal(plain("native_write_msr.constprop.0+0x5/0x20 [a.b]"),
			    "native_write_msr+0x5/0x20 [a.b]");
	assert_string_equal(plain("f.llvm.1234+0x5/0x20 [kvm]"), "f+0x5/0x20 [kvm]");
	assert_string_equal(plain("0xffffffff81000000"), "0xffffffff81000000");
	assert_string_equal(plain(""), "");
}

static void little_room(void **state)
{
	char buf[8];

	gtp_symbol_plain(buf, sizeof(buf), "memset.part.0+0x5/0x20");
	assert_string_equal(buf, "memset+");
	gtp_symbol_plain(buf, 1, "memset");
	assert_string_equal(buf, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(little_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
