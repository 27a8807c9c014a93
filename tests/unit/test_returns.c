// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests tracepoints that are reported at the return of their function: how they are recognised, and
 * the work at entry and return.
 */
#include "hit_case.h"
#include "hit/returns.h"
#include "session/dprintf.h"
#include "tracepoint/at_return.h"

#define RET GETV("05")
#define LATENCY GETV("06")
#define ENTRY_CLOCK GETV("07")
#define KRET GETV("08")

#define ENTRY 0x1000

/* printf "%d\n" of a value, as GDB sends it */
#define PRINT(value) "X12," value "2200220034010006256c645c6e0027"

/* --- which tracepoints are reported at the return --- */

static void what_makes_one(void **state)
{
	static const struct {
		const char *cond;
		const char *action;
		bool at_return, late;
	} rows[] = {
		{ NULL, NULL, false, false },
		{ REG("05") END, GETV("02") END, false, false },
		{ NULL, RET TRACEV("05") POP END, true, false },
		{ NULL, TRACEV("06") END, true, false },
		{ REG("05") END, KRET END, true, false },
		{ RET END, NULL, true, true },
		{ KRET END, REG("00") END, true, true },
		{ REG("05") LATENCY ADD END, NULL, true, true },
		{ ENTRY_CLOCK END, NULL, true, false },
		{ ENTRY_CLOCK END, RET END, true, false },
		/* goto 6; $ret; end: $ret in code that is never reached does not count */
		{ CONST8("01") "210008" RET END END, NULL, false, false },
	};
	struct fake *f = *state;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		char head[32];
		struct gtp_tracepoint *tp;

		sprintf(head, "%x:%x:E:0:0", i + 1, ENTRY);
		tp = define(f, head, rows[i].cond, rows[i].action, NULL);
		if (tp->at_return != rows[i].at_return || tp->cond_at_return != rows[i].late)
			fail_msg("row %u: %d %d", i, tp->at_return, tp->cond_at_return);
	}
}

static void a_location_of_their_own(void **state)
{
	struct fake *f = *state;
	struct gtp_pending p;

	define(f, "1:1000:E:0:0", NULL, "R20", NULL);
	define(f, "2:1000:E:0:0", NULL, TRACEV("05") END, NULL);
	define(f, "3:1000:E:0:0", NULL, "R10", NULL);
	define(f, "4:1000:E:0:0", RET END, NULL);
	start(f);
	assert_string_equal(f->log, "buffers 0 linear\narm 1000\narm 1000\n");
	fire(f, 1);
	assert_true(fake_enter(f, ENTRY, &regs, &p));
	assert_true(fake_leave(f, ENTRY, &p, 7));
	expect_frames(f, "1@1000 r5=2000\n3@1000 r4=7\n2@1000 v5=7\n4@1000\n");
}

static void only_functions_return(void **state)
{
	struct fake *f = *state;
	struct gtp_why why = { "" };

	f->marker = 0x5000;
	define(f, "1:1000:E:0:0", NULL, NULL);
	define(f, "2:5000:E:0:0", LATENCY END, NULL);
	assert_int_equal(gtp_trace_start(&f->trace, &why), -EINVAL);
	assert_string_equal(
		why.text,
		"tracepoint 2 names $ret, $latency or $entry_clock, which only functions have: a kernel tracepoint does not return");
}

static void nobody_sets_them(void **state)
{
	struct fake *f = *state;
	struct gtp_why why = { "" };

	define(f, "1:1000:E:0:0", NULL, CONST8("01") SETV("05") END, NULL);
	assert_int_equal(gtp_trace_start(&f->trace, &why), -EINVAL);
	assert_non_null(strstr(why.text, "variable 5 cannot be set"));
	assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "5:0:0:726574", &why),
			 -EINVAL);
	assert_string_equal(
		why.text, "$ret has its value from the hit here; give your variable another name");
}

/* --- the values at entry and return --- */

static void registers_of_the_entry_memory_of_the_return(void **state)
{
	struct fake *f = *state;
	struct gtp_regs other = regs;
	struct gtp_pending p;

	define(f, "1:1000:E:0:0", NULL, "R10021", REG("05") TRACE_QUICK("04") POP END,
	       RET TRACEV("05") POP END, TRACEV("08") END, NULL);
	start(f);
	assert_true(fake_enter(f, ENTRY, &regs, &p));
	other.rdi = 0x6666;
	fake_fire(f, 0x3000, &other);
	fake_write(f, 0x2000, "\x09\x08\x07\x06", 4);
	fake_leave(f, ENTRY, &p, (u64)-12);
	expect_frames(f, "1@1000 r0=a r5=2000 r16=1000 m2000=09080706 v5=-12 v8=-12\n");
}

