// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program that tests/gdb/test_markers.py traces: markers with operands of all forms. It prints
 * the values that the markers had.
 *
 * Usage: markers
 * Reads lines and answers each by one line:
 *   pid                 its number
 *   places FROM COUNT   gtp_test:place at three places for each n: n in a register, in memory; 7
 *   widths N            gtp_test:widths: parts of registers; prints their values
 *   memory N            gtp_test:memory: base, index, scale, displacement; prints the values
 *   statics N           gtp_test:statics: variables of the file; prints the values
 *   constants           gtp_test:constants
 *   floats              gtp_test:floats: 0.5 in a register, 1.5 and -2.25 in memory
 *   text WORD           gtp_test:text: the word
 *   guarded COUNT       gtp_test:guarded, if its semaphore is not 0; prints how often
 *   semaphore           prints the value of that semaphore
 *   fork                a child that obeys the next lines until "end"; prints its number
 *   nops COUNT          gtp_test:nop5 and gtp_test:nop10
 *   first COUNT         gtp_test:first, the first instruction of first(n), which returns 2 * n
 *   strange             markers whose names and operands are not valid
 *   forever             answers, then runs gtp_test:guarded until it is killed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "markers.h"

SEMAPHORE(guarded_semaphore);

static long counter;
static int table[4] = { 10, -20, 30, -40 };

static void places(int from, int count)
{
	int n, there;

	for (n = from; n < from + count; n++) {
		there = n;
		MARKER("place", "-4@%0 8@%1", "r"(n), "r"(1000L + n));
		MARKER("place", "-4@%0 8@%1", "m"(there), "r"(2000L + n));
		MARKER("place", "-4@%0 -8@%1", "i"(-7), "r"(-3000L));
	}
}

static void widths(unsigned long n)
{
	register unsigned long r8 __asm__("r8"), r15 __asm__("r15");
	unsigned long a = n * 0x0123456789abcdefUL, b = ~a, c = a ^ n, sum = a + n;

	printf("done %d %u %d %u %d %u %ld %lu %u %d\n", (signed char)a, (unsigned char)(b >> 8),
	       (short)c, (unsigned short)c, (int)a, (unsigned int)b, (long)a, c, (unsigned int)sum,
	       (signed char)~sum);
	r8 = sum;
	r15 = ~sum;
	MARKER("widths",
	       "-1@%%al 1@%%bh -2@%%cx 2@%%cx -4@%%eax 4@%%ebx -8@%%rax 8@%%ecx 4@%%r8d -1@%%r15b",
	       "a"(a), "b"(b), "c"(c), "r"(r8), "r"(r15));
}

static void memory(long n)
{
	struct {
		long whole;
		int part[8];
		signed char byte;
	} m = { n * 3, { 1, -2, 3, -4, 5, -6, (int)n, 8 }, (signed char)-n };
	long index = 2;

	printf("done %ld %d %d %d %d\n", m.whole, m.part[2], m.part[6], m.byte, m.part[1]);
	MARKER("memory",
	       "-8@(%%rbx) -4@8(%%rbx,%%rcx,4) -4@32(%%rbx) -1@40(%%rbx) -4@-4(%%rbx,%%rdx)",
	       "b"(&m), "c"(index), "d"(16L));
}

static void statics(long n)
{
	counter = n;
	printf("done %ld %d\n", counter, table[1]);
	MARKER("statics",
	       "-8@counter(%%rip) -4@table+4(%%rip) 4@4+table(%%rip) 8@%%fs:0x28 8@none(%%rip)",
	       "m"(counter), "m"(table));
}

static void constants(void)
{
	MARKER("constants",
	       "-4@$-5 4@$-5 8@$0x7fffffffffffffff -8@$-9223372036854775808 1@$200 -1@$200",
	       "r"(0));
}

static void floats(void)
{
	register double x __asm__("xmm0");
	double in_memory = 1.5;
	float small = -2.25f;

	x = 0.5;
	MARKER("floats", "8f@%%xmm0 8f@(%%rbx) 4f@(%%rcx)", "x"(x), "b"(&in_memory), "c"(&small));
}

static void text(const char *word)
{
	MARKER("text", "8@%0 -4@%1", "r"(word), "r"((int)strlen(word)));
}

static int guarded(int count)
{
	int done = 0, n;

	for (n = 0; n < count; n++) {
		if (!__atomic_load_n(&guarded_semaphore, __ATOMIC_RELAXED))
			continue;
		MARKER_AT("nop", "guarded", "guarded_semaphore", "-4@%0", "r"(n));
		done++;
	}
	return done;
}

static void nops(int count)
{
	int n;

	for (n = 0; n < count; n++) {
		MARKER_AT(NOP_5, "nop5", "0", "-4@%0", "r"(n));
		MARKER_AT(NOP_10, "nop10", "0", "-4@%0", "r"(n));
	}
}

__attribute__((noipa)) static long first(long n)
{
	MARKER_AT(NOP_10, "first", "guarded_semaphore", "-8@%0", "r"(n));
	return n * 2;
}

static void strange(int n)
{
	MARKER("bad\\33[31m\\nname", "-4@%0", "r"(n));
	MARKER("odd", "-4@%0 8@$(rm) 3@%%rax 8@!ls 8@python() 99999999@%%rax 8@(%%rip)", "r"(n));
	MARKER_AT("cld", "elsewhere", "0", "-4@%0", "r"(n));
}

/* Fork: the child obeys the following lines, and the parent waits for its end. */
static void split(void)
{
	int status, pid = fork();

	if (!pid)
		printf("done %d\n", getpid());
	else if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(2);
}

static void obey(char *line)
{
	char word[256];
	int a, b;

	if (!strncmp(line, "pid", 3)) {
		printf("%d\n", getpid());
	} else if (sscanf(line, "places %d %d", &a, &b) == 2) {
		places(a, b);
		printf("done\n");
	} else if (sscanf(line, "widths %d", &a) == 1) {
		widths(a);
	} else if (sscanf(line, "memory %d", &a) == 1) {
		memory(a);
	} else if (sscanf(line, "statics %d", &a) == 1) {
		statics(a);
	} else if (!strncmp(line, "constants", 9)) {
		constants();
		printf("done\n");
	} else if (!strncmp(line, "floats", 6)) {
		floats();
		printf("done\n");
	} else if (sscanf(line, "text %255s", word) == 1) {
		text(word);
		printf("done\n");
	} else if (sscanf(line, "guarded %d", &a) == 1) {
		printf("%d\n", guarded(a));
	} else if (!strncmp(line, "semaphore", 9)) {
		printf("%d\n", guarded_semaphore);
	} else if (sscanf(line, "nops %d", &a) == 1) {
		nops(a);
		printf("done\n");
	} else if (sscanf(line, "first %d", &a) == 1) {
		for (b = 0; b < a; b++)
			first(b);
		printf("done\n");
	} else if (!strncmp(line, "strange", 7)) {
		strange(1);
		printf("done\n");
	} else if (!strncmp(line, "fork", 4)) {
		split();
	} else if (!strncmp(line, "forever", 7)) {
		printf("done\n");
		fflush(stdout);
		for (;;)
			guarded(1000);
	} else {
		exit(0);
	}
	fflush(stdout);
}

int main(void)
{
	char line[512];

	/* Read unbuffered, because a line after "fork" is for the child. */
	setvbuf(stdin, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	return 0;
}
