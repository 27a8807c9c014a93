// SPDX-License-Identifier: GPL-2.0-only
/* The wait of a continue: what is printed before it ends. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fake_gdb.h"
#include "session/dprintf.h"
#include "stub/wait.h"

static struct fake_gdb gdb;

static int set_up(void **state)
{
	return fake_gdb_init(&gdb);
}

static int tear_down(void **state)
{
	return fake_gdb_exit(&gdb);
}

/* The line is still in the ring of its CPU when the module goes. */
static void the_last_line_of_a_module(void **state)
{
	const char *line;
	char packet[200];

	snprintf(packet, sizeof(packet),
		 "Z0,%llx,1;cmds:0,X14,26000522002200340100086e3d256c645c6e0027", FAKE_LEAF);
	assert_string_equal(fake_gdb_ask(&gdb, packet), "OK");
	assert_string_equal(fake_gdb_ask(&gdb, "c"), "");
	assert_int_equal(fake_gdb_call(&gdb, "leaf 7"), 0);
	assert_int_equal(gtp_dprintf_forget_range(&gdb.f.trace, FAKE_MODULE, FAKE_MODULE + 4096),
			 1);
	gtp_stub_dprintfs_gone(&gdb.s);
	line = strstr(gdb.out, "$O6e3d370a#"); /* n=7, and a newline */
	assert_non_null(line);
	assert_non_null(strstr(line, "$S05#"));
	assert_false(gdb.s.waiting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_last_line_of_a_module, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
