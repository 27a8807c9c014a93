// SPDX-License-Identifier: GPL-2.0-only
/* Tests aggregations in a run: keys, hits without frames, reading and clearing, lack of memory. */
#include <stdlib.h>
#include "hit_case.h"
#include "session/aggregate.h"

/* The numbers of the variables, named by their kind. */
#define COUNT "50"
#define HIST "51"
#define SUM "52"
#define KEY "53"
#define KEY2 "54"
#define KEYSTR "55"
#define PER_CPU "56"
#define IF_GOTO(at) "2000" at
#define SET(n, from) from SETV(n)
#define OTHER_NAME "give it another name here"
#define NO_PREFIX "; a name without that prefix can be both"

static void variables(struct fake *f)
{
	static const char *const text[] = {
		"50:0:0:636f756e745f61",   /* count_a */
		"51:0:0:686973745f61",	   /* hist_a */
		"52:0:0:73756d5f61",	   /* sum_a */
		"53:0:0:6b65795f61",	   /* key_a */
		"54:0:0:6b65795f62",	   /* key_b */
		"55:0:0:6b65797374725f63", /* keystr_c */
		"56:0:0:705f6e",	   /* p_n */
	};
	struct gtp_why why;

	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, text[i], &why), 0);
}

static int setup_variables(void **state)
{
	int rc = setup(state);

	variables(*state);
	return rc;
}

static void expect(struct fake *f, bool clear, const char *want)
{
	struct gtp_why why = { "" };

	assert_int_equal(gtp_aggregates_read(&f->trace, clear, &why), 0);
	assert_string_equal(f->trace.aggregate_text, want);
	assert_int_equal(f->trace.aggregate_bytes, strlen(want));
}

/* Start a run, which must be refused with the message "tracepoint 1, " and @want. */
static void refused(struct fake *f, const char *want)
{
	static const char title[] = "tracepoint 1, ";
	struct gtp_why why = { "" };

	assert_int_equal(gtp_trace_start(&f->trace, &why), -EINVAL);
	assert_memory_equal(why.text, title, strlen(title));
	assert_string_equal(why.text + strlen(title), want);
}

static void fire_with(struct fake *f, u32 cpu, u64 rsi)
{
	struct gtp_regs r = regs;

	r.rsi = rsi;
	f->cpu = cpu;
	assert_true(fake_fire(f, 0x1000, &r));
}

static void no_frame(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;

	tp = define(f, "1:1000:E:0:0", NULL, SET(COUNT, CONST8("01")) END, NULL);
	start(f);
	assert_int_equal(f->trace.run.tsvs.ways[0x50], AX_TSV_COUNT);
	fire(f, 3);
	assert_int_equal(f->tsv_locks, 0);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 3);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).usage, 0);
	expect(f, false, "run 1 0 0\naggregation count_a count :\nentry 3 : :\n");
	fire(f, 1);
	expect_frames(f, "");
	/* After tstop the aggregation can still be read, until the next run begins. */
	expect(f, false, "run 0 0 0\naggregation count_a count :\nentry 4 : :\n");
	start(f);
	expect(f, false, "run 1 0 0\naggregation count_a count :\n");
}

static void beside_a_frame(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, SET(SUM, REG("04")) END, "R1", NULL);
	start(f);
	fire(f, 2);
	expect(f, false, "run 1 0 0\naggregation sum_a sum :\nentry 2 : 14 :\n");
	expect_frames(f, "1@1000 r0=a\n1@1000 r0=a\n");
}

/* A pass count works as it does without aggregations. */
static void pass_count(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:2", NULL, SET(SUM, REG("04")) END, NULL);
	start(f);
	fire(f, 2);
	expect_end(f, GTP_STOP_PASSCOUNT, 1);
	expect(f, false, "run 0 0 0\naggregation sum_a sum :\nentry 2 : 14 :\n");
}

static void an_action_that_fails(void **state)
{
	struct fake *f = *state;

	f->trace.pass_errors = true;
	define(f, "1:1000:E:0:0", NULL, SET(SUM, CONST8("00") REF32) END,
	       SET(COUNT, CONST8("00")) END, NULL);
	start(f);
	fire(f, 2);
	expect(f, false,
	       "run 1 0 0\naggregation sum_a sum :\naggregation count_a count :\nentry 2 : :\n");
}

