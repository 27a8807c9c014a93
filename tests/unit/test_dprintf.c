// SPDX-License-Identifier: GPL-2.0-only
/* Tests when dprintfs are armed, what their hits print, and how runs affect dprintfs. */
#include "run_case.h"
#include "session/dprintf.h"

/* A command: printf "%ld\n" of rdi. A condition: rdi == 5 */
#define PRINT "X12,2600052200220034010006256c645c6e0027"
#define IS_5 "X7,26000522051327"
#define PLAIN "1000,1;cmds:0," PRINT

static void insert(struct fake *f, const char *text)
{
	struct gtp_why why = { "" };

	assert_int_equal(gtp_dprintf_insert(&f->trace, text, &why), 0);
	assert_string_equal(why.text, "");
}

static void call(struct fake *f, u64 addr, u64 arg)
{
	fake_call(f, addr, 1, &arg);
}

static struct gtp_dprintf_sum total(struct fake *f)
{
	struct gtp_dprintf_sum sum;

	gtp_dprintf_sum(&f->trace, NULL, &sum);
	return sum;
}

#define LOGGED(f, text) assert_string_equal((f)->log, text)

/* Compare what has been logged since the last check, and clear the log. */
static void logged_since(struct fake *f, const char *want)
{
	LOGGED(f, want);
	fake_log_clear(f);
}

static void one_is_armed_without_a_run(void **state)
{
	struct fake *f = *state;

	insert(f, PLAIN);
	assert_true(gtp_dprintf_any(&f->trace));
	assert_false(gtp_trace_running(&f->trace));
	call(f, 0x1000, 7);
	f->pid = -3;
	call(f, 0x1000, 8);
	assert_string_equal(fake_lines(f), "1000 cpu 0 pid 42 7\n1000 cpu 0 pid -3 8\n");
	assert_true(status_has(f, "T0;tnotrun:0;tframes:0;tcreated:0;tfree:0;tsize:0;"));
	fake_log_clear(f);
	gtp_dprintf_remove(&f->trace, 0x1000);
	logged_since(f, "disarm 1000\n");
	assert_false(gtp_dprintf_any(&f->trace));
	assert_false(f->trace.run.active);
	assert_int_equal(total(f).hits, 2);
	gtp_dprintf_remove(&f->trace, 0x1000);
	logged_since(f, "");
}

/* After a reset the session has only dprintfs, and fewer counters than the run before it had. */
static void one_after_a_run(void **state)
{
	struct fake *f = *state;

	fake_define(f, "1:3000:E:0:0", NULL);
	fake_define(f, "2:4000:E:0:0", NULL);
	fake_define(f, "3:5000:E:0:0", NULL);
	start(f);
	gtp_trace_reset(&f->trace);
	insert(f, PLAIN);
	assert_true(status_has(f, "T0;tnotrun:0;tframes:0;"));
}

static void the_same_packet_changes_nothing_and_another_replaces(void **state)
{
	struct fake *f = *state;

	insert(f, PLAIN);
	fake_log_clear(f);
	insert(f, PLAIN);
	logged_since(f, "");
	insert(f, "1000,1;" IS_5 ";cmds:0," PRINT);
	logged_since(f, "disarm 1000\narm 1000\n");
	call(f, 0x1000, 4);
	call(f, 0x1000, 5);
	assert_string_equal(fake_lines(f), "1000 cpu 0 pid 42 5\n");
}

static void what_is_refused_leaves_the_old_one(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;

	insert(f, PLAIN);
	fake_log_clear(f);
	assert_int_equal(gtp_dprintf_insert(&f->trace, PLAIN "X", &why), -EINVAL);
	assert_string_equal(why.text,
			    "Z0: length of the expression is not a hex number at column 59");
	assert_int_equal(gtp_dprintf_insert(&f->trace, "1000,1;cmds:0," PRINT ";", &why), -EINVAL);
	assert_string_equal(why.text, "Z0: no command at column 58");
	assert_int_equal(gtp_dprintf_insert(&f->trace, "1000,1;" IS_5 IS_5 ";cmds:0," PRINT, &why),
			 -EINVAL);
	assert_non_null(strstr(why.text, "more conditions than commands"));
	/* $x, which is not defined */
	assert_int_equal(
		gtp_dprintf_insert(&f->trace,
				   "2000,1;cmds:0,X12,2c00662200220034010006256c645c6e0027", &why),
		-EINVAL);
	assert_non_null(strstr(why.text, "dprintf at 0x2000, action 1 (X): "));
	logged_since(f, "");
	call(f, 0x1000, 1);
	assert_string_equal(fake_lines(f), "1000 cpu 0 pid 42 1\n");
}

