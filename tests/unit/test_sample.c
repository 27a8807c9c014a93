// SPDX-License-Identifier: GPL-2.0-only
/* Tests samples: their addresses, refusals, the sum of lost hits, and the pc and stack of a hit. */
#include <stdlib.h>
#include "hit_case.h"
#include "base/moving.h"
#include "fake_code.h"
#include "hit/hit.h"
#include "probe/sample/place.h"
#include "session/location.h"
#include "session/run.h"

/* The clock, 99 times a second. */
#define PLACE "43100000009a2112"
#define AT 0x43100000009a2112ULL

static const u64 KERNEL = 0xffULL << 56; /* begins addresses of the kernel */

static struct jit_user *arena;

static u64 with(u32 event, u64 period)
{
	return (u64)GTP_SAMPLE_TAG << GTP_SAMPLE_SHIFT | (u64)event << GTP_SAMPLE_EVENT_SHIFT |
	       period;
}

static void addresses(void **state)
{
	u32 tag, found = 0;

	for (tag = 0; tag < 256; tag++) {
		u64 addr = (u64)tag << 56 | 0x0010000000989680ULL;

		if (!gtp_sample_is(addr)) {
			assert_int_equal(gtp_moving_is(addr), gtp_watch_is(addr));
			continue;
		}
		found++;
		assert_true(gtp_moving_is(addr));
		/* The tag must not be one of the kernel, of programs, of files or of variables. */
		assert_true(tag & 1 && tag < 0x80 && tag != 0x47 && !gtp_watch_is(addr));
	}
	assert_int_equal(found, 1);
	assert_int_equal(gtp_sample_event(AT), 0x10);
	assert_int_equal(gtp_sample_type(AT), 1);
	assert_int_equal(gtp_sample_config(AT), 0);
	assert_int_equal(gtp_sample_period(AT), 1000000000 / 99);
	assert_int_equal(gtp_sample_type(0x4303ffffffffffffULL), 0);
	assert_int_equal(gtp_sample_config(0x4303ffffffffffffULL), 3);
	assert_int_equal(gtp_sample_period(0x4303ffffffffffffULL), (1ULL << 48) - 1);
}