static s64 var(const struct gtp_index *ix, u32 n, u16 num)
{
	s64 value;

	assert_true(gtp_frame_get_var(gtp_index_at(ix, n)->frame, num, &value));
	return value;
}

static void clocks(void **state)
{
	struct fake *f = *state;
	const struct gtp_index *ix;
	struct gtp_pending p;
	struct gtp_why why;

	define(f, "1:1000:E:0:0", NULL, TRACEV("02") TRACEV("06") TRACEV("07") END, NULL);
	start(f);
	f->clock = 5000;
	f->clock_step = 0;
	assert_true(fake_enter(f, ENTRY, &regs, &p));
	f->clock = 5730;
	fake_leave(f, ENTRY, &p, 0);
	assert_true(fake_enter(f, ENTRY, &regs, &p));
	/* The clock of the CPU on which the call returns is slightly behind. */
	f->clock = 5729;
	fake_leave(f, ENTRY, &p, 0);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	ix = gtp_trace_index(&f->trace, &why);
	assert_int_equal(ix->n, 2);
	assert_int_equal(var(ix, 0, GTP_TSV_CLOCK), 5730);
	assert_int_equal(var(ix, 0, GTP_TSV_ENTRY_CLOCK), 5000);
	assert_int_equal(var(ix, 0, GTP_TSV_LATENCY), 730);
	assert_int_equal(var(ix, 1, GTP_TSV_ENTRY_CLOCK), 5730);
	assert_int_equal(var(ix, 1, GTP_TSV_LATENCY), 0);
}

static void a_false_condition_leaves_nothing(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;
	struct gtp_pending p;
	u64 clock;

	/* $rsi == 7, then $rsi == 8 */
	tp = define(f, "1:1000:E:0:0", REG("04") CONST8("08") EQUAL END, TRACEV("05") END, NULL);
	start(f);
	clock = f->clock;
	assert_false(fake_enter(f, ENTRY, &regs, &p));
	assert_true(f->clock == clock);
	assert_true(p.entered == 0xeeeeeeeeeeeeeeee);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 0);
	expect_frames(f, "");
}

static void a_true_one_is_not_asked_again(void **state)
{
	struct fake *f = *state;
	struct gtp_pending p;

	/*
	 * *(u32 *)$rdi == 0x04030201, which is evaluated only at the entry: it does not hold at the
	 * return. $x is incremented once
	 */
	define(f, "1:1000:E:0:0", REG("05") REF32 CONST32("04030201") EQUAL END, TRACEV("05") END,
	       NULL);
	define(f, "2:1000:E:0:0", INCREMENT END, TRACEV("05") END, NULL);
	start(f);
	assert_true(fake_enter(f, ENTRY, &regs, &p));
	assert_int_equal(p.wanted, 3);
	fake_write(f, 0x2000, "\0\0\0\0", 4);
	fake_leave(f, ENTRY, &p, 3);
	assert_int_equal(variable(f), 1);
	expect_frames(f, "1@1000 v5=3\n2@1000 v5=3\n");
}

static void a_late_one_is_asked_at_the_return(void **state)
{
	struct fake *f = *state;
	struct gtp_pending p;
	u64 value;

	/* $ret == *(u32 *)$rdi: the register is from the entry, the memory from the return */
	define(f, "1:1000:E:0:0", RET REG("05") REF32 EQUAL END, TRACEV("05") END, NULL);
	start(f);
	for (value = 0; value < 4; value++) {
		assert_true(fake_enter(f, ENTRY, &regs, &p));
		fake_write(f, 0x2000, "\x02\0\0\0", 4);
		fake_leave(f, ENTRY, &p, value);
		fake_write(f, 0x2000, "\xff\0\0\0", 4);
	}
	expect_frames(f, "1@1000 v5=2\n");
}

static void the_entrys_clock_in_a_condition(void **state)
{
	struct fake *f = *state;
	struct gtp_pending p;

	/* $x = $entry_clock; $x */
	define(f, "1:1000:E:0:0", ENTRY_CLOCK SETV("46") END, TRACEV("07") TRACEV("46") END, NULL);
	start(f);
	f->clock = 4000;
	assert_true(fake_enter(f, ENTRY, &regs, &p));
	assert_int_equal(variable(f), p.entered);
	f->clock = 9000;
	fake_leave(f, ENTRY, &p, 0);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	assert_int_equal(p.entered, 4000 + f->clock_step);
}

