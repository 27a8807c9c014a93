// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program whose stacks tests/gdb/test_ustack.py compares. Each function of a path records its
 * own return address, so that the stack is known without frame pointers.
 *
 * Usage: frames
 * Reads lines and answers each by one line:
 *   pid              its number
 *   path N           leaf() by path N, 0 to PATHS - 1
 *   threads N COUNT  N threads, each of which takes each path COUNT times, in its own order
 *   hostile KIND     leaf(), called with a value in rbp that is not a frame pointer
 *   churn COUNT      maps, splits and unmaps pages COUNT times in churn(); the answer is the return
 *                    address of its call
 *   address NAME     where leaf or array is
 * The answer to path and hostile is the stack of leaf(): the address after its system call getppid,
 * and the return addresses of all functions, leaf() first, as hex numbers with commas.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATHS = 4, NOTES = 16, GETPPID = 110, PAGE = 4096, CHURNED = 400 };

#define OWN __attribute__((noipa))

static __thread struct {
	unsigned int n;
	unsigned long at[NOTES];
} notes;

static unsigned long array[8];

#define NOTE()                                                                                     \
	do {                                                                                       \
		if (notes.n < NOTES)                                                               \
			notes.at[notes.n++] = (unsigned long)__builtin_return_address(0);          \
	} while (0)

OWN long leaf(long n)
{
	unsigned long inside;
	long parent;

	__asm__ volatile("leaq 1f(%%rip), %1\n\tsyscall\n1:"
			 : "=a"(parent), "=&b"(inside)
			 : "0"(GETPPID)
			 : "rcx", "r11", "memory");
	notes.n = 0;
	notes.at[notes.n++] = inside;
	NOTE();
	return parent + n;
}

#define CALLS(name, callee)                                                                        \
	OWN long name(long n)                                                                      \
	{                                                                                          \
		long found = callee(n + 1);                                                        \
		NOTE();                                                                            \
		return found + 1;                                                                  \
	}

CALLS(path_c, leaf)
CALLS(path_b, path_c)
CALLS(path_a, path_b)
CALLS(other, path_c)

/* Has a frame larger than a page, and calls the next function through a pointer. */
OWN long wide(long n)
{
	long (*by)(long) = leaf;
	char room[8192];
	long found;

	/* Hide from the compiler which function is called. */
	__asm__ volatile("" : "+r"(by) : "r"(room) : "memory");
	found = by(n);
	__asm__ volatile("" : : "r"(room) : "memory");
	NOTE();
	return found;
}

OWN long recurse(long n)
{
	long found = n ? recurse(n - 1) : leaf(n);

	NOTE();
	return found + 1;
}

OWN static long go(int path)
{
	switch (path) {
	case 0:
		return path_a(path);
	case 1:
		return other(path);
	case 2:
		return wide(path);
	default:
		return recurse(5);
	}
}

/* hostile_call - call leaf() with @rbp in rbp; the call's return address is hostile_back */
long hostile_call(unsigned long rbp);
__asm__(".text\n"
	".globl hostile_call\n"
	".type hostile_call, @function\n"
	"hostile_call:\n"
	"	push %rbp\n"
	"	mov %rdi, %rbp\n"
	"	call leaf\n"
	"	pop %rbp\n"
	"	ret\n"
	".size hostile_call, . - hostile_call\n");

static unsigned long hostile(const char *kind)
{
	static const struct {
		const char *kind;
		unsigned long rbp;
	} all[] = {
		{ "unmapped", 0x10000 },
		{ "one", 1 },
		{ "text", 0xffffffff81000000 },
		{ "direct", 0xffff888000001000 },
		{ "last", ~0UL },
		{ "hole", 0x8000000000000000 },
		{ "space", 0x4700000000001000 },
		{ "top", 0x7ffffffffff8 },
		{ "zero", 0 },
	};
	unsigned long frame[4];
	unsigned long here = (unsigned long)frame;
	unsigned int i;

	/* A made-up frame in this array. Its return address is in go(). */
	frame[0] = here;
	frame[1] = (unsigned long)go;
	frame[2] = 0;
	frame[3] = (unsigned long)go;
	__asm__ volatile("" : : "r"(frame) : "memory");
	if (!strcmp(kind, "loop"))
		return hostile_call(here);
	if (!strcmp(kind, "misaligned"))
		return hostile_call(here + 4);
	if (!strcmp(kind, "below"))
		return hostile_call((here - 4096) & ~15UL);
	if (!strcmp(kind, "static")) {
		array[0] = (unsigned long)array;
		array[1] = (unsigned long)go;
		return hostile_call((unsigned long)array);
	}
	if (!strcmp(kind, "kernels")) {
		frame[1] = 0xffffffff81000000;
		return hostile_call(here);
	}
	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(kind, all[i].kind))
			return hostile_call(all[i].rbp);
	exit(2);
}

struct job {
	int number, count;
};

static void *thread(void *arg)
{
	const struct job *job = arg;
	int i;

	for (i = 0; i < job->count * PATHS; i++)
		go((i + job->number) % PATHS);
	return NULL;
}

static void threads(int n, int count)
{
	pthread_t ids[64];
	struct job jobs[64];
	int i;

	if (n > 64)
		exit(2);
	for (i = 0; i < n; i++) {
		jobs[i] = (struct job){ i, count };
		if (pthread_create(&ids[i], NULL, thread, &jobs[i]))
			exit(2);
	}
	for (i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
}

/*
 * Change the process's mappings so often and so much that the kernel's tree of them splits and
 * joins nodes all the time: every second page gets other rights, and then all of them are unmapped.
 */
OWN void churn(long count)
{
	long i;

	NOTE();
	while (count--) {
		char *at =
			mmap(NULL, CHURNED * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED)
			exit(2);
		for (i = 0; i < CHURNED; i += 2)
			if (mprotect(at + i * PAGE, PAGE, PROT_NONE))
				exit(2);
		if (munmap(at, CHURNED * PAGE))
			exit(2);
	}
}

static void answer(void)
{
	unsigned int i;

	for (i = 0; i < notes.n; i++)
		printf("%lx%s", notes.at[i], i + 1 < notes.n ? "," : "\n");
}

OWN static void obey(const char *line)
{
	char word[256];
	int a, b;

	if (!strncmp(line, "pid", 3)) {
		printf("%d\n", getpid());
	} else if (sscanf(line, "path %d", &a) == 1) {
		go(a);
		NOTE();
		answer();
	} else if (sscanf(line, "threads %d %d", &a, &b) == 2) {
		threads(a, b);
		printf("done\n");
	} else if (sscanf(line, "hostile %255s", word) == 1) {
		hostile(word);
		answer();
	} else if (sscanf(line, "churn %d", &a) == 1) {
		notes.n = 0;
		churn(a);
		answer();
	} else if (sscanf(line, "address %255s", word) == 1) {
		printf("%lx\n", strcmp(word, "leaf") ? (unsigned long)go : (unsigned long)leaf);
	} else {
		exit(0);
	}
	fflush(stdout);
}

int main(void)
{
	char line[512];

	while (fgets(line, sizeof(line), stdin))
		obey(line);
	return 0;
}
