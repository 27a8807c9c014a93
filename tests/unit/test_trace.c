// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests run control: a run starts completely or not at all, ends once, and leaves nothing armed or
 * allocated, whatever fails.
 */
#include "hit/hit.h"
#include "run_case.h"

static const struct gtp_regs regs = { .rdi = 5 };

static void refuse_start(struct fake *f, int rc, const char *want)
{
	struct gtp_why why = { "" };

	assert_int_equal(gtp_trace_start(&f->trace, &why), rc);
	assert_string_equal(why.text, want);
}

static void stop(struct fake *f)
{
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
}

static struct gtp_totals totals(struct fake *f)
{
	struct gtp_totals sum;

	gtp_trace_totals(&f->trace, &sum);
	return sum;
}

static void variable(struct fake *f, const char *text)
{
	struct gtp_why why;

	assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, text, &why), 0);
}

/* --- start and stop --- */

static void a_run(void **state)
{
	struct fake *f = *state;

	assert_string_equal(fake_status(f), "T0;tnotrun:0;tframes:0;tcreated:0;tfree:0;tsize:0;"
					    "circular:0;disconn:0;starttime:0;stoptime:0");
	fake_define(f, "1:1000:E:0:0", "R1");
	fake_define(f, "2:3000:D:0:0", NULL);
	fake_define(f, "3:1000:E:0:0", NULL);
	f->trace.buffer_bytes = 8192;
	f->trace.disconnected = true;
	start(f);
	/* Two tracepoints at one address are one location. A disabled tracepoint is armed, too. */
	assert_string_equal(f->log, "buffers 8192 linear\narm 1000\narm 3000\n");
	assert_true(gtp_trace_running(&f->trace));
	assert_string_equal(fake_status(f),
			    "T1;tframes:0;tcreated:0;tfree:2000;tsize:2000;"
			    "circular:0;disconn:1;starttime:60a24181e4000;stoptime:0");
	assert_true(fake_fire(f, 0x1000, &regs));
	assert_true(fake_fire(f, 0x3000, &regs));
	assert_false(fake_fire(f, 0x2000, &regs));

	fake_log_clear(f);
	f->wall_us += 16;
	stop(f);
	assert_string_equal(f->log, "disarm 1000\ndisarm 3000\n");
	assert_string_equal(fake_status(f),
			    "T0;tstop:0;tframes:2;tcreated:2;tfree:1fb8;tsize:2000;"
			    "circular:0;disconn:1;starttime:60a24181e4000;stoptime:60a24181e4010");
	assert_string_equal(fake_frames(f), "1@1000 r0=0\n3@1000\n");
	assert_false(fake_fire(f, 0x1000, &regs));

	/* A second stop does nothing, and does not change the reason. */
	gtp_trace_stop(&f->trace, GTP_STOP_DISCONNECTED);
	assert_int_equal(f->trace.stop, GTP_STOP_USER);
}

static void without_tracepoints(void **state)
{
	struct fake *f = *state;

	start(f);
	stop(f);
	assert_string_equal(fake_frames(f), "");
	assert_string_equal(f->log, "buffers 0 linear\n");
}

static void a_run_is_on_already(void **state)
{
	struct fake *f = *state;

	start(f);
	refuse_start(f, -EBUSY, "a run is going on already; tstop ends it");
	assert_true(gtp_trace_running(&f->trace));
}

static void the_next_run_begins_afresh(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;

	variable(f, "46:3:0:78");
	/* $x = $x + 1 */
	tp = fake_define(f, "1:1000:E:0:0", "Xa,2c00462201022d004627");
	start(f);
	fake_fire(f, 0x1000, &regs);
	fake_fire(f, 0x1000, &regs);
	stop(f);
	assert_int_equal(f->trace.run.tsvs.slot[0x46]->value, 5);
	assert_string_equal(fake_frames(f), "1@1000\n1@1000\n");
	f->trace.stop_notes_hex = f->mem.alloc(f->mem.ctx, 3);
	memcpy(f->trace.stop_notes_hex, "6e", 3);
	assert_true(status_has(f, "T0;tstop:6e:0;"));

	fake_log_clear(f);
	f->missed = 4;
	start(f);
	assert_string_equal(f->log, "free\nbuffers 0 linear\narm 1000\n");
	assert_int_equal(f->trace.run.tsvs.slot[0x46]->value, 3);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 0);
	fake_fire(f, 0x1000, &regs);
	assert_int_equal(totals(f).missed, 4);
	stop(f);
	assert_string_equal(fake_frames(f), "1@1000\n");
	assert_true(status_has(f, "T0;tstop:0;"));
	assert_int_equal(totals(f).missed, 4);
	f->missed = 0;
	start(f);
	assert_int_equal(totals(f).missed, 0);
}

