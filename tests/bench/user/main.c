// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program in which tests/bench/user.py measures the cost of a hit.
 *
 * Usage: bench
 * Reads lines and answers each by one line:
 *   pid                         its number
 *   code NAME                   the function's first ten bytes, in hex
 *   measure NAME CALLS REPEATS  the time of CALLS calls, REPEATS times
 * NAME is a function of fn.h; "empty" or "nops", whose cost is known; or "deep", which is
 * bench_push() with fourteen more callers than usual. Times are ticks of the TSC, which are numbers
 * of instructions only if QEMU counts instructions (-icount shift=0).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fn.h"

enum { CODE = 10, DEPTH = 12, REPEATS_MAX = 1000 };

#define OWN __attribute__((noipa))

static struct bench_obj obj = { .a = 42, .b = 7 };

static unsigned long now(void)
{
	unsigned int low, high;

	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (unsigned long)high << 32 | low;
}

OWN static long empty(struct bench_obj *o, int n)
{
	__asm__ volatile("");
	return o->a + n;
}

OWN static long nops(struct bench_obj *o, int n)
{
	__asm__ volatile(".rept 100; nop; .endr");
	return o->a + n;
}

/* Call bench_push() from @depth + 1 nested calls of this function. */
OWN static long descend(struct bench_obj *o, int n, int depth)
{
	return (depth ? descend(o, n, depth - 1) : bench_push(o, n)) + 1;
}

OWN static long deep(struct bench_obj *o, int n)
{
	return descend(o, n, DEPTH) + 1;
}

static const struct {
	const char *name;
	long (*fn)(struct bench_obj *o, int n);
	const char *begins;
} functions[] = {
#define X(name_, bytes) { .name = #name_, .fn = name_, .begins = bytes },
	BENCH_FUNCTIONS(X)
#undef X
		{ .name = "empty", .fn = empty },
	{ .name = "nops", .fn = nops },
	{ .name = "deep", .fn = deep },
	{ .name = NULL },
};

static int find(const char *name)
{
	int i;

	for (i = 0; functions[i].name; i++)
		if (!strcmp(functions[i].name, name))
			return i;
	return -1;
}

static void measure(int which, unsigned int ncalls, unsigned int repeats)
{
	static unsigned long ticks[REPEATS_MAX];
	unsigned int i, n;

	for (i = 0; i < repeats; i++) {
		unsigned long start = now();

		for (n = 0; n < ncalls; n++)
			functions[which].fn(&obj, 3);
		ticks[i] = now() - start;
	}
	for (i = 0; i < repeats; i++)
		printf("%lu ", ticks[i]);
	printf("\n");
}

static void show_code(int which)
{
	const unsigned char *code = (const unsigned char *)functions[which].fn;
	int i;

	for (i = 0; i < CODE; i++)
		printf("%02x", code[i]);
	printf("\n");
}

/* True if each function begins as fn.h says. */
static int is_as_said(void)
{
	int i;

	for (i = 0; functions[i].name; i++) {
		const char *begins = functions[i].begins;

		if (begins && memcmp((const void *)functions[i].fn, begins, strlen(begins))) {
			fprintf(stderr, "%s begins with other code\n", functions[i].name);
			return 0;
		}
	}
	return 1;
}

int main(void)
{
	char line[128], name[32];
	unsigned int ncalls, repeats;

	if (!is_as_said())
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "pid\n"))
			printf("%d\n", (int)getpid());
		else if (sscanf(line, "code %31s", name) == 1 && find(name) >= 0)
			show_code(find(name));
		else if (sscanf(line, "measure %31s %u %u", name, &ncalls, &repeats) == 3 &&
			 find(name) >= 0 && repeats <= REPEATS_MAX)
			measure(find(name), ncalls, repeats);
		else
			return 2;
	}
	return 0;
}
