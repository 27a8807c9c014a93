// SPDX-License-Identifier: GPL-2.0-only
/*
 * If some places cannot be probed, they are reported, and the others are armed. With strict set,
 * the run does not start.
 */
#include "run_case.h"

static const struct gtp_regs regs = { .rdi = 5 };

static void stop(struct fake *f)
{
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
}

/* Define a tracepoint with three addresses, as for "trace mutex_lock"; one cannot be probed. */
static void define_three(struct fake *f)
{
	fake_define(f, "7:1000:E:0:0", NULL);
	fake_define(f, "7:3000:E:0:0", NULL);
	fake_define(f, "7:4000:E:0:0", NULL);
}

static void the_others_are_armed(void **state)
{
	struct fake *f = *state;
	struct gtp_totals sum;

	define_three(f);
	f->refuse_arm = 0x3000;
	start(f);
	assert_string_equal(f->told,
			    "gdbtp: tracepoint 7 is not armed at 0x3000 (f+0x1/0x2): no probe\n"
			    "gdbtp: 1 of 3 places is not armed; monitor probes lists them all\n");
	assert_int_equal(f->armed, 2);
	assert_true(fake_fire(f, 0x1000, &regs));
	assert_false(fake_fire(f, 0x3000, &regs));
	assert_true(fake_fire(f, 0x4000, &regs));
	gtp_trace_totals(&f->trace, &sum);
	assert_int_equal(sum.refused, 1);
	fake_log_clear(f);
	stop(f);
	assert_string_equal(f->log, "disarm 1000\ndisarm 4000\n");
	assert_string_equal(fake_frames(f), "7@1000\n7@4000\n");
	/* The next run tries to arm all three places again. */
	fake_log_clear(f);
	f->refuse_arm = 0;
	start(f);
	assert_string_equal(f->told, "");
	assert_int_equal(f->armed, 3);
}

static void refused_when_all_take_effect(void **state)
{
	struct fake *f = *state;

	define_three(f);
	fake_define(f, "8:5000:E:0:0", NULL);
	f->refuse_done = 0x5000;
	start(f);
	assert_string_equal(f->told,
			    "gdbtp: tracepoint 8 is not armed at 0x5000: overwritten\n"
			    "gdbtp: tracepoint 8 is armed nowhere\n"
			    "gdbtp: 1 of 4 places is not armed; monitor probes lists them all\n");
	assert_int_equal(f->armed, 3);
	stop(f);

	fake_log_clear(f);
	f->trace.strict = true;
	{
		struct gtp_why why = { "" };

		assert_int_equal(gtp_trace_start(&f->trace, &why), -EOPNOTSUPP);
		assert_string_equal(why.text, "tracepoint 8 at 0x5000: overwritten");
	}
	assert_string_equal(f->told, "");
	assert_int_equal(f->armed, 0);
	assert_null(f->trace.locs);
}

static void nothing_can_be_armed(void **state)
{
	struct fake *f = *state;
	struct gtp_why why = { "" };

	fake_define(f, "1:3000:E:0:0", NULL);
	f->refuse_arm = 0x3000;
	assert_int_equal(gtp_trace_start(&f->trace, &why), -EOPNOTSUPP);
	assert_string_equal(why.text, "tracepoint 1 at 0x3000: no probe");
	/* The reply to QTStart has the whole message, so nothing is printed on the console. */
	assert_string_equal(f->told, "");

	fake_define(f, "2:5000:E:0:0", NULL);
	f->refuse_done = 0x5000;
	assert_int_equal(gtp_trace_start(&f->trace, &why), -EOPNOTSUPP);
	assert_non_null(strstr(f->told, "tracepoint 2 is not armed at 0x5000"));
	assert_non_null(strstr(f->told, "2 of 2 places are not armed"));
	assert_false(gtp_trace_running(&f->trace));
	assert_int_equal(f->armed, 0);
	assert_null(f->trace.locs);
	assert_null(f->trace.run.cpus);
}

