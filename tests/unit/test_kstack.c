// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests $kstack, $ustack and $bt at a hit. Memory for stacks is allocated only if a tracepoint uses
 * one of these variables.
 */
#include <stdlib.h>
#include "hit_case.h"
#include "hit/returns.h"
#include "session/aggregate.h"
#include "session/check.h"
#include "session/run.h"

#define KSTACK TRACEV("15") END
#define BT TRACEV("16") END
#define USTACK TRACEV("17") END

static void callers(struct fake *f, u64 first, u32 n)
{
	memset(f->stack, 0, sizeof(f->stack));
	for (u32 i = 0; i < n; i++)
		f->stack[i] = first + i;
}

static void expect_stack(const struct fake *f, u32 id, u64 first, u32 n)
{
	u32 got = 0;
	const u64 *pc = gtp_stacks_get(f->trace.run.stacks, id, &got);

	assert_non_null(pc);
	assert_int_equal(got, n + 1);
	assert_int_equal(pc[0], 0x1000);
	for (u32 i = 0; i < n; i++)
		assert_int_equal(pc[1 + i], first + i);
}

static void collected(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, KSTACK, NULL);
	start(f);
	callers(f, 0x7000, 3);
	fire(f, 1);
	callers(f, 0x8000, 2);
	fire(f, 1);
	callers(f, 0x7000, 3);
	fire(f, 1);
	expect_stack(f, 1, 0x7000, 3);
	expect_stack(f, 6, 0x8000, 2);
	expect_frames(f, "1@1000 v21=1\n1@1000 v21=6\n1@1000 v21=1\n");
	/* The stacks of the stopped run are kept, like its frames. */
	expect_stack(f, 6, 0x8000, 2);
	assert_int_equal(f->tsv_locks, 0);
}

/*
 * Kernel stacks and user stacks are in one table. A hit takes each of them only once: the second
 * time, the fake machine would return a different stack.
 */
static void of_the_program(void **state)
{
	struct fake *f = *state;
	const u64 *pc;
	u32 n;

	define(f, "1:1000:E:0:0", NULL, KSTACK, GETV("17") USTACK, KSTACK, NULL);
	start(f);
	callers(f, 0x7000, 1);
	f->ustack = (struct gtp_ustack_from){ .pc = 0x400100, .whose = gtp_ustack_tag(12, 1) };
	fire(f, 2);
	f->ustack = (struct gtp_ustack_from){ .whose = gtp_ustack_tag(0, GTP_USTACK_KERNEL) };
	fire(f, 1);
	expect_stack(f, 1, 0x7000, 1);
	pc = gtp_stacks_get(f->trace.run.stacks, 4, &n);
	assert_int_equal(n, 2);
	assert_int_equal(pc[0], 0x400100);
	assert_int_equal(pc[1], 0x7500003000000001);
	pc = gtp_stacks_get(f->trace.run.stacks, 7, &n);
	assert_int_equal(n, 1);
	assert_int_equal(pc[0], 0x7500000000000001);
	expect_frames(f, "1@1000 v21=1 v23=4 v21=1\n1@1000 v21=1 v23=4 v21=1\n"
			 "1@1000 v21=1 v23=7 v21=1\n");
}

static void only_where_it_is_used(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, GETV("46") END, NULL);
	start(f);
	assert_null(f->trace.run.stacks);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	define(f, "2:2000:E:0:0", GETV("15") END, NULL);
	start(f);
	assert_non_null(f->trace.run.stacks);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	gtp_trace_reset(&f->trace);
	assert_null(f->trace.run.stacks);
}

/* A condition gets the same number for a stack as an action, on every CPU. */
static void in_a_condition(void **state)
{
	struct fake *f = *state;

	f->ncpus = 2;
	define(f, "1:1000:E:0:0", GETV("15") CONST8("01") EQUAL END, NULL);
	start(f);
	callers(f, 0x7000, 3);
	fire(f, 1);
	f->cpu = 1;
	fire(f, 1);
	callers(f, 0x7000, 4);
	fire(f, 5);
	expect_frames(f, "1@1000\n1@1000\n");
}