/*
 * If a key cannot be computed, it still has the value of an earlier hit, so nothing is counted for
 * it.
 */
static void a_key_that_fails(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;

	f->trace.pass_errors = true;
	tp = define(f, "1:1000:E:0:0", NULL, SET(SUM, CONST8("01")) END,
		    SET(KEY, REG("04") REF32) END, SET(COUNT, CONST8("00")) END, NULL);
	start(f);
	fire_with(f, 0, 0x2000);
	fire_with(f, 0, 0);
	expect(f, false,
	       "run 1 0 0\naggregation sum_a sum :\nentry 2 : 2 :\n"
	       "aggregation count_a count : key_a\nentry 1 4030201 : :\n");
	assert_int_equal(gtp_trace_hits(&f->trace, tp).failed, 1);
}

static u64 fails_at_once(const struct gtp_regs *r, struct ax_env *env)
{
	env->progress = 1 << AX_PROGRESS_ACTION;
	return 0;
}

/* If an action fails in machine code, the code reports which one; later ones are interpreted. */
static void machine_code_that_fails(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;

	f->trace.pass_errors = true;
	tp = define(f, "1:1000:E:0:0", NULL, SET(KEY, CONST8("05")) END,
		    SET(COUNT, CONST8("00")) END, NULL);
	define(f, "2:1010:E:0:0", NULL, SET(SUM, CONST8("00") REF32) END, SET(HIST, REG("10")) END,
	       NULL);
	start(f);
	fire(f, 1);
	tp->plan.update_alone = (void *)fails_at_once;
	fire(f, 1);
	tp = gtp_tracepoint_find(&f->trace.tps, 2, 0x1010);
	tp->plan.update_alone = (void *)fails_at_once;
	assert_true(fake_fire(f, 0x1010, &regs));
	expect(f, false,
	       "run 1 0 0\naggregation count_a count : key_a\nentry 1 5 : :\n"
	       "aggregation sum_a sum :\n"
	       "aggregation hist_a hist :\nentry 1 : 4112 4112 4112 : 14=1\n");
}

/* --- keys --- */

static void by_key(void **state)
{
	struct fake *f = *state;

	f->ncpus = 2;
	define(f, "1:1000:E:0:0", NULL, SET(KEY, REG("04")) END, SET(HIST, CONST8("05")) END, NULL);
	start(f);
	fire_with(f, 0, 7);
	fire_with(f, 1, 7);
	fire_with(f, 1, 8);
	expect(f, false,
	       "run 1 0 0\naggregation hist_a hist : key_a\n"
	       "entry 2 7 : 10 5 5 : 4=2\nentry 1 8 : 5 5 5 : 4=1\n");
}

/* Keys apply to all updates after them. The first key after an update begins a new group. */
static void groups_of_keys(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, SET(KEY, CONST8("01")) END,
	       SET(KEY2, CONST8("02")) SET(HIST, CONST8("00")) END, SET(COUNT, CONST8("00")) END,
	       SET(KEY2, CONST8("03")) END, SET(SUM, CONST8("04")) END, NULL);
	start(f);
	fire(f, 1);
	expect(f, false,
	       "run 1 0 0\naggregation hist_a hist : key_a key_b\nentry 1 1 2 : 0 0 0 : 1=1\n"
	       "aggregation count_a count : key_a key_b\nentry 1 1 2 : :\n"
	       "aggregation sum_a sum : key_b\nentry 1 3 : 4 :\n");
}

static void by_string(void **state)
{
	struct fake *f = *state;

	/* At 0x2004 is "kernel\0tail". "abc" at 0x5000 ends with its memory. 0 is not mapped. */
	memcpy(fake_map(f, 0x5000, NULL, 4), "abc", 4);
	define(f, "1:1000:E:0:0", NULL, SET(KEYSTR, REG("04")) END, SET(COUNT, CONST8("00")) END,
	       NULL);
	start(f);
	fire_with(f, 0, 0x2004);
	fire_with(f, 0, 0x5000);
	fire_with(f, 0, 0);
	fire_with(f, 0, 0x5003);
	fire_with(f, 0, 0x5000);
	expect(f, false,
	       "run 1 0 0\naggregation count_a count : keystr_c\n"
	       "entry 1 6c656e72656b 0 : :\n"
	       "entry 2 636261 0 : :\n"
	       "entry 1 646461206461623c 3e73736572 : :\n"
	       "entry 1 0 0 : :\n");
}

