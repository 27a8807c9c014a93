// SPDX-License-Identifier: GPL-2.0-only
/* Tests variables that have a value for each task: at hits, in a session, and what is refused. */
#include "hit_case.h"
#include "session/check.h"

#define TASK "50" /* the variable $task_in */

static int setup_variable(void **state)
{
	int rc = setup(state);
	struct fake *f = *state;
	struct gtp_why why;

	assert_int_equal(
		gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "50:9:0:7461736b5f696e", &why), 0);
	f->task = 0xffff888004c2a000;
	f->born = 1000;
	return rc;
}

static const struct gtp_tasks *tasks(struct fake *f)
{
	return f->trace.run.tsvs.slot[0x50]->tasks;
}

static void fire_at(struct fake *f, u64 addr, u64 rsi)
{
	struct gtp_regs r = regs;

	r.rsi = rsi;
	assert_true(fake_fire(f, addr, &r));
}

/* Tracepoint 1 sets the value, 2 wants it to be set, 3 removes it. */
static void enter_line_leave(struct fake *f)
{
	define(f, "1:1000:E:0:0", NULL, REG("04") SETV(TASK) END, NULL);
	define(f, "2:1010:E:0:0", GETV(TASK) END, TRACEV(TASK) END, NULL);
	define(f, "3:1020:E:0:0", NULL, CONST8("00") SETV(TASK) END, NULL);
	start(f);
}

static void other_task(struct fake *f, u32 n)
{
	f->task = 0xffff888004c2a000 + n * 0x2600;
	f->born = 1000 + n;
}

/* The initial value means nothing: a task has no value before it sets one. */
static void each_task_has_its_own(void **state)
{
	struct fake *f = *state;

	f->ncpus = 2;
	enter_line_leave(f);
	fire_at(f, 0x1010, 0);
	fire_at(f, 0x1000, 5);
	f->cpu = 1;
	other_task(f, 1);
	fire_at(f, 0x1010, 0);
	fire_at(f, 0x1000, 6);
	fire_at(f, 0x1010, 0);
	other_task(f, 0); /* which has moved to CPU 1 */
	fire_at(f, 0x1010, 0);
	fire_at(f, 0x1020, 0);
	fire_at(f, 0x1010, 0);
	other_task(f, 1);
	fire_at(f, 0x1010, 0);
	assert_int_equal(f->tsv_locks, 0);
	assert_int_equal(gtp_tasks_count(tasks(f)), 1);
	assert_int_equal(tasks(f)->sets, 2);
	expect_frames(f, "1@1000\n1@1000\n2@1010 v80=6\n2@1010 v80=5\n3@1020\n2@1010 v80=6\n");
	/* The next run begins without values. */
	start(f);
	fire_at(f, 0x1010, 0);
	assert_int_equal(gtp_tasks_count(tasks(f)), 0);
	expect_frames(f, "");
}

/* A condition may set the value; it holds for the calls that it was set for. */
static void set_by_a_condition(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", REG("04") SETV(TASK) END, TRACEV(TASK) END, NULL);
	start(f);
	fire_at(f, 0x1000, 0);
	fire_at(f, 0x1000, 7);
	assert_int_equal(f->tsv_locks, 0);
	expect_frames(f, "1@1000 v80=7\n");
}

/* The task has died, and another one has its address: it has no value, and may set its own. */
static void a_task_that_died(void **state)
{
	struct fake *f = *state;

	enter_line_leave(f);
	fire_at(f, 0x1000, 5);
	f->born = 2000;
	fire_at(f, 0x1010, 0);
	assert_int_equal(gtp_tasks_count(tasks(f)), 1);
	fire_at(f, 0x1000, 6);
	fire_at(f, 0x1010, 0);
	f->born = 3000;
	fire_at(f, 0x1020, 0);
	assert_int_equal(tasks(f)->died, 2);
	assert_int_equal(gtp_tasks_count(tasks(f)), 0);
	expect_frames(f, "1@1000\n1@1000\n2@1010 v80=6\n3@1020\n");
}

