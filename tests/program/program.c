// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program that tests/gdb/test_program.py traces. It counts its own calls, for the tests to
 * compare with.
 *
 * Usage: program
 * Reads lines and answers each by one line:
 *   pid                 its number
 *   call FROM COUNT     work(n) for COUNT values of n, beginning with FROM; "done TOTAL"
 *   threads N COUNT     the same in each of N threads, beginning with 0
 *   fork COUNT          a child that makes COUNT calls from 5000 on and ends; "done CHILD"
 *   exec                becomes a new program of the same file, in a call of becomes()
 *   slow N              slow_sum(N); "done SUM"
 *   each NAME COUNT     a function of calls.c for n from 0 on; "done SUM" of its values
 *   deep N              depth(N): N + 1 calls, each inside the one before; "done SUM"
 *   each_threads N NAME COUNT    the same in each of N threads; "done SUM" of all
 *   crowd N LEVELS      N threads, which stay inside LEVELS nested calls of stays()
 *   crowd_goes          the threads of the crowd return; "done SUM" of their values
 *   pushed COUNT        pushed(n) for n from 0 on
 *   locked              locked()
 *   map PATH            work(7000) with the string at offset 4096 of a file, a page that it has not
 *                       touched
 *   never               answers, then work(9000) with a string whose page fault never ends
 *   bad                 work(8000) with a pointer to a string that is not mapped
 *   address NAME        the address of work, total or label
 *   forever             answers, then calls work() until it is killed
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "program.h"

static void call(int from, int count)
{
	int n;

	for (n = from; n < from + count; n++) {
		struct point p = { n * 2, n * 3, "a point" };

		work(n, "some text", &p);
	}
}

struct job {
	const char *name; /* the function to call; NULL: work() */
	int count;
};

static void *thread(void *arg)
{
	const struct job *job = arg;

	if (job->name)
		return (void *)call_each(job->name, job->count);
	call(0, job->count);
	return NULL;
}

static long threads(int n, struct job job)
{
	pthread_t ids[64];
	long sum = 0;
	void *value;
	int i;

	if (n > 64)
		exit(2);
	for (i = 0; i < n; i++)
		if (pthread_create(&ids[i], NULL, thread, &job))
			exit(2);
	for (i = 0; i < n; i++) {
		pthread_join(ids[i], &value);
		sum += (long)value;
	}
	return sum;
}

static int forked(int count)
{
	int status, pid = fork();

	if (!pid) {
		call(5000, count);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(2);
	return pid;
}

/* Call work() with a string in pages of a file that are no longer in the page cache. */
static void mapped(const char *path)
{
	struct point p = { 1, 2, "a point" };
	int fd = open(path, O_RDONLY);
	char *text = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);

	if (fd < 0 || text == MAP_FAILED)
		exit(2);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	work(7000, text + 4096, &p);
	munmap(text, 8192);
	close(fd);
}

/* Call work() with a string in a userfaultfd page, which this process never provides. */
static void never(void)
{
	char *text = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register page = {
		.range = { (unsigned long)text, 4096 },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct point p = { 1, 2, "a point" };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &page))
		exit(2);
	printf("done\n");
	fflush(stdout);
	work(9000, text, &p);
}

/* Call work() with a bad pointer, which work() does not dereference. */
static void bad(void)
{
	struct point p = { 1, 2, "a point" };

	work(8000, (const char *)16, &p);
}

static void obey(char *line, char **argv)
{
	char word[256];
	int a, b;

	if (!strncmp(line, "pid", 3)) {
		printf("%d\n", getpid());
	} else if (sscanf(line, "call %d %d", &a, &b) == 2) {
		call(a, b);
		printf("done %lu\n", work_total());
	} else if (sscanf(line, "threads %d %d", &a, &b) == 2) {
		threads(a, (struct job){ NULL, b });
		printf("done %lu\n", work_total());
	} else if (sscanf(line, "fork %d", &a) == 1) {
		printf("done %d\n", forked(a));
	} else if (sscanf(line, "each_threads %d %63s %d", &b, word, &a) == 3) {
		printf("done %ld\n", threads(b, (struct job){ word, a }));
	} else if (sscanf(line, "deep %d", &a) == 1) {
		printf("done %ld\n", depth(a));
	} else if (sscanf(line, "each %63s %d", word, &a) == 2) {
		printf("done %ld\n", call_each(word, a));
	} else if (sscanf(line, "crowd %d %d", &a, &b) == 2) {
		crowd(a, b);
		printf("done %d\n", a);
	} else if (!strncmp(line, "crowd_goes", 10)) {
		printf("done %ld\n", crowd_goes());
	} else if (sscanf(line, "slow %d", &a) == 1) {
		printf("done %ld\n", slow_sum(a));
	} else if (sscanf(line, "map %255s", word) == 1) {
		mapped(word);
		printf("done %lu\n", work_total());
	} else if (sscanf(line, "address %255s", word) == 1) {
		printf("%lx\n", work_address(word));
	} else if (sscanf(line, "pushed %d", &a) == 1) {
		for (b = 0; b < a; b++)
			pushed(b);
		printf("done %d\n", a);
	} else if (!strncmp(line, "locked", 6)) {
		locked();
		printf("done %lu\n", work_total());
	} else if (!strncmp(line, "never", 5)) {
		never();
	} else if (!strncmp(line, "bad", 3)) {
		bad();
		printf("done %lu\n", work_total());
	} else if (!strncmp(line, "forever", 7)) {
		printf("done\n");
		fflush(stdout);
		for (;;)
			call(0, 1000);
	} else if (!strncmp(line, "exec", 4)) {
		becomes(argv);
		exit(2);
	} else {
		exit(0);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char line[512];

	/* Read unbuffered, because the lines after "exec" are for the new program. */
	setvbuf(stdin, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), stdin))
		obey(line, argv);
	return 0;
}
