// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests thousands of tracepoints: defining and starting one must not search all of them. Also tests
 * that fast tracepoints are accepted, or refused with the reason.
 */
#include "define_case.h"

enum { MANY = 5000, LONGEST = 32 };

static u32 longest_by_key(const struct gtp_tracepoints *list)
{
	const struct gtp_tracepoint *tp;
	u32 i, n, longest = 0;

	for (i = 0; i < GTP_TRACEPOINT_BUCKETS; i++) {
		for (n = 0, tp = list->by_key[i]; tp; tp = tp->next_key)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

static u32 longest_by_num(const struct gtp_tracepoints *list)
{
	const struct gtp_tracepoint *tp;
	u32 i, n, longest = 0;

	for (i = 0; i < GTP_TRACEPOINT_BUCKETS; i++) {
		for (n = 0, tp = list->by_num[i]; tp; tp = tp->next_num)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

static u32 longest_by_addr(const struct gtp_trace *t)
{
	const struct gtp_location *loc;
	u32 i, n, longest = 0;

	for (i = 0; i < GTP_LOCATION_BUCKETS; i++) {
		for (n = 0, loc = t->loc_by_addr[i]; loc; loc = loc->next_addr)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

static u64 many_addr(u32 i)
{
	return 0xffffffff81000000 + i * 16;
}

/* No list of the hash tables of thousands of tracepoints has more than a few entries. */
static void many_are_found_at_once(void **state)
{
	struct world *w = *state;
	char text[64];
	u32 i;

	for (i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "%x:%llx:E:0:0", i + 1, many_addr(i));
		assert_int_equal(define(w, text), 0);
	}
	assert_true(longest_by_key(w->list) <= LONGEST);
	assert_true(longest_by_num(w->list) <= LONGEST);
	for (i = 0; i < MANY; i++) {
		w->tp = gtp_tracepoint_find(w->list, i + 1, many_addr(i));
		assert_non_null(w->tp);
		assert_false(w->tp->several);
		assert_null(gtp_tracepoint_find(w->list, i + 2, many_addr(i)));
	}
	assert_int_equal(gtp_trace_start(&w->f.trace, &w->why), 0);
	assert_int_equal(w->f.armed, MANY);
	assert_true(longest_by_addr(&w->f.trace) <= LONGEST);
	gtp_trace_stop(&w->f.trace, GTP_STOP_USER);
	gtp_trace_drop(&w->f.trace);
	assert_int_equal(longest_by_addr(&w->f.trace), 0);
}

/* One tracepoint with thousands of locations, and thousands of tracepoints at one address. */
static void many_of_a_number_and_of_an_address(void **state)
{
	struct world *w = *state;
	const struct gtp_tracepoint *tp;
	char text[64];
	u32 i;

	for (i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "7:%llx:E:0:0", many_addr(i));
		assert_int_equal(define(w, text), 0);
		snprintf(text, sizeof(text), "%x:%llx:E:0:0", i + 8, many_addr(MANY));
		assert_int_equal(define(w, text), 0);
	}
	assert_true(longest_by_key(w->list) <= LONGEST);
	for (tp = w->list->first; tp; tp = tp->next)
		assert_int_equal(tp->several, tp->num == 7);
	assert_int_equal(gtp_trace_start(&w->f.trace, &w->why), 0);
	assert_int_equal(w->f.armed, MANY + 1);
	/*
	 * A hit serves a limited number of tracepoints, because interrupts are off; the others are
	 * reported.
	 */
	assert_non_null(strstr(w->f.told, "tracepoint 72 is not armed at 0xffffffff81013880: 64 "));
	assert_null(strstr(w->f.told, "tracepoint 71 is not"));
	assert_int_equal(fake_armed(&w->f, many_addr(MANY))->n, GTP_HERE_MAX);
}

static void more_at_an_address_during_a_run(void **state)
{
	struct world *w = *state;
	struct gtp_trace *t = &w->f.trace;
	char text[64];
	u32 i;

	assert_int_equal(define(w, "1:1000:E:0:0"), 0);
	assert_int_equal(gtp_trace_start(t, &w->why), 0);
	for (i = 2; i <= GTP_HERE_MAX + 10; i++) {
		snprintf(text, sizeof(text), "%x:1000:E:0:0", i);
		assert_int_equal(define(w, text), 0);
		assert_int_equal(gtp_trace_install(t, w->tp, &w->why), 0);
		assert_int_equal(!!strstr(w->f.told, "64 tracepoints are there already"),
				 i > GTP_HERE_MAX);
	}
	assert_int_equal(fake_armed(&w->f, 0x1000)->n, GTP_HERE_MAX);
	assert_int_equal(w->f.armed, 1);
	t->strict = true;
	assert_int_equal(define(w, "1000:1000:E:0:0"), 0);
	assert_int_equal(gtp_trace_install(t, w->tp, &w->why), -EOPNOTSUPP);
	assert_non_null(strstr(w->why.text, "64 tracepoints are there already"));
	gtp_trace_stop(t, GTP_STOP_USER);
	assert_int_equal(gtp_trace_start(t, &w->why), -EOPNOTSUPP);
	assert_int_equal(w->f.armed, 0);
}

static void a_removed_one_leaves_the_rest_in_order(void **state)
{
	struct world *w = *state;
	const struct gtp_tracepoint *tp;
	u64 removed = w->list->removed;
	u32 i;

	for (i = 1; i <= 4; i++) {
		char text[32];

		snprintf(text, sizeof(text), "%x:ab:E:0:0-", i);
		assert_int_equal(define(w, text), 0);
	}
	assert_int_equal(act(w, "2:ab:?"), -EINVAL);
	assert_int_equal(act(w, "4:ab:?"), -EINVAL);
	assert_int_equal(act(w, "1:ab:?"), -EINVAL);
	assert_int_equal(w->list->removed, removed + 3);
	assert_int_equal(define(w, "5:ab:E:0:0"), 0);
	tp = w->list->first;
	assert_int_equal(tp->num, 3);
	assert_null(tp->prev);
	assert_int_equal(tp->next->num, 5);
	assert_ptr_equal(tp->next->prev, tp);
	assert_ptr_equal(tp->next, w->list->last);
	assert_null(gtp_tracepoint_find(w->list, 2, 0xab));
}

static const char cannot[] =
	"tracepoint 2 at 0x2000: it cannot be fast: control may arrive; use trace, not ftrace";

static void fast_or_refused(void **state)
{
	struct world *w = *state;
	struct gtp_trace *t = &w->f.trace;
	char text[64];

	w->f.jump = 0x1000;
	assert_int_equal(define(w, "1:1000:E:0:0:F5"), 0);
	gtp_tracepoint_piece(w->tp, 0, text, sizeof(text));
	assert_string_equal(text, "T1:1000:E:0:0:F5");
	assert_int_equal(define(w, "3:2000:E:0:0"), 0);
	assert_int_equal(gtp_trace_start(t, &w->why), 0);
	gtp_trace_stop(t, GTP_STOP_USER);

	t->strict = true;
	assert_int_equal(define(w, "2:2000:E:0:0:F3"), 0);
	assert_int_equal(gtp_trace_start(t, &w->why), -EOPNOTSUPP);
	assert_string_equal(w->why.text, cannot);
	assert_int_equal(w->f.armed, 0);
	assert_null(t->locs);
}

static void fast_or_refused_during_a_run(void **state)
{
	struct world *w = *state;
	struct gtp_trace *t = &w->f.trace;

	t->strict = true;
	w->f.jump = 0x1000;
	assert_int_equal(define(w, "3:2000:E:0:0"), 0);
	assert_int_equal(gtp_trace_start(t, &w->why), 0);
	assert_int_equal(define(w, "1:1000:E:0:0:F5"), 0);
	assert_int_equal(gtp_trace_install(t, w->tp, &w->why), 0);
	assert_int_equal(define(w, "4:1000:E:0:0:F5"), 0);
	assert_int_equal(gtp_trace_install(t, w->tp, &w->why), 0);
	assert_int_equal(define(w, "2:2000:E:0:0:F5"), 0);
	assert_int_equal(gtp_trace_install(t, w->tp, &w->why), -EOPNOTSUPP);
	assert_string_equal(w->why.text, cannot);
	assert_int_equal(define(w, "2:3000:E:0:0:F5"), 0);
	assert_int_equal(gtp_trace_install(t, w->tp, &w->why), -EOPNOTSUPP);
	assert_int_equal(w->f.armed, 2);
	assert_int_equal(t->tps.count, 3);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(many_are_found_at_once),
		T(many_of_a_number_and_of_an_address),
		T(more_at_an_address_during_a_run),
		T(a_removed_one_leaves_the_rest_in_order),
		T(fast_or_refused),
		T(fast_or_refused_during_a_run),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
