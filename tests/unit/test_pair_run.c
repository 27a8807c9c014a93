// SPDX-License-Identifier: GPL-2.0-only
/* Tests pairs in a run: from a start on one CPU to its end on another, refusals, lack of memory. */
#include <stdlib.h>
#include "hit_case.h"
#include "session/aggregate.h"
#include "session/pair.h"

/* The numbers of the variables, named by their kind. */
#define START "50"
#define END_OF "51"
#define SINCE "52"
#define KEPT_A "53"
#define KEPT_B "54"
#define SUM "55"
#define START_2 "56"
#define IF_GOTO(at) "2000" at
#define SET(n, from) from SETV(n)
#define UPDATE(n, value) SET(n, value) END

static void variables(struct fake *f)
{
	static const char *const text[] = {
		"50:0:0:706169725f73746172745f696f", /* pair_start_io */
		"51:0:0:706169725f656e645f696f",     /* pair_end_io */
		"52:0:0:706169725f73696e63655f696f", /* pair_since_io */
		"53:0:0:706169725f6b6570745f61",     /* pair_kept_a */
		"54:0:0:706169725f6b6570745f62",     /* pair_kept_b */
		"55:0:0:73756d5f61",		     /* sum_a */
		"56:0:0:706169725f73746172745f6c6f", /* pair_start_lo */
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

static void expect(struct fake *f, const char *want)
{
	struct gtp_why why = { "" };

	assert_int_equal(gtp_aggregates_read(&f->trace, false, &why), 0);
	assert_string_equal(f->trace.aggregate_text, want);
	assert_int_equal(f->trace.aggregate_bytes, strlen(want));
}

static void fire_at(struct fake *f, u32 cpu, u64 addr, u64 clock, u64 rsi)
{
	struct gtp_regs r = regs;

	r.rsi = rsi;
	f->cpu = cpu;
	f->clock = clock;
	f->clock_step = 0;
	assert_true(fake_fire(f, addr, &r));
}

/* A start at 0x1000 and an end at 0x1010, both with rsi as key; the start keeps rbx and rax. */
static void start_and_end(struct fake *f)
{
	define(f, "1:1000:E:0:0", NULL, UPDATE(KEPT_A, REG("01")), UPDATE(KEPT_B, REG("00")),
	       UPDATE(START, REG("04")), NULL);
	define(f, "2:1010:E:0:0", NULL, UPDATE(END_OF, REG("04")), UPDATE(SUM, GETV(SINCE)),
	       TRACEV(SINCE) TRACEV(KEPT_A) TRACEV(KEPT_B) END, NULL);
}

static void to_another_cpu(void **state)
{
	struct fake *f = *state;

	f->ncpus = 2;
	start_and_end(f);
	start(f);
	fire_at(f, 0, 0x1000, 1000, 5);
	fire_at(f, 0, 0x1000, 1200, 6);
	fire_at(f, 1, 0x1010, 1500, 5);
	expect(f, "run 1 0 0\naggregation sum_a sum :\nentry 1 : 500 :\n"
		  "pair io : pair_kept_a pair_kept_b\npaired 2 1 0 0 0 0 0\n"
		  "unfinished 6 1200 : b a\nunread 0\n");
	/* A second end finds nothing, nor does one of another key. */
	fire_at(f, 0, 0x1010, 1600, 5);
	fire_at(f, 0, 0x1010, 1700, 7);
	/* The earlier start of key 6 is forgotten. */
	fire_at(f, 1, 0x1000, 2000, 6);
	fire_at(f, 0, 0x1010, 2001, 6);
	assert_int_equal(f->tsv_locks, 0);
	expect_frames(f, "2@1010 v82=500 v83=11 v84=10\n2@1010\n2@1010\n"
			 "2@1010 v82=1 v83=11 v84=10\n");
	/* After tstop the counters and the table are still there, until the next run begins. */
	expect(f, "run 0 0 0\naggregation sum_a sum :\nentry 2 : 501 :\n"
		  "pair io : pair_kept_a pair_kept_b\npaired 3 2 1 0 0 2 0\nunread 0\n");
	start(f);
	expect(f, "run 1 0 0\naggregation sum_a sum :\n"
		  "pair io : pair_kept_a pair_kept_b\npaired 0 0 0 0 0 0 0\nunread 0\n");
}

/* A tracepoint that only starts leaves no frame. Starts without an end are listed. */
static void never_ended(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, UPDATE(START, REG("04")), NULL);
	start(f);
	fire_at(f, 0, 0x1000, 10, 0xabc);
	expect(f, "run 1 0 0\npair io :\npaired 1 0 0 0 0 0 0\nunfinished abc 10 :\nunread 0\n");
	expect_frames(f, "");
}

/* The first variable that is set after a start begins a new group. */
static void groups(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, UPDATE(KEPT_A, CONST8("05")), UPDATE(START, REG("04")),
	       UPDATE(KEPT_B, CONST8("06")), UPDATE(START_2, REG("04")), NULL);
	define(f, "2:1010:E:0:0", NULL, UPDATE(KEPT_A, CONST8("07")), UPDATE(START, REG("04")),
	       NULL);
	start(f);
	fire_at(f, 0, 0x1000, 10, 1);
	expect(f,
	       "run 1 0 0\npair io : pair_kept_a\npaired 1 0 0 0 0 0 0\nunfinished 1 10 : 5\n"
	       "unread 0\npair lo : pair_kept_b\npaired 1 0 0 0 0 0 0\nunfinished 1 10 : 6\nunread 0\n");
}

