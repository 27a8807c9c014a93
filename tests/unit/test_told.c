// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests messages that users get without asking: about missed hits, and about an unreliable clock.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>
#include "stub_case.h"

#define ASK(packet, reply) assert_string_equal(fake_gdb_ask(&gdb, packet), reply)
#define STATUS "qRcmd,737461747573" /* monitor status */

static struct gtp_target_ops target;
static const char *off; /* what is wrong with the clock, or NULL */
static u32 asked;

static bool clock_off(void *ctx, struct gtp_why *why)
{
	asked++;
	if (!off)
		return false;
	gtp_why(why, "%s", off);
	return true;
}

static int set_up_clock(void **state)
{
	int rc = set_up(state);

	target = *gdb.f.trace.target;
	target.clock_off = clock_off;
	gdb.f.trace.target = &target;
	off = NULL;
	asked = 0;
	return rc;
}

/* says - true if the last reply printed this text on the console */
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
	/* The count begins at 0 in the next run. */
	gdb.f.tsv_stuck = false;
	ASK("QTStart", "OK");
	fake_gdb_ask(&gdb, STATUS);
	assert_false(says("were missed: another"));
	ASK("QTStop", "OK");
}

static void a_clock_that_is_right(void **state)
{
	start_run("R20");
	fake_gdb_ask(&gdb, "qTStatus");
	assert_false(says("gdbtp: "));
	fake_gdb_ask(&gdb, STATUS);
	assert_false(says("clock:"));
	ASK("QTStop", "OK");
	assert_int_equal(asked, 3);
	/* Without a run the stub does not ask for the state of the clock. */
	fake_gdb_ask(&gdb, STATUS);
	assert_int_equal(asked, 3);
}

static void a_clock_that_goes_wrong(void **state)
{
	start_run("R20");
	off = "it has stepped";
	fake_gdb_ask(&gdb, "qTStatus");
	assert_true(says("gdbtp: it has stepped\n"));
	/*
	 * tstatus reports an unreliable clock once, monitor status each time: the times of the run
	 * stay wrong.
	 */
	off = NULL;
	fake_gdb_ask(&gdb, "qTStatus");
	assert_false(says("stepped"));
	fake_gdb_ask(&gdb, STATUS);
	assert_true(says("clock:     it has stepped\n"));
	fake_gdb_ask(&gdb, "QTStop");
	assert_true(says("gdbtp: it has stepped\n"));
	fake_gdb_ask(&gdb, STATUS);
	assert_true(says("clock:     it has stepped\n"));
	assert_int_equal(asked, 1);
	ASK("QTStart", "OK");
	fake_gdb_ask(&gdb, STATUS);
	assert_false(says("stepped"));
	ASK("QTStop", "OK");
}

static void a_clock_found_wrong_at_the_end(void **state)
{
	start_run("R20");
	off = "it has stepped";
	fake_gdb_ask(&gdb, "QTStop");
	assert_true(says("gdbtp: it has stepped\n"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up_clock, tear_down)
	const struct CMUnitTest tests[] = {
		T(hits_without_the_lock),
		T(a_clock_that_is_right),
		T(a_clock_that_goes_wrong),
		T(a_clock_found_wrong_at_the_end),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
