// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure how many cycles a hit takes with gdbserver's in-process agent, for comparison with
 * bench_native.c. tests/bench/agent runs this program.
 */
#include "tests/bench/cycles.h"

/*
 * Define a function like those of bench_native.c. The instruction at the label has 7 bytes; the
 * jump of a fast tracepoint replaces the first 5.
 */
#define FUNCTION(name)                                                                             \
	static noinline __attribute__((naked)) long name(struct cycles_obj *o, int n)              \
	{                                                                                          \
		__asm__("movslq %esi, %rax\n" #name "_place:\n"                                    \
			"lea 0x12345(%rax), %rax\n"                                                \
			"movslq (%rdi), %rdx\n"                                                    \
			"add %rdx, %rax\n"                                                         \
			"ret");                                                                    \
	}

FUNCTION(bare)
FUNCTION(never)
FUNCTION(holds)
FUNCTION(always)

static const struct {
	const char *what;
	cycles_fn fn;
} rows[] = {
	{ "gdbserver's agent: the function, bare", bare },
	{ "gdbserver's agent: condition a > 1000, false", never },
	{ "gdbserver's agent: condition a > 5, a + b collected", holds },
	{ "gdbserver's agent: no condition, a + b collected", always },
};

static noinline long nothing(struct cycles_obj *o, int n)
{
	return n;
}

/*
 * GDB has breakpoints on the next two functions. At the first one, GDB sets the tracepoints. At the
 * second one, it reads their counts.
 */
noinline void bench_ready(void)
{
	__asm__ volatile("");
}

noinline void bench_done(void)
{
	__asm__ volatile("");
}

static struct cycles_obj obj = { 42, 7 };

int main(int argc, char **argv)
{
	struct cycles empty;

	bench_ready();
	empty = cycles_measure(nothing, &obj, NULL, NULL, NULL);
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++)
		cycles_row(rows[i].what, rows[i].fn, &obj, empty);
	bench_done();
	return 0;
}