static void several_of_which_some_want_it(void **state)
{
	struct fake *f = *state;
	struct gtp_pending p;
	struct gtp_why why;

	define(f, "1:1000:D:0:0", NULL, TRACEV("05") END, NULL);
	define(f, "2:1000:E:0:0", REG("05") CONST8("00") EQUAL END, TRACEV("05") END, NULL);
	define(f, "3:1000:E:0:0", NULL, TRACEV("05") END, NULL);
	define(f, "4:1000:E:0:0", RET CONST8("09") EQUAL END, NULL);
	define(f, "5:1000:E:0:0", NULL, TRACEV("05") END, NULL);
	start(f);
	assert_true(fake_enter(f, ENTRY, &regs, &p));
	assert_int_equal(p.wanted, BIT_ULL(2) | BIT_ULL(3) | BIT_ULL(4));
	/*
	 * Between entry and return, enable tracepoint 1, disable 5 and define 6. None of the three
	 * has a hit at this return.
	 */
	gtp_trace_enable(&f->trace, 1, ENTRY, true);
	gtp_trace_enable(&f->trace, 5, ENTRY, false);
	assert_int_equal(gtp_trace_install(&f->trace,
					   define(f, "6:1000:E:0:0", NULL, TRACEV("05") END, NULL),
					   &why),
			 0);
	fake_leave(f, ENTRY, &p, 8);
	assert_true(fake_enter(f, ENTRY, &regs, &p));
	assert_int_equal(p.wanted, BIT_ULL(0) | BIT_ULL(2) | BIT_ULL(3) | BIT_ULL(5));
	fake_leave(f, ENTRY, &p, 9);
	expect_frames(f, "3@1000 v5=8\n1@1000 v5=9\n3@1000 v5=9\n4@1000\n6@1000 v5=9\n");
}

/* Two calls under way at once return in any order. */
static void calls_do_not_mix(void **state)
{
	struct fake *f = *state;
	struct gtp_regs r = regs;
	struct gtp_pending a, b;

	f->ncpus = 2;
	define(f, "1:1000:E:0:0", NULL, "R10", TRACEV("05") END, NULL);
	start(f);
	r.rsi = 1;
	assert_true(fake_enter(f, ENTRY, &r, &a));
	r.rsi = 2;
	assert_true(fake_enter(f, ENTRY, &r, &b));
	f->cpu = 1;
	fake_leave(f, ENTRY, &a, 10);
	f->cpu = 0;
	fake_leave(f, ENTRY, &b, 20);
	expect_frames(f, "1@1000 r4=1 v5=10\n1@1000 r4=2 v5=20\n");
}

static struct gtp_pending inner;

static void call_inside(struct fake *f)
{
	assert_false(fake_enter(f, ENTRY, &regs, &inner));
}

static void return_inside(struct fake *f)
{
	fake_leave(f, ENTRY, &inner, 5);
}

static void inside_a_hit_they_are_counted(void **state)
{
	struct fake *f = *state;
	struct gtp_totals sum;
	struct gtp_pending p;

	define(f, "1:1000:E:0:0", NULL, TRACEV("05") END, "M-1,2000,1", NULL);
	start(f);
	/* While a return is reported, an interrupt calls the function: this is a nested hit. */
	assert_true(fake_enter(f, ENTRY, &regs, &p));
	f->while_reading = call_inside;
	fake_leave(f, ENTRY, &p, 1);
	/* While a return is reported, another call returns: this is a nested hit, too. */
	assert_true(fake_enter(f, ENTRY, &regs, &p));
	assert_true(fake_enter(f, ENTRY, &regs, &inner));
	f->while_reading = return_inside;
	fake_leave(f, ENTRY, &p, 2);
	gtp_trace_totals(&f->trace, &sum);
	assert_int_equal(sum.nested, 2);
	expect_frames(f, "1@1000 v5=1 m2000=01\n1@1000 v5=2 m2000=01\n");
}

static void a_return_behind_the_end(void **state)
{
	struct fake *f = *state;
	struct gtp_pending p;

	define(f, "1:1000:E:0:0", NULL, TRACEV("05") END, NULL);
	define(f, "2:1000:E:0:2", NULL, TRACEV("05") END, NULL);
	define(f, "3:1000:E:0:0", NULL, TRACEV("05") END, NULL);
	start(f);
	assert_true(fake_enter(f, ENTRY, &regs, &p));
	fake_leave(f, ENTRY, &p, 1);
	fake_leave(f, ENTRY, &p, 2);
	fake_leave(f, ENTRY, &p, 3);
	expect_end(f, GTP_STOP_PASSCOUNT, 2);
	expect_frames(f, "1@1000 v5=1\n2@1000 v5=1\n3@1000 v5=1\n1@1000 v5=2\n2@1000 v5=2\n");
}

