// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code that is patched while it runs: loops, calls, jumps through tables and registers, arithmetic
 * on flags, floating point, the red zone, string instructions, longjmp.
 */
#include <setjmp.h>
#include <string.h>

#include "work.h"

typedef unsigned long ulong;

static struct {
	ulong result[16];
} learnt[WORK_INPUTS];

/*
 * Every instruction between the stores and the loads may become a jump to a pad, and a pad that
 * pushes without care overwrites what lies below the stack pointer.
 */
ulong work_red_zone(ulong value)
{
	ulong result;

	asm volatile("movq %1, -8(%%rsp)\n\t"
		     "leaq 1(%1), %%rax\n\t"
		     "movq %%rax, -16(%%rsp)\n\t"
		     "imulq $3, %1, %%rax\n\t"
		     "movq %%rax, -64(%%rsp)\n\t"
		     "movq %1, %%rdx\n\t"
		     "shlq $7, %%rdx\n\t"
		     "movq %%rdx, -120(%%rsp)\n\t"
		     "xorq %%rax, %%rdx\n\t"
		     "movq %%rdx, -128(%%rsp)\n\t"
		     "movq -8(%%rsp), %%rax\n\t"
		     "addq -16(%%rsp), %%rax\n\t"
		     "addq -64(%%rsp), %%rax\n\t"
		     "addq -120(%%rsp), %%rax\n\t"
		     "addq -128(%%rsp), %%rax\n\t"
		     "movq %%rax, %0\n\t"
		     : "=r"(result)
		     : "r"(value)
		     : "rax", "rdx", "memory", "cc");
	return result;
}

/* The flags of one instruction are read many instructions later. */
static ulong flags(ulong value)
{
	ulong low = value, high = value * 3;

	asm volatile("addq %2, %0\n\t"
		     "movq %0, %%rax\n\t"
		     "leaq 8(%%rax), %%rax\n\t"
		     "movq %%rax, %%rdx\n\t"
		     "bswapq %%rdx\n\t"
		     "adcq $0, %1\n\t"
		     "sbbq %%rax, %1\n\t"
		     "movq %%rdx, %%rax\n\t"
		     "setp %%dl\n\t"
		     "rcrq $1, %1\n\t"
		     "cmovsq %%rdx, %%rax\n\t"
		     "adcq %%rax, %0\n\t"
		     : "+r"(low), "+r"(high)
		     : "r"(value << 62 | value)
		     : "rax", "rdx", "cc");
	return low ^ high;
}

static ulong fibonacci(ulong n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static ulong table(ulong value)
{
	switch (value % 9) {
	case 0:
		return value + 1;
	case 1:
		return value * 5;
	case 2:
		return value ^ 0x1234567;
	case 3:
		return value << 3 | 1;
	case 4:
		return ~value;
	case 5:
		return value / 3;
	case 6:
		return value - 77;
	case 7:
		return value * value;
	default:
		return value >> 1;
	}
}

static double floats(double x)
{
	double sum = 0, term = 1;
	int i;

	for (i = 1; i < 12; i++) {
		sum += term;
		term *= x / i;
	}
	return sum;
}

static ulong strings(ulong value)
{
	char from[200], to[200];
	ulong sum = 0;
	void *d = to;
	const void *s = from;
	ulong n = sizeof(from);
	unsigned int i;

	for (i = 0; i < sizeof(from); i++)
		from[i] = (char)(value * i);
	asm volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
	for (i = 0; i < sizeof(to); i++)
		sum = sum * 31 + (unsigned char)to[i];
	return sum;
}

typedef ulong (*function)(ulong value);

static ulong twice(function f, ulong value)
{
	return f(value) + f(value + 1);
}

/* struct returning - a place to return to, and a value in memory that the jump keeps */
struct returning {
	jmp_buf here;
	ulong seen;
};

static void jump_back(struct returning *to, int value)
{
	longjmp(to->here, value);
}

static ulong long_jumps(ulong value)
{
	struct returning to = { .seen = 0 };
	int n = setjmp(to.here);

	to.seen = to.seen * 7 + (ulong)n;
	if (n < 5)
		jump_back(&to, n + 1);
	return to.seen + value;
}

static ulong tail(ulong value)
{
	return table(value ^ 5);
}

static ulong counted(ulong value)
{
	ulong sum = 0, n = value % 50 + 1;

	asm volatile("1: addq %1, %0\n\t"
		     "loop 1b"
		     : "+r"(sum), "+c"(n)
		     :
		     : "cc");
	return sum;
}

static void compute(unsigned int input, ulong *result)
{
	double d = floats(input / 10.0);
	unsigned int i;
	ulong sorted[20], hash = 5381;

	result[0] = work_red_zone(input * 12345);
	result[1] = flags(input * 0x9e3779b97f4a7c15);
	result[2] = fibonacci(input % 11);
	result[3] = table(input * 7);
	memcpy(&result[4], &d, sizeof(d));
	result[5] = strings(input);
	result[6] = twice(table, input) + twice(work_red_zone, input);
	result[7] = long_jumps(input);
	result[8] = tail(input);
	result[9] = counted(input);
	for (i = 0; i < 20; i++)
		sorted[i] = table(i * input);
	for (i = 0; i < 20; i++)
		hash = hash * 33 ^ sorted[(i * 7) % 20];
	result[10] = hash;
}

void work_learn(void)
{
	unsigned int i;

	for (i = 0; i < WORK_INPUTS; i++)
		compute(i, learnt[i].result);
}

unsigned int work_round(unsigned int input)
{
	ulong result[16] = { 0 };
	unsigned int i, wrong = 0;

	compute(input % WORK_INPUTS, result);
	for (i = 0; i < 16; i++)
		wrong += result[i] != learnt[input % WORK_INPUTS].result[i];
	return wrong;
}
