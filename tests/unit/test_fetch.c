// SPDX-License-Identifier: GPL-2.0-only
/* gtp_fetch() reads the memory that a hit is going to read, and has no other effects. */
#include "hit/fetch.h"
#include "hit_case.h"

enum { NOTES_MAX = 4096 };

/* struct bringer - the ctx of ->read; @log: the ranges that gtp_fetch() has read, in order */
struct bringer {
	struct fake *f;
	char log[NOTES_MAX];
};

static int bring(void *ctx, void *dst, u64 addr, u32 len)
{
	struct bringer *b = ctx;
	size_t used = strlen(b->log);

	snprintf(b->log + used, sizeof(b->log) - used, "%llx+%x ", (unsigned long long)addr, len);
	return fake_read(b->f, dst, addr, len);
}

/* fetched - return the ranges that gtp_fetch() reads before a hit at 0x1000 */
static const char *fetched(struct fake *f, struct bringer *b)
{
	struct gtp_fetch fetch = {
		.run = &f->trace.run,
		.cpu = f->trace.run.cpus[0],
		.read = bring,
		.ctx = b,
	};
	struct gtp_tracepoint *tp = f->trace.tps.first;

	b->f = f;
	b->log[0] = '\0';
	if (gtp_fetch_needed(tp))
		gtp_fetch(&fetch, tp, &regs);
	return b->log;
}

/*
 * fetched_in - return the ranges that gtp_fetch() reads before @part (entry or return) of a call
 * that returns 7; @wanted: see struct gtp_fetch
 */
static const char *fetched_in(struct fake *f, struct bringer *b, enum gtp_fetch_part part,
			      u64 wanted)
{
	struct gtp_fetch fetch = {
		.run = &f->trace.run,
		.part = part,
		.wanted = wanted,
		.value = 7,
		.entered = 100,
		.latency = 50,
		.read = bring,
		.ctx = b,
	};

	b->f = f;
	b->log[0] = '\0';
	gtp_fetch(&fetch, f->trace.tps.first, &regs);
	return b->log;
}

static void nothing_to_read(void **state)
{
	struct fake *f = *state;
	struct bringer b;

	define(f, "1:1000:E:0:0", CONST8("01") END, "R10000", NULL);
	start(f);
	assert_false(gtp_fetch_needed(f->trace.tps.first));
	assert_string_equal(fetched(f, &b), "");
}

static void what_a_condition_reads(void **state)
{
	struct fake *f = *state;
	struct bringer b;

	/* At rdi = 0x2000 is 01 02 03 04, so the condition is false, and no action will read. */
	define(f, "1:1000:E:0:0", REG("05") REF32 CONST8("01") EQUAL END, "M-1,3000,8", NULL);
	start(f);
	assert_string_equal(fetched(f, &b), "2000+4 ");
}

static void what_actions_read(void **state)
{
	struct fake *f = *state;
	struct bringer b;

	fake_map(f, 0x3000, NULL, 0x3000);
	/*
	 * Of a block, one byte of each page is read. Strings are read in pieces up to their end.
	 */
	define(f, "1:1000:E:0:0", NULL, "M-1,3ff8,1010", "M5,10,8",
	       CONST32("00002004") CONST8("40") TRACENZ END,
	       CONST32("00003001") TRACE_QUICK("08") REF32 END, NULL);
	start(f);
	assert_string_equal(fetched(f, &b), "3ff8+1 4000+1 5000+1 2010+1 2004+3c 3001+1 3001+4 ");
}

static void an_error_is_the_hits(void **state)
{
	struct fake *f = *state;
	struct bringer b;

	/* 0x9000 is not mapped, but the memory of the next action is still read. */
	define(f, "1:1000:E:0:0", NULL, CONST32("00009000") REF32 END, "M-1,2000,1", NULL);
	start(f);
	assert_string_equal(fetched(f, &b), "9000+4 2000+1 ");
	assert_int_equal(f->trace.run.ending, 0);
	assert_int_equal(f->stopping, 0);
	fire(f, 1);
	expect_end(f, GTP_STOP_ERROR, 1);
}

static void nothing_stays(void **state)
{
	struct fake *f = *state;
	struct bringer b;
	struct gtp_tracepoint *tp;

	tp = define(f, "1:1000:E:0:2", GETV("46") CONST8("00") EQUAL END, INCREMENT END,
		    CONST32("00002000") REF32 SETV("46") END, NULL);
	start(f);
	assert_string_equal(fetched(f, &b), "2000+4 ");
	assert_string_equal(fetched(f, &b), "2000+4 ");
	assert_int_equal(variable(f), 0);
	assert_int_equal(tp->pass_hits, 0);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 0);
	expect_frames(f, "");
}

