// SPDX-License-Identifier: GPL-2.0-only
/* Tests the frame of a hit, the end of a run, and memory that a hit may not access. */
#include "hit_case.h"
#include "hit/hit.h"

/* --- what is collected --- */

static void registers(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, "R30023", NULL);
	define(f, "2:1000:E:0:0", NULL, "R0", NULL);
	define(f, "3:1000:E:0:0", NULL, "Rf00000", NULL);
	start(f);
	fire(f, 1);
	/*
	 * rip is the location's address; eflags has 32 bits; ds to gs are unknown, which is not an
	 * error
	 */
	expect_frames(f, "1@1000 r0=a r1=b r5=2000 r16=1000 r17=246\n2@1000\n3@1000\n");
}

static void memory(void **state)
{
	struct fake *f = *state;

	fake_map(f, 0x1000, "\xcc", 1);
	define(f, "1:1000:E:0:0", NULL, "M-1,2000,2M5,4,3M5,fffffffffffffff0,0000001", NULL);
	define(f, "2:1000:E:0:0", NULL, "M10,0,1M-1,200f,1", NULL);
	fake_map(f, 0x1ff0, "\xee", 1);
	start(f);
	fire(f, 1);
	expect_frames(f, "1@1000 m2000=0102 m2004=6b6572 m1ff0=ee\n2@1000 m1000=cc m200f=00\n");
}

static void expressions(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, REG("05") TRACE_QUICK("04") REF32 POP END,
	       REG("05") CONST8("04") ADD CONST8("14") TRACENZ END,
	       REG("05") CONST8("03") TRACE END, REG("05") CONST8("00") TRACE END,
	       GETV("46") TRACEV("46") POP END, REG("10") END, NULL);
	f->trace.run.tsvs.slot[0x46]->initial = -5;
	start(f);
	fire(f, 1);
	expect_frames(f, "1@1000 m2000=01020304 m2004=6b65726e656c00 m2000=010203 v70=-5\n");
}

static void no_actions(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, NULL);
	start(f);
	fire(f, 3);
	expect_frames(f, "1@1000\n1@1000\n1@1000\n");
	assert_int_equal(f->stopping, 0);
}

static void built_in_variables(void **state)
{
	struct fake *f = *state;
	const struct gtp_index *ix;
	struct gtp_why why;
	s64 clock;

	f->ncpus = 3;
	f->cpu = 2;
	f->task = 77;
	f->pid = 1234;
	/* $cpu_id == 2 */
	define(f, "1:1000:E:0:0", GETV("01") CONST8("02") EQUAL END,
	       TRACEV("01") TRACEV("03") TRACEV("04") END, NULL);
	define(f, "2:1000:E:0:0", GETV("02") END, TRACEV("02") GETV("02") SETV("46") END, NULL);
	start(f);
	fire(f, 1);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	ix = gtp_trace_index(&f->trace, &why);
	assert_int_equal(ix->n, 2);
	assert_non_null(strstr(fake_frames(f), "1@1000 v1=2 v3=77 v4=1234\n"));
	/* In a hit, the clock has the same value in all conditions, frames and actions. */
	assert_true(gtp_frame_get_var(gtp_index_at(ix, 1)->frame, GTP_TSV_CLOCK, &clock));
	assert_int_equal(clock, gtp_index_at(ix, 1)->frame->time);
	assert_int_equal(variable(f), clock);
	assert_int_equal(gtp_index_at(ix, 0)->frame->time, clock);
}

static void print(void **state)
{
	struct fake *f = *state;

	/* printf of rsi with channel 0, function 0 and the format "rsi=%d" */
	define(f, "9:1000:E:0:0", NULL,
	       REG("04") CONST8("00") CONST8("00") "340100077273693d256400" END, NULL);
	start(f);
	fire(f, 1);
	assert_string_equal(f->printed, "9 rsi=7\n");
	expect_frames(f, "9@1000\n");
}

/* --- conditions, times, and the end of a run --- */

static void a_false_condition_costs_itself(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;
	u64 clock;

	/* *(u32 *)$rdi == $rsi */
	tp = define(f, "1:1000:E:0:1", REG("05") REF32 REG("04") EQUAL END, "R1", NULL);
	start(f);
	clock = f->clock;
	fire(f, 5);
	assert_true(f->clock == clock);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 0);
	assert_int_equal(f->trace.run.cpus[0]->buf.created, 0);
	fake_write(f, 0x2000, "\x07\0\0", 4);
	fire(f, 1);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 1);
	expect_end(f, GTP_STOP_PASSCOUNT, 1);
	expect_frames(f, "1@1000 r0=a\n");
}

