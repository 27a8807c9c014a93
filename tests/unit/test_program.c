// SPDX-License-Identifier: GPL-2.0-only
/* Tests tracepoints in programs: the kind of their locations, refusals, and their files. */
#include <stdlib.h>
#include "hit_case.h"
#include "session/location.h"
#include "session/run.h"
#include "tracepoint/tsv.h"

/* A place in a file, as its first byte, 0x47, shows. Other addresses are not places in files. */
#define PLACE "4700000500001000"
#define AT 0x4700000500001000ULL

static void refused(struct fake *f, const char *want)
{
	struct gtp_why why = { "" };

	assert_int_equal(gtp_trace_start(&f->trace, &why), -EINVAL);
	assert_non_null(strstr(why.text, want));
}

static void kind(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *in = define(f, "1:" PLACE ":E:0:0", NULL, NULL);
	struct gtp_tracepoint *below = define(f, "2:46ffffffffffffff:E:0:0", NULL, NULL);
	struct gtp_tracepoint *above = define(f, "3:4800000000000000:E:0:0", NULL, NULL);

	f->marker = AT; /* a place in a file is not a marker, even if the callback says it is */
	assert_int_equal(gtp_location_kind(&f->trace, in), GTP_LOCATION_USER);
	assert_int_equal(gtp_location_kind(&f->trace, below), GTP_LOCATION_CODE);
	assert_int_equal(gtp_location_kind(&f->trace, above), GTP_LOCATION_CODE);
}

static void hits(void **state)
{
	struct fake *f = *state;

	define(f, "1:" PLACE ":E:0:0", NULL, "R10000", NULL);
	start(f);
	assert_true(fake_fire(f, AT, &regs));
	expect_frames(f, "1@" PLACE " r16=" PLACE "\n");
}

static void returns(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = define(f, "1:" PLACE ":E:0:0", GETV("05") END, NULL); /* $ret */

	assert_int_equal(gtp_location_kind(&f->trace, tp), GTP_LOCATION_USER_RETURN);
}

static void no_kernel_stack(void **state)
{
	struct fake *f = *state;

	define(f, "1:" PLACE ":E:0:0", NULL, TRACEV("15") END, NULL);
	refused(f, "tracepoint 1 names $kstack, and is in a program");
}

static void no_static_data(void **state)
{
	struct fake *f = *state;

	fake_define(f, "1:" PLACE ":E:0:0", "L");
	refused(f, "which only kernel tracepoints have");
}

static void named(void **state)
{
	struct fake *f = *state;
	const u64 first = 0x4700000500000000ULL, last = 0x4700000500ffffffULL;

	assert_false(gtp_trace_names(&f->trace, first, last));
	define(f, "1:" PLACE ":E:0:0", NULL, NULL);
	assert_true(gtp_trace_names(&f->trace, first, last));
	assert_true(gtp_trace_names(&f->trace, AT, AT));
	assert_false(gtp_trace_names(&f->trace, AT + 1, last));
	assert_false(gtp_trace_names(&f->trace, first, AT - 1));
	gtp_trace_reset(&f->trace);
	assert_false(gtp_trace_names(&f->trace, first, last));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kind, setup, teardown),
		cmocka_unit_test_setup_teardown(hits, setup, teardown),
		cmocka_unit_test_setup_teardown(returns, setup, teardown),
		cmocka_unit_test_setup_teardown(no_kernel_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(no_static_data, setup, teardown),
		cmocka_unit_test_setup_teardown(named, setup, teardown),
	};

	return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