static void all_that_are_there(void **state)
{
	struct fake *f = *state;
	struct bringer b;
	struct gtp_tracepoint *off;

	off = define(f, "1:1000:E:0:0", NULL, "M-1,2000,1", NULL);
	define(f, "2:1000:E:0:0", NULL, "M-1,2001,1", NULL);
	start(f);
	assert_string_equal(fetched(f, &b), "2000+1 2001+1 ");
	gtp_tracepoint_switch(off, false);
	assert_string_equal(fetched(f, &b), "2001+1 ");
}

/* $ret is variable 5, $latency is 6. */
static void at_both_ends_of_a_call(void **state)
{
	struct fake *f = *state;
	struct bringer b;
	struct gtp_tracepoint *entry;

	fake_map(f, 0x3000, NULL, 0x1000);
	/*
	 * A condition that is evaluated at the entry; at the return, one that holds and one that
	 * does not.
	 */
	entry = define(f, "1:1000:E:0:0", REG("05") REF32 CONST32("04030201") EQUAL END,
		       GETV("05") END, "M-1,3001,1", NULL);
	define(f, "2:1000:E:0:0", GETV("05") CONST8("07") EQUAL END, "M-1,3002,1", NULL);
	define(f, "3:1000:E:0:0", GETV("05") CONST8("08") EQUAL END, "M-1,3003,1", NULL);
	start(f);
	assert_true(entry->at_return && entry->cond_reads && !entry->cond_at_return);
	assert_string_equal(fetched_in(f, &b, GTP_FETCH_ENTRY, 0), "2000+4 ");
	assert_string_equal(fetched_in(f, &b, GTP_FETCH_RETURN, 7), "3001+1 3002+1 ");
	assert_string_equal(fetched_in(f, &b, GTP_FETCH_RETURN, 6), "3002+1 ");
	assert_string_equal(fetched_in(f, &b, GTP_FETCH_RETURN, 4), "");
}

/* $latency grows until the hit, so a condition on it that is false now may hold at the hit. */
static void latency_goes_on(void **state)
{
	struct fake *f = *state;
	struct bringer b;

	fake_map(f, 0x3000, NULL, 0x1000);
	define(f, "1:1000:E:0:0", GETV("06") CONST8("33") EQUAL END, "M-1,3001,1", NULL);
	start(f);
	assert_string_equal(fetched_in(f, &b, GTP_FETCH_RETURN, 1), "3001+1 ");
}

/* $self_trace is variable 0x12, $xtime_nsec is 0xf. */
static void variables_as_they_are(void **state)
{
	struct fake *f = *state;
	struct bringer b;

	f->wall_us = 0;
	define(f, "1:1000:E:0:0", CONST32("00002000") GETV("12") ADD REF32 END,
	       CONST32("00002000") GETV("0f") ADD REF32 END, NULL);
	start(f);
	f->wall_reads = 2;
	assert_string_equal(fetched(f, &b), "2001+4 2003+4 ");
}

/* If a condition depends on a variable that may change until the hit, assume that it holds. */
static void what_may_change(void **state)
{
	/* The last variable, $current_task_pid, is the same at the hit. */
	static const char *const named[] = { "01", "02", "0f", "10", "46", "04" };
	char where[64], condition[64], memory[64];
	struct fake *f = *state;
	struct bringer b;

	fake_map(f, 0x3000, NULL, 0x1000);
	for (u32 i = 0; i < ARRAY_SIZE(named); i++) {
		snprintf(where, sizeof(where), "%x:1000:E:0:0", i + 1);
		snprintf(condition, sizeof(condition), "2c00%s" CONST8("77") EQUAL END, named[i]);
		snprintf(memory, sizeof(memory), "M-1,300%x,1", i);
		define(f, where, condition, memory, NULL);
	}
	start(f);
	assert_string_equal(fetched(f, &b), "3000+1 3001+1 3002+1 3003+1 3004+1 ");
}

static void no_end_of_memory(void **state)
{
	struct fake *f = *state;
	struct bringer b;

	/* Blocks that would wrap around, or are larger than a frame, are not read. */
	define(f, "1:1000:E:0:0", NULL, "M-1,fffffffffffffff8,10",
	       CONST32("00002000") CONST32("7fffffff") TRACE END, NULL);
	start(f);
	assert_string_equal(fetched(f, &b), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_to_read, setup, teardown),
		cmocka_unit_test_setup_teardown(what_a_condition_reads, setup, teardown),
		cmocka_unit_test_setup_teardown(what_actions_read, setup, teardown),
		cmocka_unit_test_setup_teardown(an_error_is_the_hits, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(all_that_are_there, setup, teardown),
		cmocka_unit_test_setup_teardown(at_both_ends_of_a_call, setup, teardown),
		cmocka_unit_test_setup_teardown(latency_goes_on, setup, teardown),
		cmocka_unit_test_setup_teardown(variables_as_they_are, setup, teardown),
		cmocka_unit_test_setup_teardown(what_may_change, setup, teardown),
		cmocka_unit_test_setup_teardown(no_end_of_memory, setup, teardown),
	};

	return cmocka_run_group_tests_name("fetch", tests, NULL, NULL);
}