static void refusals(void **state)
{
	static const struct {
		const char *cond, *first, *second, *why;
	} rows[] = {
		{ NULL, GETV(COUNT) END, NULL,
		  "action 1 (X): $count_a can be set, and no expression can read it" NO_PREFIX },
		{ NULL, TRACEV(HIST) END, NULL,
		  "action 1 (X): $hist_a can be set, and no expression can read it" NO_PREFIX },
		{ NULL, GETV(KEYSTR) END, NULL,
		  "action 1 (X): $keystr_c can be set, and no expression can read it" NO_PREFIX },
		{ SET(COUNT, CONST8("01")) END, "R1", NULL,
		  "condition: $count_a is set by a tracepoint's actions only" },
		/* if (0) goto end; $key_a = 1; end: 5 */
		{ NULL, CONST8("00") CONST8("00") IF_GOTO("0a") SETV(KEY) END, NULL,
		  "action 1 (X): $key_a is a key: set it unconditionally, not after ?:, && or ||" },
		{ NULL, SET(COUNT, CONST8("00")) END, SET(KEY, CONST8("00")) SET(COUNT, "") END,
		  "action 2 (X): $count_a is updated with other keys before; " OTHER_NAME },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fake *f = *state;

		define(f, "1:1000:E:0:0", rows[i].cond, rows[i].first, rows[i].second, NULL);
		refused(f, rows[i].why);
		assert_null(f->trace.aggregates);
		teardown(state);
		setup_variables(state);
	}
}

/* --- reading --- */

static void in_between(struct fake *f, struct gtp_cpu *cpu)
{
	f->cpu = cpu->id;
	assert_true(fake_fire(f, 0x1000, &regs));
}

/* A hit on each CPU just before the CPU changes to its other table is not lost by a clear. */
static void clear_loses_nothing(void **state)
{
	struct fake *f = *state;

	f->ncpus = 3;
	define(f, "1:1000:E:0:0", NULL, SET(KEY, GETV("01")) END, SET(SUM, CONST8("01")) END, NULL);
	start(f);
	fire_with(f, 2, 0);
	f->while_exchanging = in_between;
	expect(f, true,
	       "run 1 0 0\naggregation sum_a sum : key_a\nentry 1 0 : 1 :\nentry 1 1 : 1 :\nentry 2 2 : 2 :\n");
	f->while_exchanging = NULL;
	fire_with(f, 1, 0);
	expect(f, false, "run 1 0 0\naggregation sum_a sum : key_a\nentry 1 1 : 1 :\n");
	fire_with(f, 1, 0);
	expect(f, true, "run 1 0 0\naggregation sum_a sum : key_a\nentry 2 1 : 2 :\n");
	expect(f, false, "run 1 0 0\naggregation sum_a sum : key_a\n");
}

static void interrupt(struct fake *f)
{
	assert_true(fake_fire(f, 0x1000, &regs));
}

/* A nested hit, in the middle of another hit's update, updates nothing, and is counted. */
static void nested(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, SET(SUM, REG("05") REF32) END, NULL);
	start(f);
	f->while_reading = interrupt;
	f->missed = 2;
	fire(f, 1);
	expect(f, false, "run 1 1 2\naggregation sum_a sum :\nentry 1 : 67305985 :\n");
}

static void full_tables(void **state)
{
	struct fake *f = *state;
	u32 i;

	f->trace.aggregate_keys = 2;
	f->ncpus = 2;
	define(f, "1:1000:E:0:0", NULL, SET(KEY, REG("04")) END, SET(COUNT, CONST8("00")) END,
	       NULL);
	start(f);
	for (i = 0; i < 3; i++)
		fire_with(f, 0, i);
	for (i = 10; i < 13; i++)
		fire_with(f, 1, i);
	expect(f, false,
	       "run 1 0 0\naggregation count_a count : key_a\nnoroom 2 : :\n"
	       "entry 1 0 : :\nentry 1 1 : :\nentry 1 a : :\nentry 1 b : :\n");
}

