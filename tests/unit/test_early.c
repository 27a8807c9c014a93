// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kprobe's handler evaluates some conditions before the hit begins. Tests which conditions the
 * handler can evaluate, and how nested hits are counted.
 */
#include "fake_code.h"
#include "hit/hit.h"
#include "hit_case.h"

enum { LIMIT = 0x1000 }; /* loads above this address, as all in this test, are done by a call */

/* The byte at 0x2000, where setup() puts 01, 02, 03 ... */
#define MEMORY "23200017"
#define NO_MEMORY "23ff0017"
#define IS(value) CONST8(value) EQUAL END

static struct jit_user *arena;

static struct fake *machine(void **state)
{
	struct fake *f = *state;

	arena = jit_user_new(64 << 10, LIMIT);
	fake_code_on(&f->trace, arena);
	return f;
}

static void counts(struct fake *f, struct gtp_tracepoint *tp, u64 hits, u64 nested)
{
	struct gtp_totals sum;

	gtp_trace_totals(&f->trace, &sum);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, hits);
	assert_int_equal(sum.nested, nested);
}

static void fire_inside(struct fake *f)
{
	fire(f, 1);
}

static void false_and_true(void **state)
{
	struct fake *f = machine(state);
	struct gtp_tracepoint *never = define(f, "1:1000:E:0:0", MEMORY IS("07"), NULL);
	struct gtp_tracepoint *holds = define(f, "2:3000:E:0:0", MEMORY IS("01"), NULL);

	start(f);
	assert_non_null(never->plan.early);
	assert_non_null(holds->plan.early);
	fire(f, 3);
	assert_true(fake_fire(f, 0x3000, &regs));
	counts(f, never, 0, 0);
	counts(f, holds, 1, 0);
	expect_frames(f, "2@3000\n");
}

static void what_it_leads_to_is_inside(void **state)
{
	struct fake *f = machine(state);
	struct gtp_tracepoint *tp = define(f, "1:1000:E:0:0", MEMORY IS("01"), NULL);

	start(f);
	f->while_reading = fire_inside;
	fire(f, 1);
	counts(f, tp, 1, 1);
	assert_int_equal(f->trace.run.cpus[0]->in_hit, 0);
	expect_frames(f, "1@1000\n");
}

static void inside_a_hit_it_is_not_evaluated(void **state)
{
	struct fake *f = machine(state);
	struct gtp_tracepoint *tp = define(f, "1:1000:E:0:0", MEMORY IS("07"), NULL);

	start(f);
	f->trace.run.cpus[0]->in_hit = 1;
	fire(f, 2);
	assert_int_equal(f->trace.run.cpus[0]->in_hit, 1);
	f->trace.run.cpus[0]->in_hit = 0;
	counts(f, tp, 0, 2);
}

static void what_fails_is_told_by_the_hit(void **state)
{
	struct fake *f = machine(state);

	define(f, "1:1000:E:0:0", NO_MEMORY IS("01"), NULL);
	start(f);
	fire(f, 1);
	expect_end(f, GTP_STOP_ERROR, 1);
}

static void another_joins(void **state)
{
	struct fake *f = machine(state);
	struct gtp_tracepoint *never = define(f, "1:1000:E:0:0", MEMORY IS("07"), NULL);
	struct gtp_tracepoint *joins;
	struct gtp_why why;

	start(f);
	fire(f, 1);
	joins = define(f, "2:1000:E:0:0", NULL, NULL);
	assert_int_equal(gtp_trace_install(&f->trace, joins, &why), 0);
	assert_null(never->plan.early);
	fire(f, 2);
	counts(f, never, 0, 0);
	counts(f, joins, 2, 0);
}

/* A condition that must call a function for a variable is evaluated in the hit, not before it. */
static void others_come_later(void **state)
{
	static const char *const conds[] = {
		GETV("46") END, /* needs a call */
		GETV("01") END, /* $cpu_id needs a call, too, on the fake machine */
	};
	struct fake *f = machine(state);
	char head[32];

	for (u32 i = 0; i < ARRAY_SIZE(conds); i++) {
		snprintf(head, sizeof(head), "%u:%x:E:0:0", i + 1, 0x1000 + i * 0x100);
		define(f, head, conds[i], NULL);
	}
	start(f);
	for (struct gtp_location *l = f->trace.locs; l; l = l->next)
		assert_null(l->first->plan.early);
}

static int end(void **state)
{
	int err = teardown(state);

	jit_user_free(arena);
	return err;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(false_and_true),
		TEST(what_it_leads_to_is_inside),
		TEST(inside_a_hit_it_is_not_evaluated),
		TEST(what_fails_is_told_by_the_hit),
		TEST(another_joins),
		TEST(others_come_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
