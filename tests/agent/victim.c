// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process that gtp-attach reads in these tests. One of its threads increments a counter every
 * millisecond, and the others wait.
 *
 * It prints "ready PID", and obeys the lines of its input: "count" prints the counter, "busy" lets
 * the counting thread run without a pause from now on, and prints the counter then, "load FILE"
 * loads a library and prints the address of the library's function, "call N" calls the function N
 * times and prints the sum of what it returned, "unload" unloads it, "map FILE" prints the address
 * of the file's first page, "threads N" makes threads and prints their number, "work N" lets 4
 * threads call victim_work() N times each and prints the sum of what it returned, "abort" makes one
 * call of it and aborts, and "exec" executes this program again. odd.c has more.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "odd.h"

struct victim_state {
	const char *name;
	long values[4];
};

long victim_counter;
static bool busy;
struct victim_state victim_state = { "a name in .rodata", { 11, 22, 33, 44 } };

static void *count(void *arg)
{
	prctl(PR_SET_NAME, "a<b>&\"c\"\xff'");
	for (;;) {
		__atomic_fetch_add(&victim_counter, 1, __ATOMIC_RELAXED);
		if (!__atomic_load_n(&busy, __ATOMIC_RELAXED))
			usleep(1000);
	}
	return arg;
}

/* Let the counting thread run without a pause. Return when it does. */
static void make_busy(void)
{
	long before = __atomic_load_n(&victim_counter, __ATOMIC_RELAXED);

	__atomic_store_n(&busy, true, __ATOMIC_RELAXED);
	while (__atomic_load_n(&victim_counter, __ATOMIC_RELAXED) - before < 1000)
		usleep(1000);
}

void victim_waits(void)
{
	pause();
	__asm__ volatile("" ::: "memory");
}

static void *wait_for_nothing(void *arg)
{
	prctl(PR_SET_NAME, "waits");
	for (;;)
		victim_waits();
	return arg;
}

static void *library;

static long call_library(long n)
{
	long (*fn)(long) = dlsym(library, "victim_library"), sum = 0;

	for (long i = 0; i < n; i++)
		sum += fn(i);
	return sum;
}

static void *map(const char *path)
{
	return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open(path, O_RDONLY), 0);
}

/* Make @count threads that wait. Return the number of threads that could be made. */
static int make_threads(int count)
{
	pthread_attr_t small;
	pthread_t t;
	int i;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (i = 0; i < count && !pthread_create(&t, &small, wait_for_nothing, NULL); i++)
		;
	pthread_attr_destroy(&small);
	return i;
}

struct victim_work {
	int scale, calls;
};

/* Called with a pointer to memory of the heap. */
__attribute__((noipa)) long victim_work(struct victim_work *w, long n, long thread)
{
	return w->scale * n + thread;
}

static struct victim_work *work;

static void *work_in_thread(void *arg)
{
	long sum = 0;

	for (long n = 0; n < work->calls; n++)
		sum += victim_work(work, n, (long)arg);
	return (void *)sum;
}

static long work_in_threads(int calls)
{
	enum { THREADS = 4 };
	pthread_t t[THREADS];
	long sum = 0;

	work = malloc(sizeof(*work));
	*work = (struct victim_work){ 3, calls };
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work_in_thread, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		void *part;

		pthread_join(t[i], &part);
		sum += (long)part;
	}
	free(work);
	return sum;
}

static void obey(char *line, char **argv)
{
	if (!strcmp(line, "busy"))
		make_busy();
	if (!strcmp(line, "count") || !strcmp(line, "busy"))
		printf("%ld\n", __atomic_load_n(&victim_counter, __ATOMIC_RELAXED));
	if (!strncmp(line, "load ", 5)) {
		library = dlopen(line + 5, RTLD_NOW);
		printf("%p\n", library ? dlsym(library, "victim_library") : NULL);
	}
	if (!strncmp(line, "call ", 5))
		printf("%ld\n", call_library(atol(line + 5)));
	if (!strcmp(line, "unload"))
		printf("%d\n", dlclose(library));
	if (!strncmp(line, "threads ", 8))
		printf("%d\n", make_threads(atoi(line + 8)));
	if (!strncmp(line, "map ", 4))
		printf("%p\n", map(line + 4));
	if (!strncmp(line, "work ", 5))
		printf("%ld\n", work_in_threads(atoi(line + 5)));
	if (!strcmp(line, "abort")) {
		victim_work(&(struct victim_work){ 1, 2 }, 5, 6);
		abort();
	}
	odd_obey(line);
	if (!strcmp(line, "exec"))
		execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	char line[4096];
	pthread_t t;

	(void)argc;
	pthread_create(&t, NULL, count, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, wait_for_nothing, NULL);
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(line, argv);
		fflush(stdout);
	}
	return 0;
}
