// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests how a backend is chosen for each location, by fake backends that accept, refuse or give up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "probe/arm.h"

enum { PLACES = 4 };

/* For each place, the results that the two backends return. @log: the calls of the backends. */
static struct {
	int first[PLACES], second[PLACES]; /* ->arm's results */
	bool gives_up[PLACES];		   /* the first backend's ->commit refuses the place */
	int commit;
	u64 missed; /* the missed hits of each place that has a probe */
	char log[400];
	u32 len;
} w;

static struct gtp_location loc[PLACES];
static struct gtp_tracepoint tp[PLACES];

static u32 index_of(const struct gtp_location *l)
{
	return (u32)(l - loc);
}

static void note(const char *what, const struct gtp_location *l)
{
	w.len += (u32)snprintf(w.log + w.len, sizeof(w.log) - w.len, l ? "%s%u " : "%s ", what,
			       l ? index_of(l) : 0);
}

static int take(struct gtp_location *l, int err, struct gtp_why *why)
{
	if (err)
		gtp_why(why, "no, and %d", err);
	else
		l->probe = l;
	return err;
}

static int first_arm(struct gtp_location *l, struct gtp_why *why)
{
	note("a", l);
	return take(l, w.first[index_of(l)], why);
}

static int first_commit(struct gtp_why *why)
{
	note("commit", NULL);
	for (u32 i = 0; i < PLACES; i++) {
		if (!w.gives_up[i] || !loc[i].backend)
			continue;
		loc[i].backend = NULL;
		loc[i].probe = NULL;
	}
	if (w.commit)
		gtp_why(why, "not committed");
	return w.commit;
}

static void disarm(const char *what, struct gtp_location *first)
{
	for (; first; first = first->next_own) {
		assert_non_null(first->probe);
		first->probe = NULL;
		note(what, first);
	}
}

static u64 missed(const struct gtp_location *l)
{
	assert_non_null(l->probe);
	return w.missed;
}

static void first_disarm(struct gtp_location *first)
{
	disarm("-a", first);
}

static void first_end(void)
{
	note("end", NULL);
}

static int second_arm(struct gtp_location *l, struct gtp_why *why)
{
	note("b", l);
	return take(l, w.second[index_of(l)], why);
}

static void second_disarm(struct gtp_location *first)
{
	disarm("-b", first);
}

static int second_widen(struct gtp_location *l, struct gtp_why *why)
{
	note("wide", l);
	return -EBUSY;
}

static const struct gtp_probe_backend first = {
	.name = "first",
	.arm = first_arm,
	.commit = first_commit,
	.disarm = first_disarm,
	.missed = missed,
	.end_batch = first_end,
};

static const struct gtp_probe_backend second = {
	.name = "second",
	.slow = true,
	.arm = second_arm,
	.widen = second_widen,
	.disarm = second_disarm,
};

static const struct gtp_probe_backend *const list[] = { &first, &second, NULL };

static int setup(void **state)
{
	memset(&w, 0, sizeof(w));
	memset(loc, 0, sizeof(loc));
	for (u32 i = 0; i < PLACES; i++) {
		tp[i].num = 10 + i;
		loc[i].addr = 0x1000 + i;
		loc[i].first = &tp[i];
		loc[i].next = i + 1 < PLACES ? &loc[i + 1] : NULL;
	}
	return 0;
}

static void arm_all(void)
{
	struct gtp_why why = { "" };

	for (u32 i = 0; i < PLACES; i++)
		assert_int_equal(gtp_arm(list, &loc[i], &why), 0);
}

static void the_first_that_can(void **state)
{
	struct gtp_why why = { "" };

	w.first[1] = -EOPNOTSUPP;
	arm_all();
	assert_ptr_equal(loc[0].backend, &first);
	assert_ptr_equal(loc[1].backend, &second);
	assert_int_equal(gtp_arm_commit(list, loc, &why), 0);
	assert_string_equal(w.log, "a0 a1 b1 a2 a3 commit end ");
}

static void missed_so_far_and_before(void **state)
{
	w.missed = 3;
	assert_int_equal(gtp_arm_missed(&loc[0]), 0);
	arm_all();
	assert_int_equal(gtp_arm_missed(&loc[0]), 3);
	loc[0].missed = 4; /* counted by an earlier probe there */
	assert_int_equal(gtp_arm_missed(&loc[0]), 7);
	gtp_arm_disarm(list, loc);
	assert_int_equal(gtp_arm_missed(&loc[0]), 4);
}

static void a_refusal_is_final(void **state)
{
	struct gtp_why why = { "" };

	w.first[0] = -EINVAL;
	assert_int_equal(gtp_arm(list, &loc[0], &why), -EINVAL);
	assert_string_equal(why.text, "no, and -22");
	assert_null(loc[0].backend);
	assert_string_equal(w.log, "a0 ");
}

static void no_backend_can(void **state)
{
	struct gtp_why why = { "" };

	w.first[0] = -EOPNOTSUPP;
	w.second[0] = -EOPNOTSUPP;
	assert_int_equal(gtp_arm(list, &loc[0], &why), -EOPNOTSUPP);
	assert_null(loc[0].backend);
}

