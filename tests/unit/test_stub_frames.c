// SPDX-License-Identifier: GPL-2.0-only
/* GDB reads the frames of a stopped run, while a reader of the pipe may take them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>
#include "stub_case.h"

#define ASK(packet, reply) assert_string_equal(fake_gdb_ask(&gdb, packet), reply)

/* If a reader takes the frames while GDB saves them, GDB gets an error, not a truncated file. */
static void frames_that_go_while_they_are_read(void **state)
{
	u64 args[] = { 1 };

	ASK("QTinit", "OK");
	ASK("QTDP:1:ffffffffc0a000c0:E:0:0-", "OK");
	ASK("QTDP:-1:ffffffffc0a000c0:R20", "OK");
	ASK("QTStart", "OK");
	assert_true(fake_call(&gdb.f, FAKE_LEAF, 1, args));
	ASK("QTStop", "OK");
	ask_begins("qTBuffer:0,a", "0100");
	gdb.f.trace.epoch++;
	ASK("qTBuffer:a,a",
	    "E.the frames are gone: a new run, or a reader of /proc/gtpframe_pipe, has taken them");
	ask_begins("qTBuffer:0,a", "0100");
	ask_begins("qTBuffer:a,a", "00");
	assert_false(gtp_stub_has_frame(&gdb.s));
	ask_begins("QTFrame:0", "F0");
	assert_true(gtp_stub_has_frame(&gdb.s));
	ASK("QTFrame:ffffffff", "F-1");
	assert_false(gtp_stub_has_frame(&gdb.s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(frames_that_go_while_they_are_read, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("stub frames", tests, NULL, NULL);
}
