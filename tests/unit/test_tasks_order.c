// SPDX-License-Identifier: GPL-2.0-only
/*
 * Goes through all orders in which tasks on several CPUs can interleave a few changes of their
 * values, step by step of aggregate/tasks.c. Between any two steps an NMI on the same CPU reads the
 * value of its task.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "aggregate/tasks.h"
#include "orders.h"
#include "tasks_steps.h"

enum { CPUS = ORDERS_CPUS, BUCKET = 7, BORN = 100 };

/*
 * struct scenario - what the tasks do
 * @set: for each CPU's task the values that it sets; 'a' and later letters are values, '0' is 0
 * @fillers: how many other tasks have a value in the bucket
 * @dead: the task of CPU 0 has the address of a task that died, which had a value
 * @least: the least number of orders that there must be
 */
struct scenario {
	const char *set[CPUS];
	u32 fillers;
	bool dead;
	u32 least;
};

static struct {
	const struct scenario *s;
	struct gtp_tasks t;
	u64 task[CPUS + GTP_TASKS_SLOTS]; /* addresses, all of one bucket */
	/* The value that each task had before its present change, and the one that it sets. */
	s64 was[CPUS], will[CPUS];
	bool arrived[CPUS]; /* an NMI has read the new value */
	u32 no_room;	    /* changes that found no room */
} w;

/* --- one CPU --- */

static u32 taken(void)
{
	u32 n = 0;

	for (u32 i = 0; i < GTP_TASKS_SLOTS; i++)
		n += !!w.t.bucket[BUCKET].entry[i].task;
	return n;
}

/* An NMI, or after a change the task itself, reads the value. */
static s64 get(u32 cpu)
{
	return gtp_tasks_get(&w.t, w.task[cpu], BORN + cpu);
}

void tasks_step(void)
{
	u32 cpu = orders_now();
	s64 value;

	if (cpu == CPUS)
		return;
	value = get(cpu);
	assert_true(value == w.was[cpu] || value == w.will[cpu]);
	if (w.was[cpu] != w.will[cpu]) {
		assert_false(w.arrived[cpu] && value == w.was[cpu]);
		w.arrived[cpu] |= value == w.will[cpu];
	}
	assert_in_range(gtp_tasks_used[BUCKET], taken(), U32_MAX);
	orders_yield();
}

static s64 value_of(char letter)
{
	return letter == '0' ? 0 : letter;
}

static bool takes_part(u32 cpu)
{
	return w.s->set[cpu];
}

static void change_values(u32 cpu)
{
	for (const char *c = w.s->set[cpu]; *c; c++) {
		u64 refused = w.t.no_room;

		w.will[cpu] = value_of(*c);
		w.arrived[cpu] = false;
		gtp_tasks_set(&w.t, w.task[cpu], BORN + cpu, w.will[cpu]);
		/* Other CPUs may have changed the counter, too: the value decides. */
		if (get(cpu) != w.will[cpu]) {
			assert_int_equal(get(cpu), 0);
			assert_int_not_equal(w.t.no_room, refused);
			w.will[cpu] = 0;
			w.no_room++;
		}
		w.was[cpu] = w.will[cpu];
	}
}

static void prepare(void)
{
	w.no_room = 0;
	memset(&w.t, 0, sizeof(w.t));
	gtp_tasks_forget_all();
	for (u32 i = 0; i < w.s->fillers; i++)
		gtp_tasks_set(&w.t, w.task[CPUS + i], 1, 1);
	if (w.s->dead)
		gtp_tasks_set(&w.t, w.task[0], 1, 1);
	memset(w.was, 0, sizeof(w.was));
	memset(w.will, 0, sizeof(w.will));
}

/* --- what must hold in the end --- */

/* Return the most entries that the tasks of the other CPUs and the fillers can have had at once. */
static u32 most_of_others(void)
{
	u32 n = w.s->fillers;

	for (u32 c = 0; c < CPUS; c++)
		n += !!w.s->set[c];
	return n - 1;
}

static void check(void)
{
	u32 values = w.s->fillers, first_sets = w.s->fillers + w.s->dead;

	for (u32 c = 0; c < CPUS; c++) {
		const char *set = w.s->set[c];

		if (!set)
			continue;
		if (!w.no_room)
			assert_int_equal(get(c), value_of(set[strlen(set) - 1]));
		values += !!get(c);
		for (u32 i = 0; set[i]; i++)
			first_sets += set[i] != '0' && (!i || set[i - 1] == '0');
	}
	assert_int_equal(taken(), values);
	assert_int_equal(gtp_tasks_used[BUCKET], values);
	assert_int_equal(gtp_tasks_count(&w.t), values);
	assert_int_equal(w.t.no_room, w.no_room);
	assert_int_equal(w.t.died, w.s->dead);
	if (w.no_room)
		assert_in_range(most_of_others(), GTP_TASKS_SLOTS, U32_MAX);
	else
		assert_int_equal(w.t.sets, first_sets);
	for (u32 i = 0; i < w.s->fillers; i++)
		assert_int_equal(gtp_tasks_get(&w.t, w.task[CPUS + i], 1), 1);
}

static void all_orders(const struct scenario *s)
{
	static const struct orders orders = { prepare, takes_part, change_values, check, 100 };

	w.s = s;
	orders_run_all(&orders, s->least);
}

#define SET(...) .set = { __VA_ARGS__ }
#define ORDERS(...) all_orders(&(struct scenario){ __VA_ARGS__ })

/* One task alone: an NMI reads the old or the new value between any two steps. */
static void one_task(void **state)
{
	ORDERS(SET("ab0c"), .least = 1);
	ORDERS(SET("a0a"), .dead = true, .least = 1);
	ORDERS(SET("0a"), .dead = true, .least = 1);
}

static void two_tasks(void **state)
{
	ORDERS(SET("a0", "b0"), .least = 1000);
	ORDERS(SET("a0a", "b"), .least = 1000);
	ORDERS(SET("ac0", "b0"), .fillers = 3, .least = 1000);
}

/* There is one entry for both: one task may get no value. */
static void one_free_entry(void **state)
{
	ORDERS(SET("a0", "b0"), .fillers = GTP_TASKS_SLOTS - 1, .least = 1000);
	ORDERS(SET("ab", "c"), .fillers = GTP_TASKS_SLOTS - 1, .least = 100);
	ORDERS(SET("a0b", "c"), .fillers = GTP_TASKS_SLOTS, .least = 20);
}

/* A new task has the address of a dead one, whose entry another task may then take. */
static void a_dead_task(void **state)
{
	ORDERS(SET("a0", "b"), .dead = true, .least = 1000);
	ORDERS(SET("a", "b"), .dead = true, .fillers = GTP_TASKS_SLOTS - 1, .least = 100);
	ORDERS(SET("0", "b0"), .dead = true, .fillers = GTP_TASKS_SLOTS - 1, .least = 20);
}

static void three_tasks(void **state)
{
	ORDERS(SET("a", "b", "0"), .least = 100);
	ORDERS(SET("a", "0", "c"), .fillers = GTP_TASKS_SLOTS - 1, .least = 1000);
}

static int setup(void **state)
{
	u32 n = 0;

	for (u64 task = 0xffff888000000000; n < CPUS + GTP_TASKS_SLOTS; task += 64)
		if (gtp_tasks_bucket(task) == BUCKET)
			w.task[n++] = task;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_task),	  cmocka_unit_test(two_tasks),
		cmocka_unit_test(one_free_entry), cmocka_unit_test(a_dead_task),
		cmocka_unit_test(three_tasks),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