static void a_module_that_has_gone(void **state)
{
	struct fake *f = *state;

	fake_define(f, "1:1000:E:0:0", NULL);
	fake_define(f, "2:2000:E:0:0", NULL);
	start(f);
	assert_int_equal(gtp_trace_forget_range(&f->trace, 0x2000, 0x3000), 1);
	stop(f);
	/* Another module's code may be at 0x2000 by now, so the run must not try to arm it. */
	fake_log_clear(f);
	start(f);
	assert_string_equal(f->log, "free\nbuffers 0 linear\narm 1000\n");
	assert_non_null(strstr(f->told, "2 is not armed at 0x2000: its module has been unloaded"));
	assert_int_equal(gtp_trace_forget_range(&f->trace, 0, ~0ULL), 1);
	assert_int_equal(f->armed, 0);
}

static void many_are_told_briefly(void **state)
{
	struct fake *f = *state;
	const char *at;
	char text[32];
	u32 n = 0;

	fake_define(f, "1:1000:E:0:0", NULL);
	f->trace.tps.first->gone = false;
	for (u32 i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "2:%x:E:0:0", 0x10000 + i);
		fake_define(f, text, NULL)->gone = true;
	}
	start(f);
	for (at = f->told; (at = strstr(at, "is not armed at")); at++)
		n++;
	assert_int_equal(n, 64);
	assert_non_null(strstr(f->told, "\ngdbtp: tracepoint 2 is armed nowhere\n"));
	assert_null(strstr(f->told, "tracepoint 1 is armed nowhere"));
	assert_non_null(strstr(f->told, "\ngdbtp: 1000 of 1001 places are not armed; "));
}

static int install(struct fake *f, struct gtp_tracepoint *tp, const char *want)
{
	struct gtp_why why = { "" };
	int rc = gtp_trace_install(&f->trace, tp, &why);

	assert_string_equal(why.text, want);
	return rc;
}

/*
 * If a tracepoint cannot be armed during a run, the reply is not an error: after an error, GDB
 * would not send the tracepoint's other addresses.
 */
static void during_a_run(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;

	fake_define(f, "1:1000:E:0:0", NULL);
	start(f);
	f->refuse_arm = 0x3000;
	tp = fake_define(f, "2:3000:E:0:0", NULL);
	assert_int_equal(install(f, tp, ""), 0);
	assert_string_equal(f->told,
			    "gdbtp: tracepoint 2 is not armed at 0x3000 (f+0x1/0x2): no probe\n");
	assert_int_equal(install(f, tp, ""), 0);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 0);
	assert_int_equal(install(f, fake_define(f, "2:4000:E:0:0", NULL), ""), 0);
	/* A second tracepoint at the place is reported, too. */
	fake_log_clear(f);
	assert_int_equal(install(f, fake_define(f, "3:3000:E:0:0", NULL), ""), 0);
	assert_non_null(strstr(f->told, "tracepoint 3 is not armed at 0x3000"));
	f->refuse_done = 0x6000;
	assert_int_equal(install(f, fake_define(f, "4:6000:E:0:0", NULL), ""), 0);
	assert_non_null(strstr(f->told, "tracepoint 4 is not armed at 0x6000"));
	assert_int_equal(f->armed, 2);
	f->trace.strict = true;
	assert_int_equal(install(f, fake_define(f, "5:3000:E:0:0", NULL),
				 "tracepoint 5 at 0x3000: no probe"),
			 -EOPNOTSUPP);
	assert_null(gtp_tracepoint_find(&f->trace.tps, 5, 0x3000));
	fake_fire(f, 0x4000, &regs);
	stop(f);
	assert_string_equal(fake_frames(f), "2@4000\n");
}

static void no_room_is_told(void **state)
{
	struct fake *f = *state;

	define_three(f);
	f->room = 1;
	start(f);
	assert_int_equal(f->armed, 3);
	assert_non_null(strstr(f->told, "gdbtp: hits of 2 places cost more: there is no room"));
}

/* If a tracepoint must be fast but cannot be, its place is refused like one that takes no probe. */
static void not_fast_is_refused(void **state)
{
	struct fake *f = *state;

	f->jump = 0x1000;
	fake_define(f, "1:1000:E:0:0:F5", NULL);
	fake_define(f, "2:3000:E:0:0:F5", NULL);
	start(f);
	assert_int_equal(f->armed, 1);
	assert_non_null(strstr(f->told, "(f+0x1/0x2): it cannot be fast: control may arrive"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_others_are_armed),  T(refused_when_all_take_effect),
		T(nothing_can_be_armed),  T(a_module_that_has_gone),
		T(many_are_told_briefly), T(during_a_run),
		T(not_fast_is_refused),	  T(no_room_is_told),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
