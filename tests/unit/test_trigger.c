// SPDX-License-Identifier: GPL-2.0-only
/* Tests $enable and $disable: hits that switch other tracepoints, the initial state, refusals. */
#include <stdlib.h>
#include "hit_case.h"
#include "hit/hit.h"

#define CONST16(v) "23" v
#define EXT(n) "16" n
#define IF_GOTO(at) "20" at
#define GOTO(at) "21" at
/* Numbers of the two variables. */
#define N_ENABLE "13"
#define N_DISABLE "14"
#define ENABLE(num) CONST8(num) SETV(N_ENABLE)
#define DISABLE(num) CONST8(num) SETV(N_DISABLE)

static void call(struct fake *f, u64 addr)
{
	assert_true(fake_fire(f, addr, &regs));
}

static u64 hits(struct fake *f, const struct gtp_tracepoint *tp)
{
	return gtp_trace_hits(&f->trace, tp).hits;
}

/* Tracepoint B is disabled until A is hit: only later hits of B count. */
static void begins_disabled(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *b;

	define(f, "1:1000:E:0:0", NULL, ENABLE("02") END, NULL);
	b = define(f, "2:1100:D:0:0", NULL, "R1", NULL);
	start(f);
	call(f, 0x1100);
	call(f, 0x1000);
	call(f, 0x1100);
	call(f, 0x1000);
	call(f, 0x1100);
	assert_int_equal(hits(f, b), 2);
	assert_int_equal(f->tsv_locks, 0);
	expect_frames(f, "1@1000\n2@1100 r0=a\n1@1000\n2@1100 r0=a\n");
}

static void takes_back(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *b;

	define(f, "1:1000:E:0:0", NULL, DISABLE("02") END, NULL);
	b = define(f, "2:1100:E:0:0", NULL, "R1", NULL);
	start(f);
	call(f, 0x1100);
	call(f, 0x1000);
	call(f, 0x1100);
	assert_int_equal(hits(f, b), 1);
	/* If GDB enables a tracepoint during the run, this takes effect at once. */
	assert_int_equal(gtp_trace_enable(&f->trace, 2, 0x1100, true), 0);
	call(f, 0x1100);
	assert_int_equal(hits(f, b), 2);
	call(f, 0x1000);
	call(f, 0x1100);
	assert_int_equal(hits(f, b), 2);
}

static void each_run_begins_anew(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *b;
	char piece[64];

	define(f, "1:1000:E:0:0", NULL, ENABLE("02") END, NULL);
	b = define(f, "2:1100:D:0:0", NULL, NULL);
	start(f);
	call(f, 0x1000);
	call(f, 0x1100);
	assert_int_equal(hits(f, b), 1);
	/*
	 * A GDB that connects gets the state that the previous GDB has set, not the state to which
	 * a hit has switched the tracepoint. GDB sends this state again at tstart.
	 */
	assert_true(gtp_tracepoint_piece(b, 0, piece, sizeof(piece)) > 0);
	assert_string_equal(piece, "T2:1100:D:0:0");
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	start(f);
	call(f, 0x1100);
	assert_int_equal(hits(f, b), 0);
	assert_int_equal(gtp_trace_enable(&f->trace, 2, 0x1100, true), 0);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	start(f);
	call(f, 0x1100);
	assert_int_equal(hits(f, b), 1);
}

static void itself_after_one_hit(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, DISABLE("01") END, "R1", NULL);
	start(f);
	fire(f, 3);
	expect_frames(f, "1@1000 r0=a\n");
}

static void all_locations_of_a_number(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *b[2], *other;

	define(f, "1:1000:E:0:0", NULL, ENABLE("02") END, NULL);
	b[0] = define(f, "2:1100:D:0:0", NULL, NULL);
	b[1] = define(f, "2:1200:D:0:0", NULL, NULL);
	other = define(f, "102:1300:D:0:0", NULL, NULL); /* in the same hash bucket as 2 */
	start(f);
	call(f, 0x1000);
	call(f, 0x1100);
	call(f, 0x1200);
	call(f, 0x1300);
	assert_int_equal(hits(f, b[0]), 1);
	assert_int_equal(hits(f, b[1]), 1);
	assert_int_equal(hits(f, other), 0);
	assert_false(other->switched);
}

static void all_tracepoints(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *b, *c;

	define(f, "1:1000:E:0:0", NULL, DISABLE("00") END, NULL);
	b = define(f, "2:1100:E:0:0", NULL, NULL);
	c = define(f, "200:1200:E:0:0", NULL, NULL);
	start(f);
	call(f, 0x1000);
	call(f, 0x1100);
	call(f, 0x1200);
	call(f, 0x1000);
	assert_int_equal(hits(f, b) + hits(f, c), 0);
	expect_frames(f, "1@1000\n");
}

/* In the same hit, a switch affects only tracepoints that come later at the address. */
static void at_the_same_address(void **state)
{
	struct fake *f = *state;

	define(f, "3:1000:D:0:0", NULL, NULL);
	define(f, "1:1000:E:0:0", NULL, ENABLE("02") END, ENABLE("03") END, NULL);
	define(f, "2:1000:D:0:0", NULL, NULL);
	start(f);
	fire(f, 2);
	expect_frames(f, "1@1000\n2@1000\n3@1000\n1@1000\n2@1000\n");
}

