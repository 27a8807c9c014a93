// SPDX-License-Identifier: GPL-2.0-only
/* The stub's output when a run ends, or when a continue stops waiting. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ctype.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "session/dprintf.h"
#include "stub/wait.h"
#include "stub_case.h"

/* If a module with a dprintf is unloaded, lines that are still in the ring are sent to GDB. */
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

/* Return all console text, in order. */
static const char *console(const char *replies)
{
	static char text[4096];
	u32 n = 0;

	for (const char *p = replies; *p; p += strcspn(p, "|"), p += *p == '|') {
		if (*p != 'O' || p[1] == 'K')
			continue;
		for (const char *hex = p + 1; isxdigit(hex[0]); hex += 2) {
			char digits[3] = { hex[0], hex[1] };

			assert_true(n < sizeof(text) - 1);
			text[n++] = (char)strtol(digits, NULL, 16);
		}
	}
	text[n] = '\0';
	return text;
}

static const char *ask(const char *packet)
{
	return fake_gdb_ask(&gdb, packet);
}

static void call_with_a_stack_of(u32 depth)
{
	memset(gdb.f.stack, 0, sizeof(gdb.f.stack));
	for (u32 i = 0; i + 1 < depth; i++)
		gdb.f.stack[i] = 0x7000 + i;
	assert_int_equal(fake_gdb_call(&gdb, "leaf 7"), 0);
}

/* tstop and monitor status report the number of truncated stacks, unless it is 0. */
static void stacks_that_are_cut(void **state)
{
	static const char words[] =
		"2 hits whose stack is deeper than 127 addresses: the innermost are kept\n";
	char packet[100];

	snprintf(packet, sizeof(packet), "QTDP:1:%llx:E:0:0-", FAKE_LEAF);
	assert_string_equal(ask(packet), "OK");
	snprintf(packet, sizeof(packet), "QTDP:-1:%llx:X00000004,2e001527", FAKE_LEAF);
	assert_string_equal(ask(packet), "OK");
	assert_string_equal(ask("QTStart"), "OK");
	call_with_a_stack_of(127);
	assert_non_null(strstr(console(ask("qRcmd,737461747573")), "1 different ones"));
	assert_null(strstr(console(ask("qRcmd,737461747573")), "deeper"));
	call_with_a_stack_of(128);
	call_with_a_stack_of(150);
	assert_non_null(strstr(console(ask("qRcmd,737461747573")), words));
	assert_non_null(strstr(console(ask("QTStop")), words));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_last_line_of_a_module, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stacks_that_are_cut, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