static void interrupt(struct fake *f)
{
	struct gtp_regs r = regs;

	f->while_reading = NULL;
	assert_true(fake_fire(f, 0x1010, &r));
}

/* An end that is nested in another hit is skipped and counted; its start stays. */
static void nested(void **state)
{
	struct fake *f = *state;

	start_and_end(f);
	define(f, "3:1020:E:0:0", NULL, CONST32("00002000") REF32 POP END, NULL);
	start(f);
	fire_at(f, 0, 0x1000, 10, 7);
	f->while_reading = interrupt;
	fire_at(f, 0, 0x1020, 20, 7);
	assert_null(f->while_reading);
	expect(f, "run 1 1 0\naggregation sum_a sum :\n"
		  "pair io : pair_kept_a pair_kept_b\npaired 1 0 0 0 0 0 0\n"
		  "unfinished 7 10 : b a\nunread 0\n");
}

/* If a kept variable cannot be computed, the start is left out: it would keep an older value. */
static void a_kept_value_that_fails(void **state)
{
	struct fake *f = *state;

	f->trace.pass_errors = true;
	define(f, "1:1000:E:0:0", NULL, UPDATE(KEPT_A, REG("04") REF32), UPDATE(START, REG("04")),
	       NULL);
	start(f);
	fire_at(f, 0, 0x1000, 10, 0x2000);
	fire_at(f, 0, 0x1000, 20, 0);
	expect(f, "run 1 0 0\npair io : pair_kept_a\npaired 1 0 0 0 0 0 0\n"
		  "unfinished 2000 10 : 4030201\nunread 0\n");
}

static void full(void **state)
{
	struct fake *f = *state;

	f->trace.pair_entries = 1;
	define(f, "1:1000:E:0:0", NULL, UPDATE(START, REG("04")), NULL);
	start(f);
	for (u64 key = 0; key < 40; key++)
		fire_at(f, 0, 0x1000, 10, key);
	assert_int_equal(gtp_aggregates_read(&f->trace, false, &(struct gtp_why){ "" }), 0);
	/* Two buckets of seven */
	assert_non_null(strstr(f->trace.aggregate_text, "\npaired 40 0 0 26 0 0 0\nunfinished "));
}

static u32 count_lines(const char *text, const char *begins)
{
	u32 n = 0;

	while ((text = strstr(text, begins))) {
		text++;
		n++;
	}
	return n;
}

