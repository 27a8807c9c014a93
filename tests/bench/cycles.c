// SPDX-License-Identifier: GPL-2.0-only
/* Measures how many cycles a call takes on the host's processor. */
#include "tests/bench/cycles.h"

enum { ADDS = 40000 /* additions in a chain, one cycle each */ };

static u64 ticks(void)
{
	u32 low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
	return (u64)high << 32 | low;
}

/*
 * Return how many ticks one cycle takes. Each addition waits for the previous one, and so takes one
 * cycle, even if the processor also does other work.
 */
static double ticks_a_cycle(void)
{
	u64 start = ticks(), x = 1;

	for (u32 i = 0; i < ADDS / 100; i++)
		__asm__ volatile(".rept 100\n"
				 "add %0, %0\n"
				 ".endr"
				 : "+r"(x));
	return (double)(ticks() - start) / ADDS;
}

static double calls(cycles_fn fn, struct cycles_obj *o, bool wait)
{
	u64 start, zero = 0;
	struct cycles_obj *to = o;

	__asm__("" : "+r"(zero));
	start = ticks();
	for (u32 i = 0; i < CYCLES_CALLS; i++) {
		long sum = fn(to, 3);

		if (wait)
			to = (struct cycles_obj *)((char *)o + ((u64)sum & zero));
	}
	return (double)(ticks() - start) / CYCLES_CALLS;
}

static void keep_least(double *least, double x)
{
	if (!*least || x < *least)
		*least = x;
}

struct cycles cycles_measure(cycles_fn fn, struct cycles_obj *o, void (*before)(const void *ctx),
			     void (*after)(const void *ctx), const void *ctx)
{
	double cycle = 0, found[2] = { 0 };

	for (u32 i = 0; i < CYCLES_ROUNDS * 2; i++) {
		keep_least(&cycle, ticks_a_cycle());
		if (before)
			before(ctx);
		keep_least(&found[i % 2], calls(fn, o, i % 2));
		if (after)
			after(ctx);
	}
	return (struct cycles){ found[0] / cycle, found[1] / cycle };
}

struct cycles cycles_above(struct cycles c, struct cycles what)
{
	return (struct cycles){ c.alone - what.alone, c.waiting - what.waiting };
}

void cycles_row(const char *what, cycles_fn fn, struct cycles_obj *o, struct cycles empty)
{
	struct cycles c = cycles_above(cycles_measure(fn, o, NULL, NULL, NULL), empty);

	printf("%-52s %8.1f %8.1f\n", what, c.alone, c.waiting);
	fflush(stdout);
}