static void forgetting_everything(void **state)
{
	struct fake *f = *state;

	variable(f, "46:3:0:78");
	fake_define(f, "1:1000:E:0:0", "R1");
	start(f);
	fake_fire(f, 0x1000, &regs);
	gtp_trace_reset(&f->trace);
	assert_int_equal(f->armed, 0);
	assert_null(f->trace.tps.first);
	assert_null(f->trace.run.tsvs.slot[0x46]);
	assert_non_null(f->trace.run.tsvs.slot[GTP_TSV_CLOCK]);
	assert_true(status_has(f, "T0;tnotrun:0;tframes:0;"));
	assert_true(status_has(f, ";starttime:0;stoptime:0"));
	assert_string_equal(fake_frames(f), "");
	/* Leave the run active, so that teardown must end it. */
	fake_define(f, "1:1000:E:0:0", "R1");
	start(f);
}

static void frames_in_the_order_of_time(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;
	int i;

	f->ncpus = 3;
	fake_define(f, "1:1000:E:0:0", NULL);
	fake_define(f, "2:2000:E:0:0", NULL);
	start(f);
	assert_null(gtp_trace_index(&f->trace, &why));
	assert_string_equal(why.text,
			    "the frames cannot be looked at while the run goes on; tstop first");
	for (i = 0; i < 6; i++) {
		f->cpu = (u32)i % 3;
		fake_fire(f, i & 2 ? 0x2000 : 0x1000, &regs);
	}
	stop(f);
	assert_string_equal(fake_frames(f), "1@1000\n1@1000\n2@2000\n2@2000\n1@1000\n1@1000\n");
	assert_ptr_equal(gtp_trace_index(&f->trace, &why), &f->trace.index);
}

/*
 * The machine sleeps during a run: frames from before the sleep are sorted before those from after
 * it.
 */
static void the_clock_begins_anew(void **state)
{
	struct fake *f = *state;

	f->ncpus = 2;
	fake_define(f, "1:1000:E:0:0", NULL);
	fake_define(f, "2:2000:E:0:0", NULL);
	start(f);
	f->clock = 1000000;
	f->cpu = 1;
	fake_call(f, 0x1000, 0, NULL);
	for (u32 i = 0; i < 2; i++)
		gtp_restarts_note(&f->trace.run.cpus[i]->restarts, &f->trace.run.cpus[i]->buf);
	f->clock = 0;
	f->cpu = 0;
	fake_call(f, 0x2000, 0, NULL);
	stop(f);
	assert_string_equal(fake_frames(f), "1@1000\n2@2000\n");
}

/* --- refusals --- */

static void hit_early(struct fake *f, struct gtp_location *loc)
{
	fake_hit(loc, f->trace.run.cpus[0], &regs, 0);
}

static void an_address_is_refused(void **state)
{
	struct fake *f = *state;

	fake_define(f, "1:1000:E:0:0", NULL);
	fake_define(f, "2:2000:E:0:0", NULL);
	fake_define(f, "7:3000:E:0:0", NULL);
	fake_define(f, "8:4000:E:0:0", NULL);
	f->trace.strict = true;
	f->refuse_arm = 0x3000;
	refuse_start(f, -EOPNOTSUPP, "tracepoint 7 at 0x3000: no probe");
	assert_string_equal(f->log, "buffers 0 linear\narm 1000\narm 2000\n"
				    "disarm 1000\ndisarm 2000\nfree\n");
	assert_int_equal(f->armed, 0);
	assert_true(status_has(f, "T0;tnotrun:0;tframes:0"));

	/* If the first location is refused, there is nothing to disarm. */
	fake_log_clear(f);
	f->refuse_arm = 0x1000;
	refuse_start(f, -EOPNOTSUPP, "tracepoint 1 at 0x1000: no probe");
	assert_string_equal(f->log, "buffers 0 linear\nfree\n");

	f->refuse_arm = 0;
	start(f);
	assert_int_equal(f->armed, 4);
}