static void more_tasks_than_room(void **state)
{
	struct fake *f = *state;
	u32 n, bucket, in_bucket = 0;

	enter_line_leave(f);
	other_task(f, 0);
	bucket = gtp_tasks_bucket(f->task);
	for (n = 0; in_bucket <= GTP_TASKS_SLOTS; n++) {
		other_task(f, n);
		if (gtp_tasks_bucket(f->task) != bucket)
			continue;
		in_bucket++;
		fire_at(f, 0x1000, n + 1);
	}
	assert_int_equal(gtp_tasks_count(tasks(f)), GTP_TASKS_SLOTS);
	assert_int_equal(tasks(f)->no_room, 1);
	fire_at(f, 0x1010, 0); /* the last task has no value */
	other_task(f, 0);
	fire_at(f, 0x1010, 0);
	expect_frames(f, "1@1000\n1@1000\n1@1000\n1@1000\n1@1000\n1@1000\n2@1010 v80=1\n");
}

/* Tasks whose addresses have equal distances are spread over the buckets. */
static void spread(void **state)
{
	static u32 n[GTP_TASKS_BUCKETS];
	u32 most = 0;

	for (u32 i = 0; i < 1000; i++) {
		u32 nr = gtp_tasks_bucket(0xffff888100000000 + i * 0x2600ULL);

		assert_in_range(nr, 0, GTP_TASKS_BUCKETS - 1);
		most = ++n[nr] > most ? n[nr] : most;
	}
	assert_in_range(most, 1, GTP_TASKS_SLOTS);
}

static void a_dprintf_is_refused(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint tp = { .num = 3, .addr = 0x1000 };
	struct gtp_expr *cond = define(f, "1:1000:E:0:0", GETV(TASK) END, NULL)->cond;
	struct gtp_dprintf_count counters;
	struct gtp_why why = { "" };

	tp.cond = cond;
	assert_int_equal(gtp_check_tracepoint(&f->trace, &tp, &why), 0);
	tp.dprintf = &counters;
	assert_int_equal(gtp_check_tracepoint(&f->trace, &tp, &why), -EINVAL);
	assert_non_null(strstr(why.text, "$task_in has a value for each task"));
}

static void too_many_variables(void **state)
{
	struct fake *f = *state;
	struct gtp_why why = { "" };
	char text[40];

	for (u32 i = 0; i < 8; i++) {
		snprintf(text, sizeof(text), "%x:0:0:7461736b5f6%x", 0x60 + i, 1 + i);
		assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, text, &why), 0);
	}
	define(f, "1:1000:E:0:0", NULL, REG("04") SETV(TASK) END, NULL);
	assert_int_equal(gtp_trace_start(&f->trace, &why), -EINVAL);
	assert_string_equal(why.text,
			    "$task_h is one variable of tasks more than the 8 that a run can have");
}

static void no_memory(void **state)
{
	struct fake *f = *state;
	struct gtp_why why = { "" };

	define(f, "1:1000:E:0:0", NULL, REG("04") SETV(TASK) END, NULL);
	f->memory_most = 64 << 10;
	assert_int_equal(gtp_trace_start(&f->trace, &why), -ENOMEM);
	assert_string_equal(why.text, "no memory for the values of $task_in, 128 KiB");
	f->memory_most = 1 << 20;
	start(f);
	fire_at(f, 0x1000, 3);
	assert_int_equal(gtp_tasks_count(tasks(f)), 1);
}

/* A tracepoint that joins the run brings its variable. */
static void joins_a_run(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp;
	struct gtp_why why = { "" };

	define(f, "1:1000:E:0:0", NULL, REG("04") SETV(TASK) END, NULL);
	start(f);
	fire_at(f, 0x1000, 3);
	assert_int_equal(
		gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "51:0:0:7461736b5f6f6e", &why), 0);
	tp = define(f, "2:1010:E:0:0", NULL, GETV(TASK) SETV("51") TRACEV("51") END, NULL);
	assert_int_equal(gtp_trace_install(&f->trace, tp, &why), 0);
	fire_at(f, 0x1010, 0);
	expect_frames(f, "1@1000\n2@1010 v81=3\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup_variable, teardown)
	const struct CMUnitTest tests[] = {
		T(each_task_has_its_own),
		T(set_by_a_condition),
		T(a_task_that_died),
		T(more_tasks_than_room),
		T(spread),
		T(a_dprintf_is_refused),
		T(too_many_variables),
		T(no_memory),
		T(joins_a_run),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
