// SPDX-License-Identifier: GPL-2.0-only
/*
 * Goes through all orders in which tasks on several CPUs can interleave a few changes of their
 * values, step by step of aggregate/tasks.c. Between any two steps an NMI on the same CPU reads the
 * value of its task.
 *
 * A CPU is a coroutine. One run follows a list of choices; the next run changes the last choice
 * that has an alternative left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <ucontext.h>
#include <cmocka.h>

#include "aggregate/tasks.h"
#include "tasks_steps.h"

enum { CPUS = 3, OPS = 4, STACK = 64 << 10, DEPTH = 100, BUCKET = 7, BORN = 100 };

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
	ucontext_t back, cpu[CPUS];
	char stack[CPUS][STACK];
	bool done[CPUS];
	u32 now; /* the CPU that runs; CPUS: none */
	/* The value that each task had before its present change, and the one that it sets. */
	s64 was[CPUS], will[CPUS];
	bool arrived[CPUS]; /* an NMI has read the new value */
	u32 no_room;	    /* changes that found no room */
	u8 choice[DEPTH], options[DEPTH];
	u32 depth;
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
	u32 cpu = w.now;
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
	swapcontext(&w.cpu[cpu], &w.back);
}

static s64 value_of(char letter)
{
	return letter == '0' ? 0 : letter;
}

static void cpu_main(void)
{
	u32 cpu = w.now;

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
	w.done[cpu] = true;
}

static void prepare(void)
{
	w.now = CPUS;
	w.no_room = 0;
	memset(&w.t, 0, sizeof(w.t));
	gtp_tasks_forget_all();
	for (u32 i = 0; i < w.s->fillers; i++)
		gtp_tasks_set(&w.t, w.task[CPUS + i], 1, 1);
	if (w.s->dead)
		gtp_tasks_set(&w.t, w.task[0], 1, 1);
	memset(w.was, 0, sizeof(w.was));
	memset(w.will, 0, sizeof(w.will));
	for (u32 c = 0; c < CPUS; c++) {
		w.done[c] = !w.s->set[c];
		getcontext(&w.cpu[c]);
		w.cpu[c].uc_stack.ss_sp = w.stack[c];
		w.cpu[c].uc_stack.ss_size = STACK;
		w.cpu[c].uc_link = &w.back;
		makecontext(&w.cpu[c], cpu_main, 0);
	}
}

/* Let the CPU run that is number @nth of those that are not done. */
static void let_run(u32 nth)
{
	u32 c = 0;

	while (w.done[c] || nth--)
		c++;
	w.now = c;
	swapcontext(&w.back, &w.cpu[c]);
	w.now = CPUS;
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

static void run_once(void)
{
	prepare();
	for (w.depth = 0;; w.depth++) {
		u32 left = 0;

		for (u32 c = 0; c < CPUS; c++)
			left += !w.done[c];
		if (!left)
			break;
		assert_in_range(w.depth, 0, DEPTH - 1);
		w.options[w.depth] = (u8)left;
		let_run(w.choice[w.depth]);
	}
	check();
}

static bool next_order(void)
{
	while (w.depth--)
		if (++w.choice[w.depth] < w.options[w.depth]) {
			memset(w.choice + w.depth + 1, 0, sizeof(w.choice) - w.depth - 1);
			return true;
		}
	return false;
}

static void all_orders(const struct scenario *s)
{
	u32 orders = 0;

	w.s = s;
	memset(w.choice, 0, sizeof(w.choice));
	do {
		run_once();
		orders++;
	} while (next_order());
	print_message("%u orders\n", orders);
	assert_in_range(orders, s->least, U32_MAX);
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

	w.now = CPUS;
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