static void there_is_an_end_of_places_and_commands(void **state)
{
	struct fake *f = *state;
	char text[2048] = "1000,1;cmds:0,";
	struct gtp_why why;
	u32 i;

	for (i = 0; i < GTP_DPRINTF_HERE_MAX + 1; i++)
		strcat(text, PRINT);
	assert_int_equal(gtp_dprintf_insert(&f->trace, text, &why), -EINVAL);
	assert_string_equal(why.text, "there are more than 16 dprintfs at 0x1000; delete some");
	for (i = 0; i < GTP_DPRINTFS_MAX; i++) {
		snprintf(text, sizeof(text), "%x,1;cmds:0," PRINT, 0x1000 + i);
		insert(f, text);
	}
	assert_int_equal(gtp_dprintf_insert(&f->trace, "9000,1;cmds:0," PRINT, &why), -EINVAL);
	assert_string_equal(why.text, "there are dprintfs at 1024 places, more are not possible");
	gtp_dprintf_clear(&f->trace, false);
	assert_int_equal(f->armed, 0);
	insert(f, "9000,1;cmds:0," PRINT);
}

static u32 drain(struct fake *f)
{
	struct gtp_lines *r;
	u32 n = 0;

	for (; (r = gtp_lines_oldest(f->lines, f->ncpus, U64_MAX)); n++)
		gtp_lines_next(r);
	return n;
}

/* Each hit writes a line, which is read, or counted as dropped if the ring is full. */
static void full_rings_drop_and_count(void **state)
{
	struct fake *f = *state;

	f->ncpus = 2;
	insert(f, PLAIN);
	for (u32 i = 0; i < 5000; i++) {
		f->cpu = i % 2;
		call(f, 0x1000, 5);
	}
	assert_int_equal(total(f).hits, 5000);
	assert_in_range(total(f).dropped, 1, 4999);
	assert_int_equal(drain(f) + total(f).dropped, 5000);
	assert_int_equal(gtp_lines_dropped(f->lines[0]) + gtp_lines_dropped(f->lines[1]),
			 total(f).dropped);
	gtp_dprintf_remove(&f->trace, 0x1000);
	assert_int_equal(total(f).hits, 5000);
}

static void an_expression_that_fails_says_so_and_ends_nothing(void **state)
{
	struct fake *f = *state;

	/* printf of *(int *)rdi; with a condition that reads the same memory */
	insert(f, "1000,1;cmds:0,X13,260005192200220034010006256c645c6e0027");
	insert(f, "2000,1;X5,2600051927;cmds:0," PRINT);
	fake_define(f, "1:3000:E:0:0", NULL);
	start(f);
	call(f, 0x1000, 16);
	call(f, 0x2000, 17);
	assert_string_equal(
		fake_lines(f),
		"1000 cpu 0 pid 42 failed: ref32 at byte 3: cannot read memory at 0x10 (4 bytes)\n"
		"2000 cpu 0 pid 42 failed: ref32 at byte 3: cannot read memory at 0x11 (4 bytes)\n");
	assert_true(gtp_trace_running(&f->trace));
	assert_true(f->trace.run.active);
	assert_int_equal(total(f).hits, 2);
}

/* --- with runs --- */

static void it_joins_a_tracepoint_that_is_there(void **state)
{
	struct fake *f = *state;

	fake_define(f, "1:1000:E:0:0", "R20");
	start(f);
	fake_log_clear(f);
	insert(f, PLAIN);
	logged_since(f, "");
	call(f, 0x1000, 7);
	gtp_dprintf_remove(&f->trace, 0x1000);
	call(f, 0x1000, 8);
	insert(f, PLAIN);
	call(f, 0x1000, 9);
	logged_since(f, "");
	assert_string_equal(fake_lines(f), "1000 cpu 0 pid 42 7\n1000 cpu 0 pid 42 9\n");
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	logged_since(f, "disarm 1000\narm 1000\n");
	assert_string_equal(fake_frames(f), "1@1000 r5=7\n1@1000 r5=8\n1@1000 r5=9\n");
	call(f, 0x1000, 10);
	assert_string_equal(fake_lines(f), "1000 cpu 0 pid 42 10\n");
}

/* A dprintf still prints after the run has ended, and does not change its frames. */
static void it_goes_on_when_the_run_ends(void **state)
{
	struct fake *f = *state;

	insert(f, PLAIN);
	insert(f, "2000,1;cmds:0," PRINT);
	fake_define(f, "1:1000:E:0:0", "R20");
	fake_log_clear(f);
	start(f);
	logged_since(f, "disarm 2000\ndisarm 1000\nfree\nbuffers 0 linear\narm 1000\narm 2000\n");
	call(f, 0x1000, 1);
	call(f, 0x2000, 2);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	logged_since(f, "disarm 1000\narm 1000\n");
	call(f, 0x1000, 3);
	call(f, 0x2000, 4);
	assert_string_equal(fake_lines(f), "1000 cpu 0 pid 42 1\n2000 cpu 0 pid 42 2\n"
					   "1000 cpu 0 pid 42 3\n2000 cpu 0 pid 42 4\n");
	assert_string_equal(fake_frames(f), "1@1000 r5=1\n");
	gtp_trace_reset(&f->trace);
	logged_since(f, "disarm 2000\ndisarm 1000\nfree\nbuffers 4096 linear\n"
			"arm 1000\narm 2000\n");
	call(f, 0x2000, 5);
	assert_string_equal(fake_lines(f), "2000 cpu 0 pid 42 5\n");
}