/* If there is memory for the text of some entries only, the text says how many are left out. */
static void no_memory_for_entries(void **state)
{
	struct fake *f = *state;
	struct gtp_why why = { "" };
	unsigned long unread;
	const char *text;
	u32 read;

	define(f, "1:1000:E:0:0", NULL, UPDATE(START, REG("04")), NULL);
	start(f);
	for (u64 key = 0; key < 40; key++)
		fire_at(f, 0, 0x1000, 10, key);
	f->memory_most = 4096;
	assert_int_equal(gtp_aggregates_read(&f->trace, false, &why), 0);
	text = f->trace.aggregate_text;
	read = count_lines(text, "\nunfinished ");
	unread = strtoul(strstr(text, "\nunread ") + strlen("\nunread "), NULL, 10);
	assert_in_range(read, 5, 35);
	assert_int_equal(read + unread, 40);
	f->memory_most = 256;
	assert_int_equal(gtp_aggregates_read(&f->trace, false, &why), -ENOMEM);
}

/* --- refusals --- */

#define REFUSED_AT(what) "tracepoint 1, " what
#define SOMETIMES " belongs to a pair: set it unconditionally, not after ?:, && or ||"
#define NO_END " has no value here: an earlier action must set $pair_end_io"
#define NOT_KEPT " has no value here: no earlier action sets it or ends a pair that keeps it"
#define OTHERS " is set after other $pair_kept_ variables before; give it another name here"

static void refusals(void **state)
{
	static const struct {
		const char *cond, *first, *second, *why;
	} rows[] = {
		{ NULL, GETV(START) END, NULL,
		  "action 1 (X): $pair_start_io can be set, and no expression can read it" },
		{ NULL, TRACEV(END_OF) END, NULL,
		  "action 1 (X): $pair_end_io can be set, and no expression can read it" },
		{ NULL, UPDATE(SINCE, CONST8("01")), NULL,
		  "action 1 (X): $pair_since_io is set when its pair ends, and by nothing else" },
		{ SET(START, CONST8("01")) END, "R1", NULL,
		  "condition: $pair_start_io is set by a tracepoint's actions only" },
		{ SET(KEPT_A, CONST8("01")) END, "R1", NULL,
		  "condition: $pair_kept_a is set by a tracepoint's actions only" },
		/* if (0) goto end; $pair_end_io = 1; end: 5 */
		{ NULL, CONST8("00") CONST8("00") IF_GOTO("0a") SETV(END_OF) END, NULL,
		  "action 1 (X): $pair_end_io" SOMETIMES },
		{ NULL, SET(END_OF, CONST8("01")) CONST8("02") SETV(SUM) END, NULL,
		  "action 1 (X): nothing may follow the setting of $pair_end_io in its action" },
		{ NULL, TRACEV(SINCE) END, UPDATE(END_OF, CONST8("01")),
		  "action 1 (X): $pair_since_io" NO_END },
		{ GETV(SINCE) END, UPDATE(END_OF, CONST8("01")), NULL,
		  "condition: $pair_since_io" NO_END },
		{ NULL, UPDATE(END_OF, CONST8("01")), TRACEV(KEPT_A) END,
		  "action 2 (X): $pair_kept_a" NOT_KEPT },
		{ NULL, UPDATE(START, CONST8("01")),
		  SET(KEPT_A, CONST8("00")) SET(START, CONST8("02")) END,
		  "action 2 (X): $pair_start_io" OTHERS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fake *f = *state;
		struct gtp_why why = { "" };

		define(f, "1:1000:E:0:0", rows[i].cond, rows[i].first, rows[i].second, NULL);
		assert_int_equal(gtp_trace_start(&f->trace, &why), -EINVAL);
		assert_memory_equal(why.text, REFUSED_AT(""), strlen(REFUSED_AT("")));
		assert_string_equal(why.text + strlen(REFUSED_AT("")), rows[i].why);
		assert_int_equal(f->trace.pairs.n, 0);
		teardown(state);
		setup_variables(state);
	}
}

/*
 * An end without a start: the action after it is left out, which would read a bad address. So is
 * the start of another pair, if there is no frame.
 */
static void left_out(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, UPDATE(KEPT_A, REG("04")), UPDATE(START, REG("04")), NULL);
	define(f, "2:1010:E:0:0", NULL, UPDATE(SUM, CONST8("01")), UPDATE(END_OF, REG("04")),
	       UPDATE(SUM, GETV(KEPT_A) REF32), UPDATE(START_2, REG("04")), NULL);
	start(f);
	fire_at(f, 0, 0x1010, 10, 0x2000);
	fire_at(f, 0, 0x1000, 20, 0x2000);
	fire_at(f, 0, 0x1010, 30, 0x2000);
	fire_at(f, 0, 0x1010, 40, 0x2000);
	expect(f, "run 1 0 0\naggregation sum_a sum :\nentry 4 : 67305988 :\n"
		  "pair io : pair_kept_a\npaired 1 1 0 0 0 2 0\nunread 0\n"
		  "pair lo :\npaired 1 0 0 0 0 0 0\nunfinished 2000 30 :\nunread 0\n");
	expect_frames(f, "");
}

