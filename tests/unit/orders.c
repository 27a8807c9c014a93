// SPDX-License-Identifier: GPL-2.0-only
/* Goes through all orders in which a few CPUs can interleave their steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>
#include <cmocka.h>

#include "orders.h"

enum { CPUS = ORDERS_CPUS, STACK = 64 << 10 };

static struct {
	const struct orders *what;
	ucontext_t back, cpu[CPUS];
	char stack[CPUS][STACK];
	bool done[CPUS];
	u32 now; /* the CPU that runs; CPUS: none */
	u8 choice[ORDERS_DEPTH], options[ORDERS_DEPTH];
	u32 depth;
} w = { .now = CPUS };

u32 orders_now(void)
{
	return w.now;
}

void orders_yield(void)
{
	swapcontext(&w.cpu[w.now], &w.back);
}

u32 orders_step(void)
{
	return w.depth + 1;
}

void orders_print(void)
{
	for (u32 i = 0; i < w.depth; i++)
		print_message("%u", w.choice[i]);
	print_message("\n");
}

static void cpu_main(void)
{
	u32 cpu = w.now;

	w.what->cpu(cpu);
	w.done[cpu] = true;
}

static void prepare(void)
{
	w.what->prepare();
	for (u32 c = 0; c < CPUS; c++) {
		w.done[c] = !w.what->takes_part(c);
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

static void run_once(void)
{
	prepare();
	for (w.depth = 0;; w.depth++) {
		u32 left = 0;

		for (u32 c = 0; c < CPUS; c++)
			left += !w.done[c];
		if (!left)
			break;
		assert_in_range(w.depth, 0, w.what->depth - 1);
		w.options[w.depth] = (u8)left;
		let_run(w.choice[w.depth]);
	}
	w.what->check();
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

void orders_run_all(const struct orders *what, u32 least)
{
	u32 orders = 0;

	w.what = what;
	memset(w.choice, 0, sizeof(w.choice));
	do {
		run_once();
		orders++;
	} while (next_order());
	print_message("%u orders\n", orders);
	assert_in_range(orders, least, U32_MAX);
}