static void joins_a_run(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;
	struct gtp_why why = { "" };

	f->ncpus = 2;
	define(f, "1:1000:E:0:0", NULL, SET(COUNT, CONST8("01")) END, NULL);
	start(f);
	fire(f, 2);
	tp = define(f, "2:1000:E:0:0", NULL, SET(COUNT, CONST8("01")) SET(SUM, "") END, NULL);
	assert_int_equal(gtp_trace_install(&f->trace, tp, &why), 0);
	fire(f, 1);
	expect(f, false,
	       "run 1 0 0\naggregation count_a count :\nentry 4 : :\naggregation sum_a sum :\nentry 1 : 1 :\n");
	/* A variable of the run cannot be redefined as another one. */
	assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "50:0:0:705f6e", &why),
			 -EBUSY);
	assert_int_equal(
		gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "50:0:0:636f756e745f61", &why), 0);
}

/* --- no memory --- */

static void tracepoints(struct fake *f)
{
	define(f, "1:1000:E:0:0", NULL, SET(KEY, REG("04")) END, SET(HIST, CONST8("00")) END,
	       SET(COUNT, CONST8("00")) END, NULL);
}

/* After any failed allocation, the run either does not start or continues, and nothing leaks. */
static void no_memory_at_the_start(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;
	u32 begin, n, failures = 0;
	int rc;

	f->ncpus = 2;
	tracepoints(f);
	do {
		begin = f->allocs;
		f->fail_alloc = begin + ++failures;
		rc = gtp_trace_start(&f->trace, &why);
		assert_true(!rc || rc == -ENOMEM);
		n = f->allocs - begin;
	} while (rc);
	assert_in_range(failures, 12, 60);
	assert_int_equal(n, failures - 1);
	fire(f, 1);
	f->fail_alloc = f->allocs + 1;
	assert_int_equal(gtp_aggregates_read(&f->trace, true, &why), -ENOMEM);
	assert_non_null(strstr(why.text, "nothing is lost"));
	expect(f, false,
	       "run 1 0 0\naggregation hist_a hist : key_a\nentry 1 7 : 0 0 0 : 1=1\n"
	       "aggregation count_a count : key_a\nentry 1 7 : :\n");
}

static void more_memory_than_there_may_be(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;

	f->trace.aggregate_keys = 1000000;
	tracepoints(f);
	assert_int_equal(gtp_trace_start(&f->trace, &why), -ENOMEM);
	assert_non_null(strstr(why.text, "set monitor aggregate-keys to less than 1000000"));
}

/*
 * The memory for all tables together has a limit, which is checked before a table is allocated. The
 * memory for the text that a reader gets has a limit, too.
 */
static void memory_for_others(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;

	f->memory_most = 2 << 20; /* hist_a by key has tables of 1.1 MiB, count_a of 64 KiB */
	tracepoints(f);
	assert_int_equal(gtp_trace_start(&f->trace, &why), -ENOMEM);
	assert_string_equal(
		why.text,
		"the tables of aggregations need 3 MiB, and a quarter of the available memory is 2 MiB: set monitor aggregate-keys to less than 2048");
	assert_null(f->trace.aggregates);
	f->trace.aggregate_keys = 1024;
	start(f);
	fire(f, 1);
	f->memory_most = 100;
	assert_int_equal(gtp_aggregates_read(&f->trace, true, &why), -ENOMEM);
	f->memory_most = ~0ULL;
	expect(f, false,
	       "run 1 0 0\naggregation hist_a hist : key_a\nentry 1 7 : 0 0 0 : 1=1\n"
	       "aggregation count_a count : key_a\nentry 1 7 : :\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup_variables, teardown)
	const struct CMUnitTest tests[] = {
		T(no_frame),
		T(beside_a_frame),
		T(pass_count),
		T(an_action_that_fails),
		T(a_key_that_fails),
		T(machine_code_that_fails),
		T(by_key),
		T(groups_of_keys),
		T(by_string),
		T(refusals),
		T(clear_loses_nothing),
		T(nested),
		T(full_tables),
		T(joins_a_run),
		T(no_memory_at_the_start),
		T(more_memory_than_there_may_be),
		T(memory_for_others),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