static void hits_count_when_all_is_armed(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = fake_define(f, "1:1000:E:0:1", NULL);

	fake_define(f, "2:2000:E:0:0", NULL);
	f->while_arming = hit_early;
	start(f);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 0);
	assert_int_equal(f->stopping, 0);
	fake_fire(f, 0x1000, &regs);
	assert_int_equal(f->stopping, 1);
}

static void variables_are_checked_at_the_start(void **state)
{
	const char *read_only =
		"tracepoint 3, action 1 (X): setv at byte 2: trace state variable 2 cannot be set";
	struct fake *f = *state;

	/* Refused expressions: if $x, which is unknown; teval $y = 1, unknown; teval $clock = 1 */
	fake_define(f, "1:1000:E:0:0", "R1");
	start(f);
	fake_fire(f, 0x1000, &regs);
	stop(f);
	fake_log_clear(f);
	fake_define(f, "2:2000:E:0:0:X4,2c004627", "R1X6,22012d004727");
	refuse_start(
		f, -EINVAL,
		"tracepoint 2, condition: getv at byte 0: trace state variable 70 is not defined");
	variable(f, "46:0:0:78");
	refuse_start(
		f, -EINVAL,
		"tracepoint 2, action 2 (X): setv at byte 2: trace state variable 71 is not defined");
	/* Nothing has changed: the frames of the previous run are still there. */
	assert_string_equal(f->log, "");
	assert_string_equal(fake_frames(f), "1@1000 r0=0\n");
	variable(f, "47:0:0:79");
	fake_define(f, "3:2000:E:0:0", "X6,22012d000227");
	refuse_start(f, -EINVAL, read_only);
}

/* The n-th allocation fails, for every n until none does. */
static void start_without_memory(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;
	s32 live;
	u32 n;

	f->ncpus = 2;
	fake_define(f, "1:1000:E:0:0", NULL);
	fake_define(f, "2:2000:E:0:0", NULL);
	fake_define(f, "3:1000:E:0:0", NULL);
	live = f->live;
	for (n = 1;; n++) {
		int rc;

		why.text[0] = '\0';
		f->fail_alloc = f->allocs + n;
		rc = gtp_trace_start(&f->trace, &why);
		f->fail_alloc = 0;
		if (!rc)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_non_null(strstr(why.text, "no memory"));
		assert_int_equal(f->live, live);
		assert_int_equal(f->armed, 0);
		assert_null(f->trace.locs);
		assert_null(f->trace.tps.first->loc);
		assert_false(gtp_trace_running(&f->trace));
	}
	/* the list of CPUs, three allocations for each of two CPUs, two locations */
	assert_int_equal(n, 10);
	stop(f);
	/* the list of buffers, the list of restarts, the heap, the list of chunks, a chunk */
	for (n = 1; n <= 5; n++) {
		f->fail_alloc = f->allocs + n;
		live = f->live;
		assert_null(gtp_trace_index(&f->trace, &why));
		assert_string_equal(
			why.text,
			"no memory to number 0 frames, 16 bytes for each; they stay until the next tstart");
		assert_int_equal(f->live, live);
	}
	assert_non_null(gtp_trace_index(&f->trace, &why));
}

static void session_without_memory(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));
	u32 n, allocs;

	fake_init(f);
	allocs = f->allocs;
	gtp_trace_exit(&f->trace);
	for (n = 1; n <= allocs; n++) {
		f->fail_alloc = f->allocs + n;
		assert_int_equal(gtp_trace_init(&f->trace, &f->mem, &fake_target_ops, &fake_hit_ops,
						f),
				 -ENOMEM);
		assert_int_equal(f->live, 0);
	}
	free(f);
}

/* --- a hit ends the run --- */

static void settling(void **state)
{
	struct fake *f = *state;

	fake_define(f, "1:1000:E:0:1", NULL);
	assert_false(gtp_trace_settle(&f->trace));
	start(f);
	assert_false(gtp_trace_settle(&f->trace));
	/* A hit on another CPU is about to store the reason for the end. */
	f->trace.run.ending = GTP_ENDING_CLAIMED;
	assert_false(gtp_trace_settle(&f->trace));
	assert_true(gtp_trace_running(&f->trace));
	f->trace.run.ending = GTP_ENDING_NO;
	fake_fire(f, 0x1000, &regs);
	assert_true(gtp_trace_running(&f->trace));
	assert_true(gtp_trace_settle(&f->trace));
	assert_int_equal(f->armed, 0);
	assert_true(status_has(f, "T0;tpasscount:1;"));
}

