// SPDX-License-Identifier: GPL-2.0-only
/* Functions whose returns are traced. Each of them ends in a different way. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "program.h"

#define NOINLINE __attribute__((noipa))
#define HIDE(x) __asm__ volatile("" : "+r"(x) : : "memory")

/* Returns at two places, at one of them before the stack frame is set up. */
NOINLINE long two_ends(long n)
{
	if (n & 1)
		return -n;
	HIDE(n);
	return triple(n);
}

NOINLINE long triple(long n)
{
	HIDE(n);
	return n * 3;
}

/* Returns an int: the upper half of the register is not part of the value. */
NOINLINE int narrow(long n)
{
	n = -n;
	HIDE(n);
	return (int)n;
}

static long narrowed(long n)
{
	return narrow(n);
}

/* Return n + (n - 1) + ... + 0, by recursion. */
NOINLINE long depth(long n)
{
	long sum = n ? depth(n - 1) : 0;

	HIDE(sum);
	return sum + n;
}

static jmp_buf env;

NOINLINE long jumps_out(long n)
{
	HIDE(n);
	if (n % 3 == 0)
		longjmp(env, 1);
	return n * 2;
}

static long caught(long n)
{
	if (setjmp(env))
		return 0;
	return jumps_out(n);
}

/* Has a switch that jumps through a table, in a function without a frame. */
NOINLINE long chooses(long n)
{
	switch (n) {
	case 0:
		HIDE(n);
		return 7;
	case 1:
		HIDE(n);
		return n * 9;
	case 2:
		HIDE(n);
		return n + 11;
	case 3:
		HIDE(n);
		return n - 100;
	case 4:
		HIDE(n);
		return n ^ 5;
	case 5:
		HIDE(n);
		return n << 7;
	default:
		HIDE(n);
		return -1;
	}
}

/* Ends with a tail call, so last_of() returns to the caller. Other functions call it, too. */
NOINLINE long last_of(long n)
{
	HIDE(n);
	return n * 5;
}

NOINLINE long jumps_on(long n)
{
	n += 1;
	HIDE(n);
	return last_of(n);
}

NOINLINE long other_caller(long n)
{
	long r = last_of(n);

	HIDE(r);
	return r + 1;
}

/* Ends with a tail call to a function of a library. */
NOINLINE long leaves(long n)
{
	const char *digits = "42";

	HIDE(digits);
	if (n & 1)
		return n;
	return atol(digits);
}

static long both(long n)
{
	return jumps_on(n) + other_caller(n);
}

static stack_t other_stack;

static void handler(int sig)
{
	two_ends(100);
}

/* Raises a signal, whose handler makes calls on the alternate signal stack. */
NOINLINE long interrupted(long n)
{
	HIDE(n);
	raise(SIGUSR1);
	return n + 4;
}

static long with_signal(long n)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	if (!other_stack.ss_sp) {
		other_stack.ss_size = 65536;
		other_stack.ss_sp = malloc(other_stack.ss_size);
		sigaltstack(&other_stack, NULL);
		sigaction(SIGUSR1, &act, NULL);
	}
	return interrupted(n);
}

/* Fork: the parent and the child both return from this function. */
NOINLINE long forks(long n)
{
	int pid = fork(), status;

	HIDE(n);
	if (pid)
		waitpid(pid, &status, 0);
	return pid ? n : -1;
}

static long forked(long n)
{
	long r = forks(n);

	if (r < 0)
		_exit(0);
	return r;
}

/* End the thread inside this function if N is odd. */
NOINLINE long ends_thread(long n)
{
	HIDE(n);
	if (n & 1)
		pthread_exit(NULL);
	return n;
}

static void *thread(void *arg)
{
	ends_thread((long)arg);
	return arg;
}

static long threaded(long n)
{
	pthread_t id;
	void *value;

	if (pthread_create(&id, NULL, thread, (void *)n) || pthread_join(id, &value))
		exit(2);
	return (long)value;
}

/* The first instruction of this function is its ret. */
NOINLINE void nothing(long n)
{
	HIDE(n);
}

static long nothings(long n)
{
	nothing(n);
	return 0;
}

/* Become another program inside this function. */
NOINLINE long becomes(char **argv)
{
	execv("/proc/self/exe", argv);
	return -1;
}

/* --- many threads inside a function at once --- */

enum { LEVEL = 10000 }; /* each level of nested calls adds this to the returned value */

static pthread_t crowd_ids[4096];
static int crowd_size, crowd_inside;
static pthread_mutex_t crowd_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t crowd_moves = PTHREAD_COND_INITIALIZER;
static int crowd_may_go;

NOINLINE long stays(long n)
{
	if (n >= LEVEL) {
		n = stays(n - LEVEL);
		HIDE(n);
		return n;
	}
	pthread_mutex_lock(&crowd_lock);
	crowd_inside++;
	pthread_cond_broadcast(&crowd_moves);
	while (!crowd_may_go)
		pthread_cond_wait(&crowd_moves, &crowd_lock);
	pthread_mutex_unlock(&crowd_lock);
	HIDE(n);
	return n * 2;
}

static void *one_of_crowd(void *arg)
{
	return (void *)stays((long)arg);
}

void crowd(int n, int levels)
{
	pthread_attr_t attr;
	long i;

	if (crowd_size || n > (int)(sizeof(crowd_ids) / sizeof(*crowd_ids)))
		exit(2);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	crowd_may_go = 0;
	for (i = 0; i < n; i++)
		if (pthread_create(&crowd_ids[i], &attr, one_of_crowd,
				   (void *)(i + (levels - 1L) * LEVEL)))
			exit(2);
	crowd_size = n;
	pthread_mutex_lock(&crowd_lock);
	while (crowd_inside < n)
		pthread_cond_wait(&crowd_moves, &crowd_lock);
	pthread_mutex_unlock(&crowd_lock);
}

long crowd_goes(void)
{
	long sum = 0;
	void *value;

	pthread_mutex_lock(&crowd_lock);
	crowd_may_go = 1;
	pthread_cond_broadcast(&crowd_moves);
	pthread_mutex_unlock(&crowd_lock);
	while (crowd_size) {
		pthread_join(crowd_ids[--crowd_size], &value);
		sum += (long)value;
	}
	crowd_inside = 0;
	return sum;
}

static const struct {
	const char *name;
	long (*call)(long n);
} calls[] = {
	{ "two_ends", two_ends },	{ "depth", depth },	 { "jumps_out", caught },
	{ "chooses", chooses },		{ "jumps_on", both },	 { "leaves", leaves },
	{ "interrupted", with_signal }, { "forks", forked },	 { "ends_thread", threaded },
	{ "catches", catches },		{ "nothing", nothings }, { "narrow", narrowed },
};

long call_each(const char *name, long count)
{
	long n, sum = 0;
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (strcmp(name, calls[i].name))
			continue;
		for (n = 0; n < count; n++)
			sum += calls[i].call(n);
		return sum;
	}
	exit(2);
}