/* A start may be conditional, and a kept variable may be read where it is set. */
static void accepted(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, SET(KEPT_A, REG("04")) GETV(KEPT_A) END,
	       GETV(KEPT_A) CONST8("00") EQUAL CONST8("00") IF_GOTO("0e") SETV(START) END, NULL);
	start(f);
	expect(f, "run 1 0 0\npair io : pair_kept_a\npaired 0 0 0 0 0 0 0\nunread 0\n");
}

static void joins_a_run(void **state)
{
	struct fake *f = *state;
	struct gtp_why why = { "" };
	struct gtp_tracepoint *tp;

	define(f, "1:1000:E:0:0", NULL, UPDATE(KEPT_A, REG("01")), UPDATE(START, REG("04")), NULL);
	start(f);
	fire_at(f, 0, 0x1000, 10, 1);
	tp = define(f, "2:1010:E:0:0", NULL, UPDATE(END_OF, REG("04")), TRACEV(SINCE) END, NULL);
	assert_int_equal(gtp_trace_install(&f->trace, tp, &why), 0);
	fire_at(f, 0, 0x1010, 30, 1);
	tp = define(f, "3:1020:E:0:0", NULL, UPDATE(START, REG("04")), NULL);
	assert_int_equal(gtp_trace_install(&f->trace, tp, &why), -EINVAL);
	assert_non_null(strstr(why.text, "give it another name here"));
	expect(f, "run 1 0 0\npair io : pair_kept_a\npaired 1 1 0 0 0 0 0\nunread 0\n");
	expect_frames(f, "2@1010 v82=20\n");
}

/* --- no memory --- */

static void no_memory_at_the_start(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;
	u32 begin, n, failures = 0;
	int rc;

	f->ncpus = 2;
	start_and_end(f);
	do {
		begin = f->allocs;
		f->fail_alloc = begin + ++failures;
		rc = gtp_trace_start(&f->trace, &why);
		assert_true(!rc || rc == -ENOMEM);
		n = f->allocs - begin;
	} while (rc);
	assert_in_range(failures, 5, 60);
	assert_int_equal(n, failures - 1);
	f->fail_alloc = 0;
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	f->memory_most = 900 << 10; /* the table of 4096 entries that keep two values is larger */
	assert_int_equal(gtp_trace_start(&f->trace, &why), -ENOMEM);
	assert_string_equal(
		why.text,
		"no memory for the table of the pair io, 960 KiB: set monitor pair-entries to less than 4096");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup_variables, teardown)
	const struct CMUnitTest tests[] = {
		T(to_another_cpu),
		T(never_ended),
		T(groups),
		T(nested),
		T(a_kept_value_that_fails),
		T(full),
		T(no_memory_for_entries),
		T(refusals),
		T(left_out),
		T(accepted),
		T(joins_a_run),
		T(no_memory_at_the_start),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