static void what_one_gives_up_the_next_is_offered(void **state)
{
	struct gtp_why why = { "" };

	w.gives_up[1] = true;
	w.gives_up[3] = true;
	arm_all();
	assert_int_equal(gtp_arm_commit(list, loc, &why), 0);
	assert_ptr_equal(loc[0].backend, &first);
	assert_ptr_equal(loc[1].backend, &second);
	assert_ptr_equal(loc[3].backend, &second);
	assert_string_equal(w.log, "a0 a1 a2 a3 commit b1 b3 end ");
}

static void and_may_refuse(void **state)
{
	struct gtp_why why = { "" };

	/*
	 * If no backend can probe a place, the reason is reported, and the other places are armed.
	 */
	w.gives_up[1] = true;
	w.second[1] = -EILSEQ;
	arm_all();
	assert_int_equal(gtp_arm_commit(list, loc, &why), 0);
	assert_string_equal(loc[1].refused.text, "no, and -84");
	assert_null(loc[1].backend);
	assert_false(gtp_location_is_refused(&loc[0]));
	gtp_arm_disarm(list, loc);
	assert_string_equal(w.log, "a0 a1 a2 a3 commit b1 end -a0 -a2 -a3 end ");
}

static void what_is_refused_is_left_alone(void **state)
{
	struct gtp_why why = { "" };

	w.first[2] = -EINVAL;
	for (u32 i = 0; i < PLACES; i++)
		assert_int_equal(gtp_arm(list, &loc[i], &why), w.first[i]);
	gtp_why(&loc[2].refused, "%s", why.text);
	assert_int_equal(gtp_arm_commit(list, loc, &why), 0);
	gtp_arm_disarm(list, loc);
	assert_string_equal(w.log, "a0 a1 a2 a3 commit end -a0 -a1 -a3 end ");
}

/* After lack of memory, or an interrupt by the user, the place is not marked as refused. */
static void an_error_of_the_machine(void **state)
{
	static const int errors[] = { -ENOMEM, -EINTR };
	struct gtp_why why = { "" };

	for (u32 i = 0; i < ARRAY_SIZE(errors); i++) {
		setup(NULL);
		w.gives_up[1] = true;
		w.second[1] = errors[i];
		arm_all();
		assert_int_equal(gtp_arm_commit(list, loc, &why), errors[i]);
		assert_false(gtp_location_is_refused(&loc[1]));
	}
}

static void fast_or_not_at_all(void **state)
{
	struct gtp_why why = { "" };

	loc[1].fast_only = true;
	loc[3].fast_only = true;
	w.first[1] = -EOPNOTSUPP;
	assert_int_equal(gtp_arm(list, &loc[0], &why), 0);
	assert_int_equal(gtp_arm(list, &loc[1], &why), -EOPNOTSUPP);
	assert_string_equal(why.text,
			    "it cannot be fast: jumps are switched off; use trace, not ftrace");
	gtp_why(&loc[1].refused, "%s", why.text);
	assert_int_equal(gtp_arm(list, &loc[3], &why), 0);
	w.gives_up[3] = true;
	assert_int_equal(gtp_arm_commit(list, loc, &why), 0);
	assert_true(gtp_location_is_refused(&loc[3]));
	/*
	 * Only place 2 goes to the second backend. The others are armed, or must have a fast probe.
	 */
	assert_string_equal(w.log, "a0 a1 a3 commit b2 end ");
}

static void a_commit_that_fails(void **state)
{
	struct gtp_why why = { "" };

	w.commit = -ENOMEM;
	w.gives_up[2] = true;
	arm_all();
	assert_int_equal(gtp_arm_commit(list, loc, &why), -ENOMEM);
	assert_string_equal(why.text, "not committed");
	assert_null(loc[2].backend);
	assert_string_equal(w.log, "a0 a1 a2 a3 commit end ");
}

static void disarmed_in_reverse(void **state)
{
	w.first[0] = -EOPNOTSUPP;
	w.first[2] = -EOPNOTSUPP;
	arm_all();
	w.len = 0;
	gtp_arm_disarm(list, loc);
	assert_string_equal(w.log, "-b0 -b2 -a1 -a3 end ");
	for (u32 i = 0; i < PLACES; i++)
		assert_null(loc[i].backend);
	w.len = 0;
	gtp_arm_disarm(list, loc);
	assert_string_equal(w.log, "end ");
}

static void widened_by_its_own(void **state)
{
	struct gtp_why why = { "" };

	w.first[1] = -EOPNOTSUPP;
	arm_all();
	w.len = 0;
	assert_int_equal(gtp_arm_widen(&loc[0], &why), 0);
	assert_int_equal(gtp_arm_widen(&loc[1], &why), -EBUSY);
	assert_string_equal(w.log, "end wide1 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_first_that_can, setup),
		cmocka_unit_test_setup(missed_so_far_and_before, setup),
		cmocka_unit_test_setup(a_refusal_is_final, setup),
		cmocka_unit_test_setup(no_backend_can, setup),
		cmocka_unit_test_setup(what_one_gives_up_the_next_is_offered, setup),
		cmocka_unit_test_setup(and_may_refuse, setup),
		cmocka_unit_test_setup(what_is_refused_is_left_alone, setup),
		cmocka_unit_test_setup(an_error_of_the_machine, setup),
		cmocka_unit_test_setup(fast_or_not_at_all, setup),
		cmocka_unit_test_setup(a_commit_that_fails, setup),
		cmocka_unit_test_setup(disarmed_in_reverse, setup),
		cmocka_unit_test_setup(widened_by_its_own, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