/* If a jump pad has evaluated the first tracepoint's condition, C evaluates only later ones. */
static void a_condition_known_to_hold(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", CONST8("00") END, "R1", NULL);
	define(f, "2:1000:E:0:0", CONST8("00") END, "R1", NULL);
	define(f, "3:1000:E:0:0", NULL, NULL);
	start(f);
	gtp_hit_inline(fake_armed(f, 0x1000)->first, f->trace.run.cpus[0], &regs, true, 0);
	assert_int_equal(gtp_trace_enable(&f->trace, 1, 0x1000, false), 0);
	gtp_hit_inline(fake_armed(f, 0x1000)->first, f->trace.run.cpus[0], &regs, true, 0);
	expect_frames(f, "1@1000 r0=a\n3@1000\n3@1000\n");
}

static void time_of_the_counter(void **state)
{
	/* One tick of the counter takes one and a half ns. */
	struct gtp_calibration c = { .ns = 7000, .rate = 3ULL << 31 };
	struct fake *f = *state;
	const struct gtp_index *ix;
	struct gtp_why why;
	u64 before, after;
	s64 clock;

	define(f, "1:1000:E:0:0", NULL, TRACEV("02") END, NULL);
	start(f);
	f->trace.run.cpus[0]->env.tsc = &c;
	before = gtp_read_tsc();
	c.tsc = before;
	fire(f, 2);
	after = gtp_read_tsc();
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	ix = gtp_trace_index(&f->trace, &why);
	assert_int_equal(ix->n, 2);
	assert_true(before <= gtp_index_at(ix, 0)->frame->time);
	assert_true(gtp_index_at(ix, 0)->frame->time < gtp_index_at(ix, 1)->frame->time);
	assert_true(gtp_index_at(ix, 1)->frame->time <= after);
	assert_true(gtp_frame_get_var(gtp_index_at(ix, 0)->frame, GTP_TSV_CLOCK, &clock));
	assert_int_equal(clock, 7000 + (gtp_index_at(ix, 0)->frame->time - before) * 3 / 2);
	/* The counter of another CPU may be slightly behind, but the time must not go back. */
	assert_int_equal(gtp_calibration_ns(&c, before - 5), 7000);
	assert_int_equal(gtp_calibration_ns(&c, before + (1ULL << 40)), 7000 + (3ULL << 39));
}

static void disabled(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = define(f, "1:1000:D:0:0", NULL, NULL);

	start(f);
	fire(f, 2);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 0);
	assert_int_equal(gtp_trace_enable(&f->trace, 1, 0x1000, true), 0);
	fire(f, 3);
	assert_int_equal(gtp_trace_enable(&f->trace, 1, 0x1000, false), 0);
	fire(f, 4);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 3);
	expect_frames(f, "1@1000\n1@1000\n1@1000\n");
}

static void pass_count(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *a, *b;

	f->ncpus = 2;
	a = define(f, "1:1000:E:0:0", NULL, NULL);
	b = define(f, "2:1000:E:0:3", NULL, NULL);
	define(f, "3:1000:E:0:0", NULL, NULL);
	start(f);
	fire(f, 2);
	f->cpu = 1;
	fire(f, 4);
	/* The third hit ends the run: tracepoint 3, which comes after 2, does not record it. */
	assert_int_equal(gtp_trace_hits(&f->trace, a).hits, 3);
	assert_int_equal(gtp_trace_hits(&f->trace, b).hits, 3);
	expect_end(f, GTP_STOP_PASSCOUNT, 2);
	expect_frames(f, "1@1000\n2@1000\n3@1000\n1@1000\n2@1000\n3@1000\n1@1000\n2@1000\n");
	assert_non_null(strstr(fake_status(f), "T0;tpasscount:2;"));

	/* The next run counts hits from 0. */
	f->stopping = 0;
	start(f);
	fire(f, 2);
	assert_int_equal(f->stopping, 0);
	fire(f, 1);
	expect_end(f, GTP_STOP_PASSCOUNT, 2);
}

/* Make hits on CPU 1 during a hit on CPU 0: at 0x3000, and then at the same location. */
static void other_cpu(struct fake *f)
{
	f->cpu = 1;
	assert_true(fake_fire(f, 0x3000, &regs));
	fire(f, 2);
	f->cpu = 0;
}

