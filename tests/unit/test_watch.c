// SPDX-License-Identifier: GPL-2.0-only
/* Tests watchpoints: their addresses, refusals, and the values and the pc of a hit. */
#include <stdlib.h>
#include "hit_case.h"
#include "hit/watched.h"
#include "probe/watch/place.h"
#include "session/location.h"
#include "session/run.h"

/* A watchpoint for writes to eight bytes, a signed value, at 0xffff888000002000. */
#define PLACE "7bff888000002000"
#define AT 0x7bff888000002000ULL

static const u64 VARIABLE = 0xffff888000002000ULL;

static u64 with(u32 tag, u64 at)
{
	return (u64)tag << GTP_WATCH_SHIFT | (at & ((1ULL << GTP_WATCH_SHIFT) - 1));
}

static void addresses(void **state)
{
	u32 tag, found = 0;

	for (tag = 0; tag < 256; tag++) {
		u64 addr = with(tag, VARIABLE);

		if (!gtp_watch_is(addr)) {
			assert_int_equal(gtp_watch_real(addr), addr);
			continue;
		}
		found++;
		assert_int_equal(gtp_watch_real(addr), VARIABLE);
		assert_int_equal(gtp_watch_at(addr), VARIABLE);
		/*
		 * The tag must not be one that addresses of the kernel, of programs or of files
		 * have.
		 */
		assert_true(tag & 1 && tag < 0x80 && tag != 0x47);
		assert_int_equal(gtp_watch_bytes(addr), 1 << ((tag - 0x61) / 8));
		assert_int_equal(gtp_watch_reads(addr), (tag - 0x61) % 8 / 4);
	}
	assert_int_equal(found, 4 * 2 * 2);
	assert_false(gtp_watch_is(0xffffffff81000000ULL));
	assert_false(gtp_watch_is(0x00007fffffffffffULL));
}

