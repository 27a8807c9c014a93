// SPDX-License-Identifier: GPL-2.0-only
/* Reports that a user has not asked for: hits that were missed for the lock of the variables. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>
#include "stub_case.h"

#define ASK(packet, reply) assert_string_equal(fake_gdb_ask(&gdb, packet), reply)
#define STATUS "qRcmd,737461747573" /* monitor status */

/* says - did the last answer have this text on the console? */
static bool says(const char *text)
{
	char hex[1024];
	u32 n = 0;

	for (; *text; text++)
		n += (u32)sprintf(hex + n, "%02x", (u8)*text);
	return strstr(gdb.out, hex);
}

static void start_run(const char *action)
{
	char packet[200];

	ASK("QTinit", "OK");
	ASK("QTDV:46:1:0:6e", "OK");
	snprintf(packet, sizeof(packet), "QTDP:1:%llx:E:0:0-", FAKE_LEAF);
	ASK(packet, "OK");
	snprintf(packet, sizeof(packet), "QTDP:-1:%llx:%s", FAKE_LEAF, action);
	ASK(packet, "OK");
	ASK("QTStart", "OK");
}

static void hits_without_the_lock(void **state)
{
	const char *words = "2 hits were missed: another CPU held the variables' lock for too";

	start_run("XA,2c00462205042d004627");
	gdb.f.tsv_stuck = true;
	assert_int_equal(fake_gdb_call(&gdb, "leaf 1"), 0);
	assert_int_equal(fake_gdb_call(&gdb, "leaf 1"), 0);
	fake_gdb_ask(&gdb, STATUS);
	assert_true(says(words));
	fake_gdb_ask(&gdb, "QTStop");
	assert_true(says(words));
	/* The next run has its own. */
	gdb.f.tsv_stuck = false;
	ASK("QTStart", "OK");
	fake_gdb_ask(&gdb, STATUS);
	assert_false(says("were missed: another"));
	ASK("QTStop", "OK");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(hits_without_the_lock, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