static void lost(void **state)
{
	static const struct {
		u64 passed, samples, lost;
	} cases[] = {
		{ 0, 0, 0 },	      { 99, 0, 0 },    { 100, 0, 0 },	{ 199, 1, 0 },
		{ 200, 1, 0 },	      { 299, 1, 0 },   { 300, 1, 1 },	{ 1000, 4, 5 },
		{ 1000, 10, 0 },      { 1000, 11, 0 }, { 1000, 99, 0 }, { 1099, 0, 9 },
		{ 1000000, 1, 9998 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(gtp_sample_lost(with(0x10, 100), cases[i].passed,
						 cases[i].samples),
				 cases[i].lost);
}

static void checked(void **state)
{
	static const struct {
		u32 event;
		u64 period;
		const char *words; /* NULL: accepted */
	} cases[] = {
		{ 0x10, 10000, NULL },
		{ 0x10, 9999, "9999 ns is too short" },
		{ 0x10, 0, "a period of 0" },
		{ 0x00, 0, "a period of 0" },
		{ 0x00, 1, NULL },
		{ 0x09, 1000000, NULL },
		{ 0x0a, 1, "no event 0xa " },
		{ 0x11, 1000000, "no event 0x11" },
		{ 0x12, 1, "no event 0x12" },
		{ 0x20, 1000000, "no event 0x20" },
		{ 0xf0, 1000000, "no event 0xf0" },
		{ 0xff, 1, "no event 0xff" },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		struct gtp_why why = { "" };
		int rc = gtp_sample_place_check(with(cases[i].event, cases[i].period), &why);

		if (!cases[i].words) {
			assert_int_equal(rc, 0);
			continue;
		}
		assert_int_equal(rc, -EINVAL);
		assert_non_null(strstr(why.text, cases[i].words));
	}
}

static void names(void **state)
{
	char text[64];

	gtp_sample_place_name(AT, text, sizeof(text));
	assert_string_equal(text, "cpu-clock every 10101010 ns");
	gtp_sample_place_name(with(3, 10000), text, sizeof(text));
	assert_string_equal(text, "cache-misses:10000");
	gtp_sample_place_name(with(0x25, 7), text, sizeof(text));
	assert_string_equal(text, "event 0x25:7");
	gtp_sample_place_name(with(3, 10000), text, 6);
	assert_string_equal(text, "cache");
}

static void explained(void **state)
{
	static const struct {
		int err;
		const char *words;
	} cases[] = {
		{ -ENOENT, "no counter of cycles" },	   { -ENODEV, "no counter of cycles" },
		{ -EOPNOTSUPP, "no counter of cycles" },   { -EBUSY, "no counter free for cycles" },
		{ -ENOSPC, "no counter free for cycles" }, { -ENOMEM, "no memory" },
		{ -EINVAL, "by cycles (error 22)" },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		struct gtp_why why = { "" };

		gtp_sample_place_explain(with(0, 1000), cases[i].err, &why);
		assert_non_null(strstr(why.text, cases[i].words));
	}
}

static void kind(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = define(f, "1:" PLACE ":E:0:0", NULL, NULL);
	struct gtp_tracepoint *other = define(f, "2:42100000009a2112:E:0:0", NULL, NULL);

	f->marker = AT; /* a sample is not a marker, even if the callback says it is */
	assert_int_equal(gtp_location_kind(&f->trace, tp), GTP_LOCATION_SAMPLE);
	assert_int_equal(gtp_location_kind(&f->trace, other), GTP_LOCATION_CODE);
}

/* Make a hit as the handler of perf's event does. */
static void interrupted(struct fake *f, u64 pc, u64 cs)
{
	struct gtp_location *loc = fake_armed(f, AT);
	struct gtp_regs at = regs;

	at.rip = pc;
	at.cs = cs;
	assert_non_null(loc);
	gtp_hit(loc->first, f->trace.run.cpus[f->cpu], &at, 0);
}

static void define_and_hit(struct fake *f)
{
	define(f, "1:" PLACE ":E:0:0", NULL, "R10000", NULL);
	define(f, "2:" PLACE ":E:0:0", REG("10") CONST32("81005678") EQUAL END, NULL);
	start(f);
	interrupted(f, 0x81001234, 0x10);
	interrupted(f, 0x81005678, 0x10);
	interrupted(f, 0x7f0012345678, 0x33);
	expect_frames(f, "1@81001234 r16=81001234\n"
			 "1@81005678 r16=81005678\n"
			 "2@81005678\n"
			 "1@7f0012345678 r16=7f0012345678\n");
}

static void hits(void **state)
{
	define_and_hit(*state);
}

/* Machine code has a fixed pc, so no hit may use it. */
static void hits_with_compiler(void **state)
{
	struct fake *f = *state;

	arena = jit_user_new(64 << 10, 0x1000);
	fake_code_on(&f->trace, arena);
	define_and_hit(f);
}

static int teardown_compiler(void **state)
{
	int rc = teardown(state);

	jit_user_free(arena);
	return rc;
}

/* Quick hits record the tracepoint's address as pc, so no hit of a sample may be quick. */
static void never_quick(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = define(f, "1:" PLACE ":E:0:0", NULL, "R10000", NULL);
	struct gtp_tracepoint *other = define(f, "2:1000:E:0:0", NULL, "R10000", NULL);

	start(f);
	tp->code = f;
	other->code = f;
	gtp_hit_settle(&f->trace.run, tp);
	gtp_hit_settle(&f->trace.run, other);
	assert_null(tp->plan.quick);
	assert_null(tp->plan.in_pad);
	assert_ptr_equal(other->plan.quick, f);
	tp->code = NULL;
	other->code = NULL;
	gtp_hit_settle(&f->trace.run, other);
}

/* Return the only word of the stack with a number, or ~0 if it has several or does not exist. */
static u64 only_word(struct fake *f, u32 id)
{
	u32 n = 0;
	const u64 *pc = gtp_stacks_get(f->trace.run.stacks, id, &n);

	return pc && n == 1 ? *pc : ~0ULL;
}

/*
 * All hits in programs have the same $kstack, one word that says so. The same is not true of the
 * kernel's hits, nor of other tracepoints.
 */
static void stacks(void **state)
{
	const u64 in_program = gtp_ustack_tag(0, GTP_USTACK_IN_PROGRAM);
	struct fake *f = *state;
	struct gtp_regs user = regs;

	define(f, "1:" PLACE ":E:0:0", NULL, TRACEV("15") END, NULL);
	define(f, "2:1000:E:0:0", NULL, TRACEV("15") END, NULL);
	start(f);
	interrupted(f, 0x7f0012345678, 0x33);
	assert_int_equal(f->trace.run.stacks->count, 1);
	assert_int_equal(only_word(f, 1), in_program);
	interrupted(f, 0x7f0012345000, 0x33);
	assert_int_equal(f->trace.run.stacks->count, 1);
	interrupted(f, 0x81001234, 0x10);
	assert_int_equal(f->trace.run.stacks->count, 2);
	user.cs = 0x33;
	gtp_hit(fake_armed(f, 0x1000)->first, f->trace.run.cpus[f->cpu], &user, 0);
	assert_int_equal(f->trace.run.stacks->count, 3);
}

static void refused(struct fake *f, const char *want)
{
	struct gtp_why why = { "" };

	assert_int_equal(gtp_trace_start(&f->trace, &why), -EINVAL);
	assert_non_null(strstr(why.text, want));
	gtp_trace_reset(&f->trace);
}

static void foreign_variables(void **state)
{
	struct fake *f = *state;

	define(f, "1:" PLACE ":E:0:0", GETV("05") END, NULL); /* $ret */
	refused(f,
		"tracepoint 1 names $ret, $latency or $entry_clock, which only functions have: it is a sample");
	define(f, "1:" PLACE ":E:0:0", GETV("19") END, NULL); /* $watch_val */
	refused(f, "which only watchpoints have");
	fake_define(f, "1:" PLACE ":E:0:0", "L");
	refused(f, "which only kernel tracepoints have");
}

/* The address is in no range of a module, whatever its low bytes are. */
static void module_goes(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = define(f, "1:" PLACE ":E:0:0", NULL, NULL);

	start(f);
	assert_int_equal(gtp_trace_forget_range(&f->trace, AT | KERNEL, (AT | KERNEL) + 4096), 0);
	assert_non_null(fake_armed(f, AT));
	assert_false(tp->gone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(lost),
		cmocka_unit_test(checked),
		cmocka_unit_test(names),
		cmocka_unit_test(explained),
		cmocka_unit_test_setup_teardown(kind, setup, teardown),
		cmocka_unit_test_setup_teardown(hits, setup, teardown),
		cmocka_unit_test_setup_teardown(hits_with_compiler, setup, teardown_compiler),
		cmocka_unit_test_setup_teardown(never_quick, setup, teardown),
		cmocka_unit_test_setup_teardown(stacks, setup, teardown),
		cmocka_unit_test_setup_teardown(foreign_variables, setup, teardown),
		cmocka_unit_test_setup_teardown(module_goes, setup, teardown),
	};

	return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