static void values(void **state)
{
	static const struct {
		u32 tag;
		u64 raw;
		s64 value;
	} cases[] = {
		{ 0x61, 0xff, 255 },	       { 0x63, 0xff, -1 },
		{ 0x63, 0x7f, 127 },	       { 0x69, 0x8000, 0x8000 },
		{ 0x6b, 0x8000, -0x8000 },     { 0x71, 0xffffffff, 0xffffffff },
		{ 0x73, 0xffffffff, -1 },      { 0x73, 0x7fffffff, 0x7fffffff },
		{ 0x79, ~0ULL, -1 },	       { 0x7b, ~0ULL, -1 },
		{ 0x7f, 1ULL << 63, S64_MIN }, { 0x67, 0x80, -128 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(gtp_watch_value(with(cases[i].tag, VARIABLE), cases[i].raw),
				 cases[i].value);
}

static void alignment(void **state)
{
	struct gtp_why why = { "" };
	u32 size, off;

	for (size = 0; size < 4; size++)
		for (off = 0; off < 16; off++)
			assert_int_equal(
				gtp_watch_place_check(with(0x61 + 8 * size, VARIABLE + off), &why),
				off % (1 << size) ? -EINVAL : 0);
	gtp_watch_place_check(with(0x71, VARIABLE + 2), &why);
	assert_non_null(strstr(why.text, "0xffff888000002002 is no multiple of 4"));
}

/* Return whether the ranges overlap, compared byte by byte. */
static bool meets(u64 at, u32 bytes, u64 start, u64 len)
{
	for (u32 i = 0; i < bytes; i++)
		if (at + i >= start && at + i - start < len)
			return true;
	return false;
}

static void overlaps(void **state)
{
	u32 size, len;
	int by;

	for (size = 0; size < 4; size++)
		for (len = 0; len < 20; len++)
			for (by = -24; by < 24; by++) {
				u64 start = VARIABLE + (u64)by;

				assert_int_equal(
					gtp_watch_place_meets(with(0x61 + 8 * size, VARIABLE),
							      start, len),
					meets(VARIABLE, 1U << size, start, len));
			}
}

static void explained(void **state)
{
	static const struct {
		int err;
		const char *words;
	} cases[] = {
		{ -ENOSPC, "four places at a time" },
		{ -EBUSY, "four places at a time" },
		{ -EINVAL, "the kernel refuses it" },
		{ -EFAULT, "can be read" },
		{ -ENOMEM, "no memory" },
		{ -EPERM, "does not permit" },
		{ -ENODEV, "error 19" },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		struct gtp_why why = { "" };

		gtp_watch_place_explain(cases[i].err, &why);
		assert_non_null(strstr(why.text, cases[i].words));
	}
}

static void kind(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = define(f, "1:" PLACE ":E:0:0", NULL, NULL);
	struct gtp_tracepoint *other = define(f, "2:46ff888000002000:E:0:0", NULL, NULL);

	f->marker = AT; /* a variable is not a marker, even if the callback says it is */
	assert_int_equal(gtp_location_kind(&f->trace, tp), GTP_LOCATION_WATCH);
	assert_int_equal(gtp_location_kind(&f->trace, other), GTP_LOCATION_CODE);
}

/* Make a hit as the kernel's breakpoint handler does. */
static void written(struct fake *f, u64 *seen, u64 value, u64 pc)
{
	struct gtp_location *loc = fake_armed(f, AT);
	struct gtp_regs at = regs;

	at.rip = pc;
	assert_non_null(loc);
	gtp_watched_hit(loc->first, f->trace.run.cpus[f->cpu], &at, 0, gtp_watched_see(seen, value),
			value);
}

/* $watch_addr, $watch_val and $watch_prev_val are variables 24, 25 and 26. */
static void hits(void **state)
{
	struct fake *f = *state;
	u64 seen = 5;

	define(f, "1:" PLACE ":E:0:0", NULL, TRACEV("1a") TRACEV("19") END, "R10000", NULL);
	define(f, "2:" PLACE ":E:0:0", NULL, NULL);
	start(f);
	written(f, &seen, 7, 0xffffffff81001234);
	written(f, &seen, (u64)-2, 0xffffffff81005678);
	assert_int_equal(seen, (u64)-2);
	expect_frames(f, "1@ffffffff81001234 v26=5 v25=7 r16=ffffffff81001234\n"
			 "2@ffffffff81001234\n"
			 "1@ffffffff81005678 v26=7 v25=-2 r16=ffffffff81005678\n"
			 "2@ffffffff81005678\n");
}

static void conditions(void **state)
{
	struct fake *f = *state;
	u64 seen = 0;

	/* $watch_val == 9, $watch_prev_val == 3, $pc == 0x81001234 */
	define(f, "1:" PLACE ":E:0:0", GETV("19") CONST8("09") EQUAL END, NULL);
	define(f, "2:" PLACE ":E:0:0", GETV("1a") CONST8("03") EQUAL END, NULL);
	define(f, "3:" PLACE ":E:0:0", REG("10") CONST32("81001234") EQUAL END, NULL);
	start(f);
	written(f, &seen, 3, 0x81001234);
	written(f, &seen, 9, 0x82000000);
	written(f, &seen, 4, 0x83000000);
	expect_frames(f, "3@81001234\n1@82000000\n2@82000000\n");
}

static void nested(void **state)
{
	struct fake *f = *state;
	u64 seen = 1;
	struct gtp_cpu *cpu;

	define(f, "1:" PLACE ":E:0:0", NULL, TRACEV("19") END, NULL);
	start(f);
	cpu = f->trace.run.cpus[f->cpu];
	cpu->local[GTP_TSV_WATCH_VAL] = 77;
	cpu->in_hit = GTP_HIT_BEGUN; /* in a hit of another tracepoint */
	written(f, &seen, 2, 0x81000000);
	assert_int_equal(cpu->nested, 1);
	assert_int_equal(cpu->local[GTP_TSV_WATCH_VAL], 77);
	assert_int_equal(seen, 2); /* the value is remembered although the hit was missed */
	cpu->in_hit = GTP_HIT_NONE;
	expect_frames(f, "");
}

static void refused(struct fake *f, const char *want)
{
	struct gtp_why why = { "" };

	assert_int_equal(gtp_trace_start(&f->trace, &why), -EINVAL);
	assert_non_null(strstr(why.text, want));
}

static void no_returns(void **state)
{
	struct fake *f = *state;

	define(f, "1:" PLACE ":E:0:0", GETV("05") END, NULL); /* $ret */
	refused(f, "tracepoint 1 names $ret, $latency or $entry_clock, which only functions have");
}

static void no_static_data(void **state)
{
	struct fake *f = *state;

	fake_define(f, "1:" PLACE ":E:0:0", "L");
	refused(f, "which only kernel tracepoints have");
}

static void no_values_elsewhere(void **state)
{
	static const char *const names[] = { "18", "19", "1a" };
	struct fake *f = *state;
	char code[16];

	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(code, sizeof(code), "2e00%s27", names[i]);
		define(f, "1:1000:E:0:0", NULL, code, NULL);
		refused(f, "tracepoint 1 names $watch_val, $watch_prev_val or $watch_addr");
		gtp_trace_reset(&f->trace);
	}
}

static void module_goes(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = define(f, "1:" PLACE ":E:0:0", NULL, NULL);

	define(f, "2:1000:E:0:0", NULL, NULL);
	start(f);
	assert_int_equal(gtp_trace_forget_range(&f->trace, VARIABLE + 1, VARIABLE + 4096), 0);
	assert_non_null(fake_armed(f, AT));
	assert_int_equal(gtp_trace_forget_range(&f->trace, VARIABLE, VARIABLE + 1), 1);
	assert_null(fake_armed(f, AT));
	assert_true(tp->gone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(values),
		cmocka_unit_test(alignment),
		cmocka_unit_test(overlaps),
		cmocka_unit_test(explained),
		cmocka_unit_test_setup_teardown(kind, setup, teardown),
		cmocka_unit_test_setup_teardown(hits, setup, teardown),
		cmocka_unit_test_setup_teardown(conditions, setup, teardown),
		cmocka_unit_test_setup_teardown(nested, setup, teardown),
		cmocka_unit_test_setup_teardown(no_returns, setup, teardown),
		cmocka_unit_test_setup_teardown(no_static_data, setup, teardown),
		cmocka_unit_test_setup_teardown(no_values_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(module_goes, setup, teardown),
	};

	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
