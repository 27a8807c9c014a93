// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose stacks are of all kinds: without frame pointers, with frames of variable or
 * aligned size, in signal handlers on the same stack and on another one, in the vDSO, in code that
 * the dynamic linker calls, and in several contexts. It stops itself once at its start, then runs
 * until it is killed.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "base/base.h"

enum { ALTERNATE = 1 << 16 };

static unsigned int sink;
static char alternate[ALTERNATE], other_stack[ALTERNATE];
static ucontext_t here, there;
static jmp_buf begin;

static noinline unsigned int spin(unsigned int n)
{
	unsigned int i, sum = 0;

	for (i = 0; i < n; i++)
		__asm__ volatile("" : "+r"(sum) : "r"(i));
	return sum + sink;
}

static noinline int order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The frame's size is not known when the program is compiled, so rbp is the base. */
static noinline unsigned int variable(unsigned int n)
{
	char *room = alloca(n % 200 + 16);

	snprintf(room, n % 200 + 16, "%u", n);
	return spin(20) + (unsigned int)strlen(room);
}

/* The frame is aligned to more than the stack is. */
static noinline unsigned int aligned(unsigned int n)
{
	_Alignas(64) char room[64];

	memset(room, (int)n, sizeof(room));
	return spin(20) + variable(n) + (unsigned char)room[n % sizeof(room)];
}

/* Both: the base of the frame is in a word of it. */
static noinline unsigned int aligned_and_variable(unsigned int n)
{
	_Alignas(64) char fixed[64];
	char *room = alloca(n % 300 + 16);

	memset(fixed, (int)n, sizeof(fixed));
	memset(room, (int)n, n % 300 + 16);
	return aligned(n) + (unsigned char)room[n % 16] + (unsigned char)fixed[n % 64];
}

static noinline unsigned int deep(unsigned int n)
{
	return n ? deep(n - 1) + spin(3) + n : aligned_and_variable(sink);
}

static void handler(int signal)
{
	sink += deep(3);
}

static noinline unsigned int with_vdso(void)
{
	struct timespec now;
	struct timeval then;

	clock_gettime(CLOCK_MONOTONIC, &now);
	gettimeofday(&then, NULL);
	return (unsigned int)now.tv_nsec + (unsigned int)then.tv_usec + (unsigned int)time(NULL);
}

static void in_context(void)
{
	for (;;) {
		sink += deep(2);
		swapcontext(&there, &here);
	}
}

static noinline void leave(int n)
{
	if (n)
		leave(n - 1);
	else
		longjmp(begin, 1);
	sink++;
}

/* Call functions of a library for the first time: the dynamic linker looks them up. */
static noinline void look_up(void)
{
	sink += (unsigned int)getppid();
	sink += (unsigned int)atol("12");
	sink += (unsigned int)getuid();
}

static void set_handler(int signal, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

int main(void)
{
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	int numbers[32], i;

	raise(SIGSTOP);
	look_up();
	sigaltstack(&stack, NULL);
	set_handler(SIGUSR1, 0);
	set_handler(SIGUSR2, SA_ONSTACK);
	getcontext(&there);
	there.uc_stack.ss_sp = other_stack;
	there.uc_stack.ss_size = sizeof(other_stack);
	makecontext(&there, in_context, 0);
	for (;;) {
		if (!setjmp(begin))
			leave(3);
		sink += deep(6) + with_vdso();
		raise(SIGUSR1);
		raise(SIGUSR2);
		swapcontext(&here, &there);
		for (i = 0; i < 32; i++)
			numbers[i] = (i * 7 + (int)sink) % 32;
		qsort(numbers, 32, sizeof(*numbers), order);
		free(malloc(100 + sink % 1000));
	}
}