static void beyond_the_last_one(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;

	f->ncpus = 2;
	tp = define(f, "1:1000:E:0:2", NULL, "M-1,2000,1", NULL);
	define(f, "2:3000:E:0:0", NULL, NULL);
	start(f);
	fire(f, 1);
	f->while_reading = other_cpu;
	fire(f, 1);
	/*
	 * The second hit is the last that counts, although two more come while its frame is
	 * written.
	 */
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 2);
	expect_end(f, GTP_STOP_PASSCOUNT, 1);
	expect_frames(f, "1@1000 m2000=01\n1@1000 m2000=01\n2@3000\n");
}

static void the_first_reason_stays(void **state)
{
	struct fake *f = *state;

	f->ncpus = 2;
	define(f, "1:1000:E:0:1", NULL, "M-1,2000,1", NULL);
	define(f, "2:3000:E:0:1", NULL, NULL);
	start(f);
	f->while_reading = other_cpu;
	fire(f, 1);
	/*
	 * Both tracepoints reached their pass count. The hit that began first is finished, but the
	 * other hit has ended the run.
	 */
	expect_end(f, GTP_STOP_PASSCOUNT, 2);
	expect_frames(f, "1@1000 m2000=01\n2@3000\n");
}

static void usage_is_bytes_of_frames(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = define(f, "1:1000:E:0:0", NULL, "R1M-1,2000,3", NULL);
	struct gtp_tp_stat stat;

	start(f);
	fire(f, 2);
	stat = gtp_trace_hits(&f->trace, tp);
	assert_int_equal(stat.usage, gtp_buffer_used(&f->trace.run.cpus[0]->buf));
	assert_int_equal(stat.usage, 2 * (sizeof(struct gtp_frame) + 24 + 24));
}

/* --- errors --- */

static void error_in_a_condition(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, NULL);
	define(f, "2:1000:E:0:0", REG("04") CONST8("00") DIV END, "R1", NULL);
	define(f, "3:1000:E:0:0", NULL, NULL);
	start(f);
	fire(f, 3);
	expect_error(f, 2, "condition: div_signed at byte 5: division by zero");
	expect_frames(f, "1@1000\n");
}

static void error_in_an_expression(void **state)
{
	struct fake *f = *state;

	define(f, "3:1000:E:0:2", NULL, "R1", REG("05") TRACE_QUICK("02") POP REG("04") REF32 END,
	       "R2", NULL);
	start(f);
	fire(f, 2);
	expect_error(f, 3, "action 2 (X): ref32 at byte 9: cannot read memory at 0x7 (4 bytes)");
	/* The blocks collected before the error stay, and the frame is marked incomplete. */
	expect_frames(f, "3@1000! r0=a m2000=0102\n");
	assert_non_null(strstr(fake_status(f), "T0;terror:616374696f6e2032"));
	assert_non_null(strstr(fake_status(f), ":3;tframes:1;tcreated:1;"));
}

static void error_in_a_memory_action(void **state)
{
	struct fake *f = *state;

	define(f, "4:1000:E:0:0", NULL, "M-1,2000,1M5,ffe,4M-1,2000,1", NULL);
	start(f);
	fire(f, 2);
	expect_error(f, 4, "action 2 (M): cannot read memory at 0x2ffe (4 bytes)");
	expect_frames(f, "4@1000! m2000=01\n");
}

static const char too_much[] =
	"action 1 (X): trace at byte 10: collecting 2097152 bytes is more than a frame may hold";

static void more_than_a_frame_may_hold(void **state)
{
	struct fake *f = *state;

	f->trace.buffer_bytes = 4 << 20;
	fake_map(f, 0x100000, NULL, 2 << 20);
	define(f, "1:1000:E:0:0", NULL, CONST32("00100000") CONST32("00200000") TRACE END, NULL);
	start(f);
	fire(f, 1);
	expect_error(f, 1, too_much);

	f->stopping = 0;
	gtp_trace_reset(&f->trace);
	define(f, "1:1000:E:0:0", NULL, "M-1,100000,80000", "M-1,100000,80000", NULL);
	start(f);
	fire(f, 1);
	expect_error(f, 1, "action 2 (M): 524288 bytes are more than a frame may hold");
}

/* --- errors that do not end the run --- */