static void an_error_at_either_end(void **state)
{
	static const char *const cond =
		"condition: ref32 at byte 2: cannot read memory at 0x0 (4 bytes)";
	struct fake *f = *state;
	struct gtp_pending p;

	f->trace.pass_errors = true;
	define(f, "1:1000:E:0:0", CONST8("00") REF32 END, TRACEV("05") END, NULL);
	define(f, "2:1000:E:0:0", RET REF32 END, TRACEV("05") END, NULL);
	define(f, "3:1000:E:0:0", NULL, TRACEV("05") END, CONST8("00") REF32 END, NULL);
	start(f);
	assert_true(fake_enter(f, ENTRY, &regs, &p));
	fake_leave(f, ENTRY, &p, 0x2000);
	fake_leave(f, ENTRY, &p, 0x10);
	expect_frames(f, "2@1000 v5=8192\n3@1000! v5=8192\n3@1000! v5=16\n");
	assert_int_equal(f->trace.run.failure.tp, 1);
	f->trace.pass_errors = false;
	start(f);
	assert_false(fake_enter(f, ENTRY, &regs, &p));
	expect_error(f, 1, cond);
}

static bool enter_quickly(struct fake *f, u32 held)
{
	static struct gtp_pending p;

	memset(&p, 0xee, sizeof(p));
	if (!gtp_returns_enter_quickly(f->trace.locs->first, f->trace.run.cpus[0], &p, held))
		return false;
	assert_int_equal(p.wanted, 1);
	assert_in_range(p.entered, 7000, 7000 + gtp_read_tsc());
	return true;
}

/* An entry takes the quick path if it has no condition to evaluate and nothing to count. */
static void the_quick_way_in(void **state)
{
	static struct gtp_calibration c = { .ns = 7000, .rate = 1ULL << 32 };
	struct fake *f = *state;
	struct gtp_cpu *cpu;
	struct gtp_why why;

	define(f, "1:1000:E:0:0", RET END, NULL);
	start(f);
	cpu = f->trace.run.cpus[0];
	assert_false(enter_quickly(f, 0)); /* the clock is not a counter */
	cpu->env.tsc = &c;
	assert_int_equal(gtp_trace_enable(&f->trace, 1, ENTRY, true), 0);
	assert_true(enter_quickly(f, 0));
	cpu->in_hit = 1;
	assert_false(enter_quickly(f, 0));
	cpu->in_hit = 0;
	assert_int_equal(gtp_trace_enable(&f->trace, 1, ENTRY, false), 0);
	assert_false(enter_quickly(f, 0));
	assert_int_equal(gtp_trace_enable(&f->trace, 1, ENTRY, true), 0);
	assert_true(enter_quickly(f, 0));
	assert_int_equal(
		gtp_trace_install(&f->trace, define(f, "2:1000:E:0:0", RET END, NULL), &why), 0);
	assert_false(enter_quickly(f, 0));
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
}

/* An entry with a condition takes the quick path only if the condition is known to hold. */
static void the_quick_way_in_with_a_condition(void **state)
{
	static struct gtp_calibration c = { .ns = 7000, .rate = 1ULL << 32 };
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", ENTRY_CLOCK END, NULL);
	start(f);
	f->trace.run.cpus[0]->env.tsc = &c;
	assert_int_equal(gtp_trace_enable(&f->trace, 1, ENTRY, true), 0);
	assert_false(enter_quickly(f, 0));
	assert_true(enter_quickly(f, 1));
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	assert_false(enter_quickly(f, 1));
}

static void a_dprintf_prints_when_it_returns(void **state)
{
	/* dprintf f,"%d\n",$ret, and another dprintf at f that does not use $ret */
	struct fake *f = *state;
	struct gtp_pending p;
	struct gtp_why why;

	assert_int_equal(gtp_dprintf_insert(&f->trace,
					    "1000,1;cmds:0," PRINT("2c0005") PRINT("260004"), &why),
			 0);
	assert_true(fake_enter(f, ENTRY, &regs, &p));
	assert_string_equal(fake_lines(f), "");
	fake_leave(f, ENTRY, &p, (u64)-2);
	assert_string_equal(fake_lines(f), "1000 cpu 0 pid 42 -2\n1000 cpu 0 pid 42 7\n");
	gtp_dprintf_clear(&f->trace, true);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_makes_one),
		T(a_location_of_their_own),
		T(only_functions_return),
		T(nobody_sets_them),
		T(registers_of_the_entry_memory_of_the_return),
		T(clocks),
		T(a_false_condition_leaves_nothing),
		T(a_true_one_is_not_asked_again),
		T(a_late_one_is_asked_at_the_return),
		T(the_entrys_clock_in_a_condition),
		T(several_of_which_some_want_it),
		T(calls_do_not_mix),
		T(inside_a_hit_they_are_counted),
		T(a_return_behind_the_end),
		T(an_error_at_either_end),
		T(the_quick_way_in),
		T(the_quick_way_in_with_a_condition),
		T(a_dprintf_prints_when_it_returns),
	};
#undef T
	return cmocka_run_group_tests(tests, NULL, NULL);
}
