// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests hits that never end, because a CPU is stopped while it holds the lock of the variables, or
 * because the kernel kills the task inside a hit. Also tests other hits that wait for such a hit.
 */
#include "hit_case.h"
#include "hit/hit.h"

#define CHANGED GETV("46") CONST8("05") "04" SETV("46")

static u64 busy(struct fake *f)
{
	struct gtp_totals sum;

	gtp_trace_totals(&f->trace, &sum);
	return sum.busy;
}

static u64 hits(struct fake *f, const struct gtp_tracepoint *tp)
{
	return gtp_trace_hits(&f->trace, tp).hits;
}

/*
 * A hit that cannot take the lock of the variables is neither counted nor recorded, even if an
 * earlier action has collected data; and the run continues.
 */
static void an_action_without_the_lock_misses_the_hit(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = define(f, "1:1000:E:0:0", NULL, CONST8("07") SETV("46") POP END,
					   TRACEV("46") END, CHANGED END, TRACEV("46") END, NULL);

	start(f);
	fire(f, 1);
	f->tsv_stuck = true;
	fire(f, 3);
	f->tsv_stuck = false;
	assert_int_equal(hits(f, tp), 1);
	assert_int_equal(busy(f), 3);
	fire(f, 1);
	assert_int_equal(hits(f, tp), 2);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).failed, 0);
	expect_frames(f, "1@1000 v70=7 v70=35\n1@1000 v70=7 v70=35\n");
}

static void a_condition_without_the_lock_misses_the_hit(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = define(f, "1:1000:E:0:0", CHANGED END, "R1", NULL);

	f->trace.pass_errors = true;
	start(f);
	f->tsv_stuck = true;
	fire(f, 2);
	assert_int_equal(busy(f), 2);
	assert_int_equal(hits(f, tp), 0);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).failed, 0);
}

/* If one tracepoint cannot take the lock, another one at the same address still has its hit. */
static void the_others_there_have_their_hits(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *first = define(f, "1:1000:E:0:0", NULL, CHANGED END, NULL);
	struct gtp_tracepoint *second = define(f, "2:1000:E:0:0", NULL, TRACEV("46") END, NULL);

	start(f);
	f->tsv_stuck = true;
	fire(f, 2);
	assert_int_equal(hits(f, first), 0);
	assert_int_equal(hits(f, second), 2);
	assert_int_equal(busy(f), 2);
	expect_frames(f, "2@1000 v70=0\n2@1000 v70=0\n");
}

/* The count of hits that could not take the lock is kept until the next run begins. */
static void it_is_of_a_run(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, CHANGED END, NULL);
	start(f);
	f->tsv_stuck = true;
	fire(f, 1);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	assert_int_equal(busy(f), 1);
	start(f);
	assert_int_equal(busy(f), 0);
}

/* --- a hit in which the kernel dies --- */

static void an_oops_in_a_hit_ends_the_run(void **state)
{
	struct fake *f = *state;
	struct gtp_cpu *cpu;

	define(f, "1:1000:E:0:0", NULL, TRACEV("46") END, NULL);
	start(f);
	fire(f, 1);
	cpu = f->trace.run.cpus[0];
	assert_true(gtp_hit_begin(cpu));
	gtp_hit_lost(cpu);
	assert_int_equal(cpu->in_hit, GTP_HIT_LOST);
	assert_false(f->trace.run.active);
	fire(f, 1);
	assert_true(gtp_trace_settle(&f->trace));
	assert_int_equal(f->trace.stop, GTP_STOP_OOPS);
	assert_non_null(strstr(fake_status(f), ";terror:746865206b65726e656c206469656420"));
	assert_non_null(strstr(fake_status(f), ":0;tframes:1;"));
	start(f);
	assert_int_equal(f->trace.run.cpus[0]->in_hit, GTP_HIT_NONE);
	fire(f, 1);
	expect_frames(f, "1@1000 v70=0\n");
}

/* A task may continue after its hit was given up, for instance in a debugger: the hit ends. */
static void the_end_of_a_lost_hit_is_an_end(void **state)
{
	struct fake *f = *state;
	struct gtp_cpu *cpu;

	define(f, "1:1000:E:0:0", NULL, TRACEV("46") END, NULL);
	start(f);
	cpu = f->trace.run.cpus[0];
	assert_true(gtp_hit_begin(cpu));
	gtp_hit_lost(cpu);
	gtp_hit_end(cpu);
	assert_int_equal(cpu->in_hit, GTP_HIT_NONE);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(an_action_without_the_lock_misses_the_hit),
		T(a_condition_without_the_lock_misses_the_hit),
		T(the_others_there_have_their_hits),
		T(it_is_of_a_run),
		T(an_oops_in_a_hit_ends_the_run),
		T(the_end_of_a_lost_hit_is_an_end),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