/* A hit that began before tstop ends the run while the probe is disarmed. */
static void finish_claimed_hit(struct fake *f, struct gtp_location *loc)
{
	f->trace.run.ended_by = GTP_STOP_PASSCOUNT;
	f->trace.run.stop_tp = 1;
	f->trace.run.ending = GTP_ENDING_WRITTEN;
}

static void a_hit_was_quicker_than_tstop(void **state)
{
	struct fake *f = *state;

	fake_define(f, "1:1000:E:0:1", NULL);
	start(f);
	f->trace.run.ending = GTP_ENDING_CLAIMED;
	f->while_disarming = finish_claimed_hit;
	stop(f);
	assert_true(status_has(f, "T0;tpasscount:1;"));
	/* The worker that the hit has started finds nothing to do. */
	assert_false(gtp_trace_settle(&f->trace));
}

static void hit_late(struct fake *f, struct gtp_location *loc)
{
	fake_hit(loc, f->trace.run.cpus[0], &regs, 0);
}

static void hits_after_the_stop_are_ignored(void **state)
{
	struct fake *f = *state;

	fake_define(f, "1:1000:E:0:1", NULL);
	start(f);
	f->while_disarming = hit_late;
	gtp_trace_stop(&f->trace, GTP_STOP_DISCONNECTED);
	assert_true(status_has(f, "T0;tdisconnected:0;tframes:0;"));
	assert_int_equal(f->stopping, 0);
}

/* --- tracepoints defined during a run --- */

static int install(struct fake *f, struct gtp_tracepoint *tp, const char *want)
{
	struct gtp_why why = { "" };
	int rc = gtp_trace_install(&f->trace, tp, &why);

	assert_string_equal(why.text, want);
	return rc;
}

static const char no_probe[] = "tracepoint 2 at 0x2000: no probe";

static void installing(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;

	fake_define(f, "1:1000:E:0:0", NULL);
	start(f);
	fake_log_clear(f);
	assert_int_equal(install(f, fake_define(f, "2:2000:E:0:0", "R1"), ""), 0);
	tp = fake_define(f, "3:1000:E:0:0", "R1");
	assert_int_equal(install(f, tp, ""), 0);
	/* A second call has no effect. */
	assert_int_equal(install(f, tp, ""), 0);
	assert_string_equal(f->log, "arm 2000\n");
	fake_fire(f, 0x2000, &regs);
	fake_fire(f, 0x1000, &regs);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 1);
	stop(f);
	assert_string_equal(f->log, "arm 2000\ndisarm 1000\ndisarm 2000\n");
	assert_string_equal(fake_frames(f), "2@2000 r0=0\n1@1000\n3@1000 r0=0\n");

	/* Without a run, the tracepoint is only defined. */
	tp = fake_define(f, "4:4000:E:0:0", NULL);
	assert_int_equal(install(f, tp, ""), 0);
	assert_null(tp->loc);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 0);
}

static void installing_is_refused(void **state)
{
	const char *unknown =
		"tracepoint 3, condition: getv at byte 0: trace state variable 70 is not defined";
	struct gtp_tracepoint *tp;
	struct fake *f = *state;
	s32 live;

	f->trace.strict = true;
	start(f);
	live = f->live;
	f->refuse_arm = 0x2000;
	assert_int_equal(install(f, fake_define(f, "2:2000:E:0:0", "R1"), no_probe), -EOPNOTSUPP);
	tp = fake_define(f, "3:3000:E:0:0:X4,2c004627", NULL);
	assert_int_equal(install(f, tp, unknown), -EINVAL);
	fake_define(f, "4:4000:E:0:0", NULL);
	f->fail_alloc = f->allocs + 1;
	assert_int_equal(install(f, f->trace.tps.first, "no memory to arm tracepoint 4"), -ENOMEM);
	assert_null(f->trace.tps.first);
	assert_int_equal(f->live, live);
	assert_int_equal(f->armed, 0);
	assert_true(gtp_trace_running(&f->trace));
}