static void one_taken_back_in_a_run_goes_with_the_run(void **state)
{
	struct fake *f = *state;
	s32 live;

	fake_define(f, "1:1000:E:0:0", NULL);
	start(f);
	live = f->live;
	insert(f, PLAIN);
	insert(f, "1000,1;" IS_5 ";cmds:0," PRINT);
	gtp_dprintf_clear(&f->trace, true);
	assert_int_equal(f->trace.dprintfs.n, 2);
	call(f, 0x1000, 5);
	assert_string_equal(fake_lines(f), "");
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	assert_int_equal(f->trace.dprintfs.n, 0);
	assert_int_equal(f->live, live + 1); /* the ring of lines is still allocated */
	assert_int_equal(f->armed, 0);
}

static void it_makes_way_for_a_tracepoint_that_joins_the_run(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;
	struct gtp_why why;

	fake_define(f, "1:2000:E:0:0", NULL);
	start(f);
	insert(f, PLAIN);
	fake_log_clear(f);
	tp = fake_define(f, "2:1000:E:0:0", "R20");
	assert_int_equal(gtp_trace_install(&f->trace, tp, &why), 0);
	logged_since(f, "disarm 1000\narm 1000\n");
	call(f, 0x1000, 6);
	assert_string_equal(fake_lines(f), "1000 cpu 0 pid 42 6\n");
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	assert_string_equal(fake_frames(f), "2@1000 r5=6\n");
}

static void a_place_that_is_refused_is_told(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;

	f->refuse_arm = 0x3000;
	insert(f, "3000,1;cmds:0," PRINT);
	assert_string_equal(f->told,
			    "gdbtp: dprintf is not armed at 0x3000 (f+0x1/0x2): no probe\n");
	assert_false(gtp_dprintf_any(&f->trace));
	gtp_dprintf_remove(&f->trace, 0x3000);
	f->trace.strict = true;
	assert_int_equal(gtp_dprintf_insert(&f->trace, "3000,1;cmds:0," PRINT, &why), -EOPNOTSUPP);
	assert_string_equal(why.text, "dprintf at 0x3000: no probe");
	assert_int_equal(f->trace.dprintfs.n, 0);
	/* The reason is the one that was reported for the tracepoint at the same address. */
	f->trace.strict = false;
	fake_define(f, "1:3000:E:0:0", NULL);
	fake_define(f, "2:1000:E:0:0", NULL);
	start(f);
	fake_log_clear(f);
	insert(f, "3000,1;cmds:0," PRINT);
	assert_non_null(strstr(f->told, "dprintf is not armed at 0x3000 (f+0x1/0x2): no probe\n"));
}

/*
 * A jump at 0x1000 would cover 0x1003. So the dprintf at 0x1000 is disarmed, and armed again after
 * the one at 0x1003.
 */
static void one_makes_way_for_another(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;
	struct gtp_why why;

	f->refuse_arm = 0x1003;
	f->refuse_beside = 0x1000;
	insert(f, PLAIN);
	insert(f, "2000,1;cmds:0," PRINT);
	fake_log_clear(f);
	insert(f, "1003,1;cmds:0," PRINT);
	logged_since(f, "disarm 1000\narm 1003\narm 1000\n");
	assert_string_equal(f->told, "");
	call(f, 0x1000, 1);
	call(f, 0x1003, 2);
	assert_string_equal(fake_lines(f), "1000 cpu 0 pid 42 1\n1003 cpu 0 pid 42 2\n");
	gtp_dprintf_remove(&f->trace, 0x1003);
	/* A tracepoint that joins the run is armed in the same order. */
	fake_define(f, "1:3000:E:0:0", NULL);
	start(f);
	fake_log_clear(f);
	tp = fake_define(f, "2:1003:E:0:0", NULL);
	assert_int_equal(gtp_trace_install(&f->trace, tp, &why), 0);
	logged_since(f, "disarm 1000\narm 1003\narm 1000\n");
}

/*
 * The place is refused although no other probe is near, or although the probe near it was disarmed
 * before. The refusal is reported once, and the other dprintfs are armed.
 */