/* $key_s = $kstack, $count_n = 1: the same stack is the same key on both CPUs. */
static void as_a_key(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;

	f->ncpus = 2;
	assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "50:0:0:6b65795f73", &why),
			 0);
	assert_int_equal(
		gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "51:0:0:636f756e745f6e", &why), 0);
	define(f, "1:1000:E:0:0", NULL, GETV("15") SETV("50") CONST8("01") SETV("51") END, NULL);
	start(f);
	callers(f, 0x7000, 3);
	fire(f, 2);
	f->cpu = 1;
	fire(f, 3);
	callers(f, 0x7000, 2);
	fire(f, 1);
	assert_int_equal(gtp_aggregates_read(&f->trace, false, &why), 0);
	assert_non_null(strstr(f->trace.aggregate_text, "entry 5 1 : :\n"));
	assert_non_null(strstr(f->trace.aggregate_text, "entry 1 6 : :\n"));
	assert_int_equal(f->tsv_locks, 0);
}

/*
 * In a hit of two tracepoints the stack is put into the table once, although GDB's code for
 * "collect $kstack" reads it and collects it.
 */
static void looked_up_once_a_hit(void **state)
{
	struct fake *f = *state;

	f->stacks_bytes = 1;
	define(f, "1:1000:E:0:0", NULL, GETV("15") TRACEV("15") POP END, NULL);
	define(f, "2:1000:E:0:0", GETV("15") CONST8("00") EQUAL END, KSTACK, NULL);
	start(f);
	for (u32 i = 0; i < 100; i++) {
		callers(f, 0x7000 + 0x100 * i, 20);
		fire(f, 1);
	}
	assert_int_equal(f->trace.run.stacks->no_room + f->trace.run.stacks->count, 100);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	assert_non_null(strstr(fake_frames(f), "1@1000 v21=0\n2@1000 v21=0\n1@1000 v21=0\n"));
}

static void joins_a_run(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;
	struct gtp_why why;

	define(f, "1:2000:E:0:0", NULL, NULL);
	start(f);
	tp = define(f, "2:1000:E:0:0", NULL, KSTACK, NULL);
	assert_null(f->trace.run.stacks);
	assert_int_equal(gtp_trace_install(&f->trace, tp, &why), 0);
	fire(f, 1);
	expect_stack(f, 1, 0, 0);
	expect_frames(f, "2@1000 v21=1\n");
}

static void without_memory(void **state)
{
	struct fake *f = *state;
	struct gtp_why why = { "" };
	s32 live = f->live;
	u32 n = 0;

	f->stacks_bytes = 1 << 20;
	define(f, "1:1000:E:0:0", NULL, KSTACK, NULL);
	live = f->live;
	do {
		f->fail_alloc = f->allocs + ++n;
		if (!gtp_trace_start(&f->trace, &why))
			break;
		assert_int_equal(f->live, live);
	} while (!strstr(why.text, "table of stacks"));
	assert_string_equal(
		why.text,
		"no memory for the table of stacks of 1024 KiB: set the module parameter stacks_kb to less");
	f->fail_alloc = 0;
	why.text[0] = '\0';
	f->memory_most = 1 << 20;
	assert_int_equal(gtp_trace_start(&f->trace, &why), -ENOMEM);
	assert_non_null(strstr(why.text, "no memory for the table of stacks"));
	f->memory_most = 2 << 20;
	start(f);
}

static void no_room(void **state)
{
	struct fake *f = *state;
	u32 i;

	f->stacks_bytes = 1;
	define(f, "1:1000:E:0:0", NULL, KSTACK, NULL);
	start(f);
	for (i = 0; i < 100; i++) {
		callers(f, 0x7000 + 0x100 * i, 20);
		fire(f, 1);
	}
	assert_int_equal(f->trace.run.stacks->no_room + f->trace.run.stacks->count, 100);
	assert_true(f->trace.run.stacks->no_room > 50);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	assert_non_null(strstr(fake_frames(f), "1@1000 v21=0\n"));
}

/* If a run has no table of stacks, for any reason, $kstack is 0, and the hit continues. */
static void without_a_table(void **state)
{
	struct fake *f = *state;
	struct gtp_stacks *stacks;

	define(f, "1:1000:E:0:0", NULL, KSTACK, NULL);
	start(f);
	stacks = f->trace.run.stacks;
	f->trace.run.stacks = NULL;
	fire(f, 1);
	f->trace.run.stacks = stacks;
	expect_frames(f, "1@1000 v21=0\n");
}

