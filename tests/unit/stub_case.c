// SPDX-License-Identifier: GPL-2.0-only
/* Common code for the tests of the stub. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "stub_case.h"

struct fake_gdb gdb;

int set_up(void **state)
{
	return fake_gdb_init(&gdb);
}

int tear_down(void **state)
{
	return fake_gdb_exit(&gdb);
}

void ask_begins(const char *packet, const char *want)
{
	const char *got = fake_gdb_ask(&gdb, packet);

	if (strncmp(got, want, strlen(want)))
		fail_msg("%s: expected %s..., got %s", packet, want, got);
}