static void installing_runs_out_of_counters(void **state)
{
	struct fake *f = *state;
	const char *no_counters =
		"tracepoint 65534: no more than 4096 can be added to a run; tstop and tstart again";
	struct gtp_tracepoint *last = NULL, *one_more;
	char text[32];
	u32 i;

	f->trace.strict = true;
	start(f);
	/* A tracepoint that is refused uses no counter. */
	f->refuse_arm = 0x2000;
	assert_int_equal(install(f, fake_define(f, "2:2000:E:0:0", NULL), no_probe), -EOPNOTSUPP);
	for (i = 1; i <= GTP_SLOTS_SPARE; i++) {
		fake_log_clear(f);
		snprintf(text, sizeof(text), "%x:%x:E:0:0", i, 0x10000 + i);
		last = fake_define(f, text, NULL);
		assert_int_equal(install(f, last, ""), 0);
	}
	one_more = fake_define(f, "fffe:1000:E:0:0", NULL);
	assert_int_equal(install(f, one_more, no_counters), -ENOMEM);
	assert_int_equal(f->trace.tps.count, GTP_SLOTS_SPARE);
	fake_fire(f, 0x10000 + GTP_SLOTS_SPARE, &regs);
	assert_int_equal(gtp_trace_hits(&f->trace, last).hits, 1);
	fake_log_clear(f);
}

static void enabling(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = fake_define(f, "1:1000:E:0:0", NULL);

	assert_int_equal(gtp_trace_enable(&f->trace, 1, 0x1001, false), -ENOENT);
	assert_int_equal(gtp_trace_enable(&f->trace, 2, 0x1000, false), -ENOENT);
	assert_true(tp->enabled);
	assert_int_equal(gtp_trace_enable(&f->trace, 1, 0x1000, false), 0);
	assert_false(tp->enabled);
}

/* --- code that is unloaded --- */

static const char unloaded[] =
	"tracepoint 2 at 0x2000: its module has been unloaded; load it and tstart, or delete it";

static void a_module_is_unloaded(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *in, *out;

	out = fake_define(f, "1:1000:E:0:0", NULL);
	in = fake_define(f, "2:2000:E:0:0", NULL);
	fake_define(f, "3:2fff:E:0:0", NULL);
	fake_define(f, "4:3000:E:0:0", NULL);
	f->missed = 2;
	start(f);
	fake_fire(f, 0x2000, &regs);
	assert_int_equal(totals(f).missed, 8);
	fake_log_clear(f);
	assert_int_equal(gtp_trace_forget_range(&f->trace, 0x2000, 0x3000), 2);
	assert_string_equal(f->log, "disarm 2fff\ndisarm 2000\n");
	assert_int_equal(totals(f).missed, 8);
	assert_true(in->gone && !in->loc && !out->gone && out->loc);
	/* The run continues with the other tracepoints, and collected frames stay. */
	assert_false(fake_fire(f, 0x2000, &regs));
	assert_true(fake_fire(f, 0x3000, &regs));
	assert_int_equal(gtp_trace_hits(&f->trace, in).hits, 1);
	assert_int_equal(gtp_trace_forget_range(&f->trace, 0x2000, 0x3000), 0);
	stop(f);
	assert_int_equal(totals(f).missed, 8);
	assert_string_equal(fake_frames(f), "2@2000\n4@3000\n");
	assert_true(gtp_tracepoint_find(&f->trace.tps, 2, 0x2000)->gone);
	f->trace.strict = true;
	refuse_start(f, -EOPNOTSUPP, unloaded);
	/* Without a run no location is armed, so none is disarmed. */
	fake_log_clear(f);
	assert_int_equal(gtp_trace_forget_range(&f->trace, 0, ~0ULL), 2);
	assert_string_equal(f->log, "");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_run),
		T(without_tracepoints),
		T(a_run_is_on_already),
		T(the_next_run_begins_afresh),
		T(forgetting_everything),
		T(frames_in_the_order_of_time),
		T(the_clock_begins_anew),
		T(an_address_is_refused),
		T(hits_count_when_all_is_armed),
		T(variables_are_checked_at_the_start),
		T(start_without_memory),
		cmocka_unit_test(session_without_memory),
		T(settling),
		T(a_hit_was_quicker_than_tstop),
		T(hits_after_the_stop_are_ignored),
		T(installing),
		T(installing_is_refused),
		T(installing_runs_out_of_counters),
		T(enabling),
		T(a_module_is_unloaded),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