static void not_in_a_dprintf(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = define(f, "1:1000:E:0:0", NULL, KSTACK, NULL);
	struct gtp_dprintf_count counters = { 0 };
	struct gtp_why why = { "" };

	tp->dprintf = &counters;
	assert_int_equal(gtp_check_tracepoint(&f->trace, tp, &why), -EINVAL);
	assert_non_null(strstr(why.text, "a dprintf has no table of stacks"));
	tp->dprintf = NULL;
	assert_int_equal(gtp_check_tracepoint(&f->trace, tp, &why), 0);
}

/*
 * A tracepoint that is reported at a function's return can use $kstack, but not $bt: the callers
 * are the same as at the entry, the stack's bytes are not.
 */
static void bytes_not_at_a_return(void **state)
{
	static const struct {
		const char *cond, *action;
		int rc;
	} rows[] = {
		{ NULL, TRACEV("05") TRACEV("16") END, -EINVAL },
		{ GETV("07") END, BT, -EINVAL },
		{ NULL, TRACEV("05") GETV("15") END, 0 },
		{ GETV("15") END, TRACEV("06") END, 0 },
		{ GETV("07") END, KSTACK, 0 },
	};
	struct fake *f = *state;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct gtp_why why = { "" };
		struct gtp_tracepoint *tp;
		char head[32];

		sprintf(head, "%x:1000:E:0:0", i + 1);
		tp = define(f, head, rows[i].cond, rows[i].action, NULL);
		assert_true(tp->at_return);
		assert_int_equal(gtp_check_tracepoint(&f->trace, tp, &why), rows[i].rc);
		if (rows[i].rc)
			assert_non_null(strstr(
				why.text, "names $bt, and is reported at the function's return"));
	}
}

/* A condition at the entry and an action at the return find the same stack. */
static void at_a_return(void **state)
{
	struct fake *f = *state;
	struct gtp_pending p;

	define(f, "1:1000:E:0:0", GETV("15") CONST8("01") EQUAL END, TRACEV("05") TRACEV("15") END,
	       NULL);
	start(f);
	callers(f, 0x7000, 3);
	assert_true(fake_enter(f, 0x1000, &regs, &p));
	assert_true(fake_leave(f, 0x1000, &p, 9));
	callers(f, 0x8000, 3);
	assert_false(fake_enter(f, 0x1000, &regs, &p));
	expect_stack(f, 1, 0x7000, 3);
	expect_frames(f, "1@1000 v5=9 v21=1\n");
}

/* --- $bt --- */

static void bytes_of_the_stack(void **state)
{
	struct fake *f = *state;
	const char *text;

	memcpy(fake_map(f, 0x9000, NULL, 16), "0123456789abcdef", 16);
	define(f, "1:1000:E:0:0", NULL, BT, NULL);
	f->deep = 12;
	start(f);
	/* There is no table of stacks if no expression uses a stack's number. */
	assert_null(f->trace.run.stacks);
	fire(f, 1);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	text = fake_frames(f);
	assert_non_null(strstr(text, " r1=b "));
	assert_non_null(strstr(text, " r7=9000 "));
	assert_non_null(strstr(text, " r16=1000 "));
	/* $bt does not collect the flags (r17), so a pad with a condition need not keep them. */
	assert_null(strstr(text, " r17="));
	assert_non_null(strstr(text, " r18="));
	assert_non_null(strstr(text, " m9000=303132333435363738396162 v22=12\n"));
}

/* A stack that cannot be read is not an error: the run continues, and the frame has 0 bytes. */
static void a_stack_that_is_not_there(void **state)
{
	struct fake *f = *state;
	const char *text;

	define(f, "1:1000:E:0:0", NULL, BT, NULL);
	f->deep = 12;
	start(f);
	fire(f, 2);
	assert_int_equal(f->stopping, 0);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	text = fake_frames(f);
	assert_non_null(strstr(text, " r7=9000 "));
	assert_non_null(strstr(text, " v22=0\n1@1000 "));
	assert_null(strstr(text, "!"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(collected),	    T(of_the_program),	   T(only_where_it_is_used),
		T(in_a_condition),  T(as_a_key),	   T(looked_up_once_a_hit),
		T(joins_a_run),	    T(without_memory),	   T(no_room),
		T(without_a_table), T(not_in_a_dprintf),   T(bytes_not_at_a_return),
		T(at_a_return),	    T(bytes_of_the_stack), T(a_stack_that_is_not_there),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