static void expect_failure(struct fake *f, u64 times, u32 tp, const char *want)
{
	struct gtp_totals sum;
	char text[160];

	assert_int_equal(f->stopping, 0);
	gtp_trace_totals(&f->trace, &sum);
	assert_int_equal(sum.failed, times);
	assert_int_equal(f->trace.run.failing, GTP_ENDING_WRITTEN);
	assert_int_equal(f->trace.run.failure.tp, tp);
	gtp_failure_text(&f->trace.run.failure, text, sizeof(text));
	assert_string_equal(text, want);
}

static void a_condition_that_fails_is_false(void **state)
{
	struct fake *f = *state;

	f->trace.pass_errors = true;
	define(f, "2:1000:E:0:0", REG("04") CONST8("00") DIV END, "R1", NULL);
	define(f, "3:1000:E:0:0", NULL, NULL);
	start(f);
	fire(f, 3);
	expect_failure(f, 3, 2, "condition: div_signed at byte 5: division by zero");
	expect_frames(f, "3@1000\n3@1000\n3@1000\n");
}

/* If an action fails, only its block is missing from the frame, and the failure is counted. */
static void an_action_that_fails_leaves_the_others(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;

	f->trace.pass_errors = true;
	f->trace.run.tsvs.slot[0x46]->initial = 5;
	tp = define(f, "3:1000:E:0:0", NULL, "R1", REG("04") REF32 END, "M5,ffe,4M-1,2000,1",
		    GETV("46") TRACEV("46") POP END, NULL);
	start(f);
	fire(f, 2);
	expect_failure(f, 4, 3,
		       "action 2 (X): ref32 at byte 3: cannot read memory at 0x7 (4 bytes)");
	assert_int_equal(gtp_trace_hits(&f->trace, tp).failed, 4);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 2);
	expect_frames(f, "3@1000! r0=a m2000=01 v70=5\n3@1000! r0=a m2000=01 v70=5\n");
}

/* The next run has its own setting and its own errors. */
static void errors_of_an_earlier_run(void **state)
{
	struct fake *f = *state;

	f->trace.pass_errors = true;
	define(f, "3:1000:E:0:0", NULL, REG("04") REF32 END, NULL);
	start(f);
	f->trace.pass_errors = false;
	fire(f, 2);
	expect_failure(f, 2, 3,
		       "action 1 (X): ref32 at byte 3: cannot read memory at 0x7 (4 bytes)");
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	start(f);
	assert_int_equal(f->trace.run.failing, GTP_ENDING_NO);
	assert_int_equal(gtp_trace_hits(&f->trace, f->trace.tps.first).failed, 0);
	fire(f, 2);
	expect_error(f, 3, "action 1 (X): ref32 at byte 3: cannot read memory at 0x7 (4 bytes)");
}

/* --- full buffers --- */

static void full(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;
	u64 n;

	f->trace.buffer_bytes = GTP_BUFFER_MIN;
	tp = define(f, "1:1000:E:0:0", NULL, "R1", NULL);
	start(f);
	for (n = 0; n < 1000 && !f->stopping; n++)
		fire(f, 1);
	expect_end(f, GTP_STOP_FULL, 1);
	/* A frame has 48 bytes. The last hit found no room, and left no frame. */
	assert_int_equal(n - 1, GTP_BUFFER_MIN / 48);
	assert_int_equal(gtp_buffer_frames(&f->trace.run.cpus[0]->buf), n - 1);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).usage, (n - 1) * 48);
	assert_non_null(strstr(fake_status(f), "T0;tfull:0;"));
}

static void circular(void **state)
{
	struct fake *f = *state;
	struct gtp_totals sum;

	f->trace.buffer_bytes = GTP_BUFFER_MIN;
	f->trace.circular = true;
	define(f, "1:1000:E:0:0", NULL, "R1", NULL);
	start(f);
	fire(f, 1000);
	assert_int_equal(f->stopping, 0);
	gtp_trace_totals(&f->trace, &sum);
	assert_int_equal(sum.created, 1000);
	assert_in_range(sum.frames, GTP_BUFFER_MIN / 48 - 1, GTP_BUFFER_MIN / 48);
}

#define STRING "240001000022202f27"

/*
 * If a hit drops old frames, it also makes room for hits in pads, which reserve the maximum length
 * of a string.
 */