/* If a hit computes the number, it can switch any tracepoint, so all of them check their switch. */
static void computed_number(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *b;
	struct gtp_totals sum;

	define(f, "1:1000:E:0:0", NULL, REG("04") SETV(N_ENABLE) END, NULL);
	b = define(f, "7:1100:D:0:0", NULL, NULL);
	define(f, "8:1200:E:0:0", NULL, REG("00") CONST8("ff") ADD SETV(N_DISABLE) END, NULL);
	start(f);
	call(f, 0x1000); /* rsi is 7 */
	call(f, 0x1100);
	assert_int_equal(hits(f, b), 1);
	gtp_trace_totals(&f->trace, &sum);
	assert_int_equal(sum.no_target, 0);
	call(f, 0x1200);
	call(f, 0x1200);
	gtp_trace_totals(&f->trace, &sum);
	assert_int_equal(sum.no_target, 2);
}

/*
 * Switches work in all paths of a hit. Tracepoints that only update aggregations, or only have
 * empty frames, have their own paths.
 */
static void every_way_through_a_hit(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;
	struct gtp_tracepoint *b, *c;

	assert_int_equal(
		gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "50:0:0:636f756e745f61", &why), 0);
	define(f, "1:1000:E:0:0", NULL, DISABLE("02") END, DISABLE("03") END, NULL);
	b = define(f, "2:1100:E:0:0", NULL, NULL);
	c = define(f, "3:1200:E:0:0", NULL, CONST8("01") SETV("50") END, NULL);
	start(f);
	for (int i = 0; i < 2; i++) {
		const struct gtp_location *at_b = fake_armed(f, 0x1100);

		gtp_hit_settle(&f->trace.run, b);
		gtp_hit_settle(&f->trace.run, c);
		assert_null(b->plan.quickest);
		assert_null(c->plan.update_alone);
		gtp_hit_inline(at_b->first, f->trace.run.cpus[0], &regs, true, 0);
		call(f, 0x1200);
		call(f, 0x1000);
	}
	assert_int_equal(hits(f, b), 1);
	assert_int_equal(hits(f, c), 1);
}

static void refused(struct fake *f, const char *want)
{
	struct gtp_why why = { "" };

	assert_int_equal(gtp_trace_start(&f->trace, &why), -EINVAL);
	assert_string_equal(why.text, want);
	gtp_trace_reset(&f->trace);
}

static void refusals(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, "R1", ENABLE("05") END, NULL);
	refused(f, "tracepoint 1, action 2 (X): $enable: there is no tracepoint 5");
	define(f, "1:1000:E:0:0", NULL, CONST16("0105") EXT("20") SETV(N_DISABLE) END, NULL);
	refused(f, "tracepoint 1, action 1 (X): $disable: there is no tracepoint 261");
	define(f, "1:1000:E:0:0", ENABLE("01") END, NULL);
	refused(f, "tracepoint 1, condition: $enable is set by a tracepoint's actions only");
	define(f, "1:1000:E:0:0", NULL, GETV(N_ENABLE) POP END, NULL);
	refused(f, "tracepoint 1, action 1 (X): $enable can be set, and no expression can read it");
	define(f, "1:1000:E:0:0", NULL, TRACEV(N_DISABLE) END, NULL);
	refused(f,
		"tracepoint 1, action 1 (X): $disable can be set, and no expression can read it");
	/* A constant with a cast is a constant; a value that depends on a jump is not. */
	define(f, "1:1000:E:0:0", NULL, CONST8("01") EXT("20") SETV(N_ENABLE) END, NULL);
	start(f);
	assert_false(f->trace.all_switched);
	gtp_trace_reset(&f->trace);
	define(f, "1:1000:E:0:0", NULL,
	       CONST8("01") IF_GOTO("000a") CONST8("01") GOTO("000c") CONST8("02") SETV(N_ENABLE)
		       END,
	       NULL);
	start(f);
	assert_true(f->trace.all_switched);
}

/* A tracepoint that is defined during the run switches others, and is switched, like any other. */
static void joins_a_run(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *b, *a, *late;
	struct gtp_why why;

	b = define(f, "2:1100:D:0:0", NULL, NULL);
	start(f);
	assert_false(b->switched);
	a = define(f, "1:1000:E:0:0", NULL, ENABLE("02") END, NULL);
	assert_int_equal(gtp_trace_install(&f->trace, a, &why), 0);
	call(f, 0x1100);
	call(f, 0x1000);
	call(f, 0x1100);
	assert_int_equal(hits(f, b), 1);
	/* Add a location to tracepoint 2, which has been switched. */
	late = define(f, "2:1200:D:0:0", NULL, NULL);
	assert_int_equal(gtp_trace_install(&f->trace, late, &why), 0);
	call(f, 0x1200);
	assert_int_equal(hits(f, late), 1);
	/* Tracepoint 5 cannot join and is refused; the run goes on without it. */
	a = define(f, "5:1300:E:0:0", NULL, ENABLE("09") END, NULL);
	assert_int_equal(gtp_trace_install(&f->trace, a, &why), -EINVAL);
	call(f, 0x1000);
	assert_int_equal(hits(f, b), 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(begins_disabled),
		T(takes_back),
		T(each_run_begins_anew),
		T(itself_after_one_hit),
		T(all_tracepoints),
		T(all_locations_of_a_number),
		T(at_the_same_address),
		T(computed_number),
		T(every_way_through_a_hit),
		T(refusals),
		T(joins_a_run),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
