// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions that are measured.
 *
 * The compiler must not inline, clone or analyse them, so that their arguments stay where the
 * calling convention puts them, which is also what the DWARF says. The instruction that a probe
 * goes on is in assembler, because its length and its neighbours decide which form the kernel gives
 * a probe.
 */
#include <linux/compiler.h>
#include <linux/linkage.h>

#include "gtp_bench.h"

#define BENCH_FN noinline __noclone __attribute__((__noipa__))

/*
 * NOTED_AS - store the address of label 1 in a variable, so that no symbol is inside the function
 */
#define NOTED_AS(name)                                                                             \
	".pushsection .rodata, \"a\"\n"                                                            \
	".balign 8\n"                                                                              \
	".globl " #name "\n" #name ": .quad 1b\n"                                                  \
	".popsection"

struct gtp_bench_obj gtp_bench_obj = { .a = 42, .b = 7 };
char gtp_bench_text[16] = "fifteen letters";

BENCH_FN long gtp_bench_entry(struct gtp_bench_obj *o, int n)
{
	return o->a + n;
}

/* The probed instruction has seven bytes: a jump of five bytes replaces only this instruction. */
BENCH_FN long gtp_bench_jump(struct gtp_bench_obj *o, int n)
{
	long sum = n;

	asm volatile("1: lea 0x12345(%0), %0\n" NOTED_AS(gtp_bench_jump_at) : "+r"(sum));
	return sum + o->a;
}

/* A jump of five bytes would replace a part of the branch, too; the kernel never moves a branch. */
BENCH_FN long gtp_bench_int3(struct gtp_bench_obj *o, int n)
{
	long sum = n;

	asm volatile("1: test %0, %0\n"
		     "jz 2f\n"
		     "add $5, %0\n"
		     "2:\n" NOTED_AS(gtp_bench_int3_at)
		     : "+r"(sum)
		     :
		     : "cc");
	return sum + o->a;
}

/* The first instruction starts something, and the last one ends it. */
BENCH_FN long gtp_bench_pair(struct gtp_bench_obj *o, int n)
{
	long sum = n;

	asm volatile("1: lea 0x12345(%0), %0\n"
		     ".skip %c1 - 7, 0x90\n"
		     "lea 0x12345(%0), %0\n" NOTED_AS(gtp_bench_pair_at)
		     : "+r"(sum)
		     : "i"(GTP_BENCH_PAIR_BYTES));
	return sum + o->a;
}

BENCH_FN notrace long gtp_bench_empty(struct gtp_bench_obj *o, int n)
{
	return 0;
}

BENCH_FN notrace long gtp_bench_nops(struct gtp_bench_obj *o, int n)
{
	asm volatile(".rept 100\n"
		     "nop\n"
		     ".endr");
	return 0;
}

/* Work remains after each call, so that the compiler makes no tail call. */
#define CALLER(name, callee)                                                                       \
	static BENCH_FN notrace long name(struct gtp_bench_obj *o, int n)                          \
	{                                                                                          \
		return callee(o, n) + 1;                                                           \
	}

CALLER(deep_7, gtp_bench_jump)
CALLER(deep_6, deep_7)
CALLER(deep_5, deep_6)
CALLER(deep_4, deep_5)
CALLER(deep_3, deep_4)
CALLER(deep_2, deep_3)
CALLER(deep_1, deep_2)

BENCH_FN notrace long gtp_bench_deep(struct gtp_bench_obj *o, int n)
{
	return deep_1(o, n) + 1;
}