static void no_way_can_be_made(void **state)
{
	struct fake *f = *state;

	f->refuse_arm = 0x1003;
	insert(f, "2000,1;cmds:0," PRINT);
	fake_log_clear(f);
	insert(f, "1003,1;cmds:0," PRINT);
	logged_since(f, "");
	gtp_dprintf_remove(&f->trace, 0x1003);
	insert(f, PLAIN);
	fake_log_clear(f);
	insert(f, "1003,1;cmds:0," PRINT);
	assert_string_equal(f->told, "gdbtp: dprintf is not armed at 0x1003: no probe\n");
	logged_since(f, "disarm 1000\narm 1000\n");
	assert_true(gtp_dprintf_any(&f->trace));
}

/* A nested hit after a run's end does not belong to the run. */
static void nested_hits_without_a_run(void **state)
{
	struct fake *f = *state;
	struct gtp_totals sum;

	fake_define(f, "1:2000:E:0:0", NULL);
	insert(f, PLAIN);
	start(f);
	f->trace.run.cpus[0]->nested += 3;
	gtp_trace_totals(&f->trace, &sum);
	assert_int_equal(sum.nested, 3);
	assert_int_equal(total(f).nested, 0);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	f->trace.run.cpus[0]->nested += 4;
	gtp_trace_totals(&f->trace, &sum);
	assert_int_equal(sum.nested, 3);
	assert_int_equal(total(f).nested, 4);
	start(f);
	gtp_trace_totals(&f->trace, &sum);
	assert_int_equal(sum.nested, 0);
	assert_int_equal(total(f).nested, 4);
	f->trace.run.cpus[0]->nested += 1;
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	assert_int_equal(total(f).nested, 4);
}

static void its_module_goes(void **state)
{
	struct fake *f = *state;

	insert(f, PLAIN);
	insert(f, "2000,1;cmds:0," PRINT);
	fake_log_clear(f);
	assert_int_equal(gtp_dprintf_forget_range(&f->trace, 0x1000, 0x2000), 1);
	logged_since(f, "disarm 1000\n");
	assert_int_equal(gtp_dprintf_forget_range(&f->trace, 0x1000, 0x2000), 0);
	gtp_trace_reset(&f->trace);
	logged_since(f, "disarm 2000\nfree\nbuffers 4096 linear\narm 2000\n");
	/* As if the module had been loaded again, at the same address. */
	insert(f, PLAIN);
	logged_since(f, "arm 1000\n");
}

static void its_module_goes_during_a_run(void **state)
{
	struct fake *f = *state;

	fake_define(f, "1:1000:E:0:0", NULL);
	start(f);
	insert(f, PLAIN);
	fake_log_clear(f);
	assert_int_equal(gtp_trace_forget_range(&f->trace, 0x1000, 0x2000), 1);
	assert_int_equal(gtp_dprintf_forget_range(&f->trace, 0x1000, 0x2000), 1);
	logged_since(f, "disarm 1000\n");
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	assert_int_equal(f->armed, 0);
}

/*
 * If any allocation fails, the dprintf is either armed or not defined. fake_exit() checks for
 * leaks.
 */
static void no_memory(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;
	u32 n = 0;
	int rc;

	do {
		f->allocs = 0;
		f->fail_alloc = ++n;
		why.text[0] = '\0';
		rc = gtp_dprintf_insert(&f->trace, "1000,1;" IS_5 IS_5 ";cmds:1," PRINT PRINT,
					&why);
		if (rc) {
			assert_int_equal(rc, -ENOMEM);
			assert_non_null(strstr(why.text, "no memory"));
			assert_int_equal(f->armed, 0);
			gtp_trace_reset(&f->trace);
		}
	} while (rc);
	f->fail_alloc = 0;
	assert_in_range(n, 10, 100);
	call(f, 0x1000, 5);
	assert_string_equal(fake_lines(f), "1000 cpu 0 pid 42 5\n1000 cpu 0 pid 42 5\n");
	gtp_dprintf_clear(&f->trace, false);
	assert_true(gtp_dprintf_any(&f->trace));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(one_is_armed_without_a_run),
		T(one_after_a_run),
		T(the_same_packet_changes_nothing_and_another_replaces),
		T(what_is_refused_leaves_the_old_one),
		T(there_is_an_end_of_places_and_commands),
		T(full_rings_drop_and_count),
		T(an_expression_that_fails_says_so_and_ends_nothing),
		T(it_joins_a_tracepoint_that_is_there),
		T(it_goes_on_when_the_run_ends),
		T(one_taken_back_in_a_run_goes_with_the_run),
		T(it_makes_way_for_a_tracepoint_that_joins_the_run),
		T(a_place_that_is_refused_is_told),
		T(one_makes_way_for_another),
		T(no_way_can_be_made),
		T(nested_hits_without_a_run),
		T(its_module_goes),
		T(its_module_goes_during_a_run),
		T(no_memory),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