static void circular_with_strings(void **state)
{
	static const struct gtp_calibration by_counter;
	static const char text[64] = "some text";
	struct gtp_tracepoint *tp, *two;
	struct fake *f = *state;
	struct gtp_buffer *b;
	const u32 bytes = (u32)sizeof(struct gtp_frame) + 16 + 16;

	fake_map(f, 0x10000, text, sizeof(text));
	f->trace.buffer_bytes = GTP_BUFFER_MIN;
	f->trace.circular = true;
	tp = define(f, "1:1000:E:0:0", NULL, STRING, NULL);
	two = define(f, "2:2000:E:0:0", NULL, STRING, STRING, NULL);
	start(f);
	for (u32 i = 0; i < f->trace.run.ncpus; i++)
		f->trace.run.cpus[i]->env.tsc = &by_counter;
	gtp_hit_settle(&f->trace.run, tp);
	gtp_hit_settle(&f->trace.run, two);
	assert_non_null(tp->plan.in_pad);
	assert_null(two->plan.in_pad);
	b = &f->trace.run.cpus[0]->buf;
	for (u32 i = 0; i < 1000; i++) {
		fire(f, 1);
		assert_in_range(b->end - b->head, 512 - bytes, GTP_BUFFER_MIN);
	}
	assert_true(b->dropped > 900);
}

static void larger_than_the_whole_ring(void **state)
{
	struct fake *f = *state;

	fake_map(f, 0x10000, NULL, 8192);
	f->trace.buffer_bytes = GTP_BUFFER_MIN;
	f->trace.circular = true;
	define(f, "1:1000:E:0:0", NULL, "M-1,10000,2000", NULL);
	start(f);
	fire(f, 1);
	expect_end(f, GTP_STOP_FULL, 1);
	expect_frames(f, "");
}

/* --- hits in hits --- */

static void interrupt(struct fake *f)
{
	fire(f, 2);
}

static void nested(void **state)
{
	struct fake *f = *state;
	struct gtp_totals sum;

	define(f, "1:1000:E:0:0", NULL, "M-1,2000,1", NULL);
	start(f);
	f->while_reading = interrupt;
	fire(f, 1);
	fire(f, 1);
	expect_frames(f, "1@1000 m2000=01\n1@1000 m2000=01\n");
	gtp_trace_totals(&f->trace, &sum);
	assert_int_equal(sum.nested, 2);

	/* After the run, nested hits are no longer counted. */
	f->trace.run.cpus[0]->in_hit = 1;
	fake_hit(f->trace.locs, f->trace.run.cpus[0], &regs, 0);
	assert_int_equal(f->trace.run.cpus[0]->nested, 2);
}

/* --- trace state variables --- */

static void reading_takes_no_lock(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", GETV("46") CONST8("00") EQUAL END, TRACEV("46") END, NULL);
	start(f);
	fire(f, 1);
	assert_int_equal(f->tsv_locks, 0);
}

static void every_setting_takes_the_lock(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", INCREMENT END, CONST8("05") SETV("46") END, INCREMENT END, NULL);
	start(f);
	fire(f, 1);
	assert_int_equal(f->tsv_locks, 3);
	assert_int_equal(variable(f), 6);
}

static void the_lock_is_given_back_after_an_error(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, CONST8("05") SETV("46") POP CONST8("00") REF32 END, NULL);
	start(f);
	fire(f, 1);
	assert_int_equal(f->tsv_locks, 1);
	assert_false(f->tsv_locked);
	assert_int_equal(variable(f), 5);
	expect_error(f, 1, "action 1 (X): ref32 at byte 8: cannot read memory at 0x0 (4 bytes)");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(registers),
		T(memory),
		T(expressions),
		T(no_actions),
		T(built_in_variables),
		T(print),
		T(a_false_condition_costs_itself),
		T(a_condition_known_to_hold),
		T(time_of_the_counter),
		T(disabled),
		T(pass_count),
		T(beyond_the_last_one),
		T(the_first_reason_stays),
		T(usage_is_bytes_of_frames),
		T(error_in_a_condition),
		T(error_in_an_expression),
		T(error_in_a_memory_action),
		T(more_than_a_frame_may_hold),
		T(a_condition_that_fails_is_false),
		T(an_action_that_fails_leaves_the_others),
		T(errors_of_an_earlier_run),
		T(full),
		T(circular),
		T(circular_with_strings),
		T(larger_than_the_whole_ring),
		T(nested),
		T(reading_takes_no_lock),
		T(every_setting_takes_the_lock),
		T(the_lock_is_given_back_after_an_error),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
