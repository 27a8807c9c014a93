// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with kernel-like types. GDB compiles expressions that use its variables; the same
 * expressions in C give the expected results.
 *
 * tools/dev/ax-from-gdb compiles the program with two generated files: entry.inc and frame.inc have
 * the expressions in C, as RESULT(n, expression) and PLACE(n, lvalue) lines. The program is linked
 * without PIE, so that the addresses in GDB's bytecode are the addresses of the running program.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

typedef unsigned long long u64;

enum state { SLEEPING = 1, RUNNING = 2, DEAD = -1 };

struct list_head {
	struct list_head *next, *prev;
};

struct qstr {
	unsigned int hash;
	unsigned int len;
	const char *name;
};

struct dentry {
	unsigned int d_flags;
	struct dentry *d_parent;
	struct qstr d_name;
	char d_iname[16];
};

struct path {
	void *mnt;
	struct dentry *dentry;
};

struct file {
	union {
		struct list_head list;
		unsigned long words[2];
	} u;
	struct path f_path;
	unsigned int f_flags;
	unsigned short f_mode;
	signed char f_hint;
	long long f_pos;
};

struct task {
	long state;
	unsigned int flags;
	int pid, tgid;
	unsigned char prio;
	signed char nice;
	unsigned short cpu;
	short delta;
	char comm[16];
	struct task *parent;
	struct list_head children;
	struct file *files[4];
	u64 utime;
	unsigned int in_exec : 1, in_io : 1, level : 5, serial : 17;
	int depth : 6, drift : 11;
	enum state st;
	bool on;
	int counters[8];
	short grid[3][4];
};

char long_name[] = "a name that does not fit in place";

struct dentry root_dentry = {
	.d_flags = 0x80000000,
	.d_parent = &root_dentry,
	.d_name = { .hash = 0xdeadbeef, .len = 1, .name = root_dentry.d_iname },
	.d_iname = "/",
};

struct dentry file_dentry = {
	.d_flags = 0x00400040,
	.d_parent = &root_dentry,
	.d_name = { .hash = 0x12345678, .len = sizeof(long_name) - 1, .name = long_name },
	.d_iname = "short",
};

struct file the_file = {
	.u = { .words = { 0x1111222233334444, 0x8888999900001111 } },
	.f_path = { .mnt = (void *)0x1000, .dentry = &file_dentry },
	.f_flags = 0x8002,
	.f_mode = 0xfffe,
	.f_hint = -3,
	.f_pos = -4096,
};

struct task child; /* init and child point to each other */

struct task init = {
	.state = 0,
	.flags = 0x00200042,
	.pid = 1,
	.tgid = 1,
	.prio = 120,
	.comm = "init",
	.parent = &init,
	.children = { &child.children, &child.children },
	.st = RUNNING,
};

struct task child = {
	.state = -2,
	.flags = 0x80400140,
	.pid = -1234,
	.tgid = 4321,
	.prio = 200,
	.nice = -20,
	.cpu = 60001,
	.delta = -300,
	.comm = "kworker/u8:1",
	.parent = &init,
	.children = { &init.children, &init.children },
	.files = { &the_file, NULL, &the_file },
	.utime = 0xfffffffffffffff0,
	.in_exec = 1,
	.level = 29,
	.serial = 0x1abcd,
	.depth = -17,
	.drift = 1000,
	.st = DEAD,
	.on = true,
	.counters = { 10, -20, 30, -40, 50, -60, 70, -80 },
	.grid = { { 1, 2, 3, 4 }, { -5, -6, -7, -8 }, { 9, 10, 11, 12 } },
};

int jiffies = 100000;
unsigned long total = 0x123456789abcdef0;
signed char tiny = -7;
struct task *current_task = &child;
int table[4] = { 3, 1, 4, -1 };

/* Stands for $cnt, a trace state variable of the same value in GDB. */
static long long tsv_cnt = -5;

/*
 * Print the results that a vector expects. The effects of each line are undone before the next one.
 */
#define RESULT(n, ...)                                               \
	do {                                                         \
		long long before = tsv_cnt;                          \
		printf("result %d 0x%llx\n", n, (u64)(__VA_ARGS__)); \
		if (tsv_cnt != before)                               \
			printf("cnt %d %lld\n", n, tsv_cnt);         \
		tsv_cnt = before;                                    \
	} while (0)
#define PLACE(n, ...) printf("place %d %p %zu\n", n, (void *)&(__VA_ARGS__), sizeof(__VA_ARGS__))
#define STRING(n, max, ...)                                   \
	printf("place %d %p %zu\n", n, (void *)(__VA_ARGS__), \
	       strnlen(__VA_ARGS__, max) == max ? max : strlen(__VA_ARGS__) + 1)
#define TEXT(n, ...) print_text(n, __VA_ARGS__)

static void print_text(int n, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int i, len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("text %d ", n);
	for (i = 0; i < len; i++)
		printf("%02x", (unsigned char)text[i]);
	printf("\n");
}

/* At the first instruction, each argument is in the register of the calling convention. */
__attribute__((noipa)) void entry(struct task *p, struct file *file, unsigned long count, int n,
				  unsigned int u, short s)
{
#include "entry.inc"
}

__attribute__((noipa)) void mark(void)
{
}

/* After the call of mark() every local is on the stack, also one that no expression uses. */
__attribute__((noipa, optimize("O0"))) void frame(struct task *arg, int m)
{
	int local = m * 3;
	unsigned char byte = 250;
	long wide = -5;
	char name[8] = "onstack";
	struct qstr q = { .hash = 7, .len = 9, .name = arg->comm };
	struct task *t = arg->parent;
	int vector[4] = { 5, 6, 7, 8 };

	mark();
	mark(); /* stop here */
#include "frame.inc"
}

static _Alignas(4096) char stack[65536];
static ucontext_t caller, callee;

static void on_stack(void)
{
	entry(&child, &the_file, 0x8000000000000003, -22, 0xfffffff0, -2);
	frame(&child, 14);
}

/* A stack that is an object like the others lies at the same address in every run. */
int main(void)
{
	getcontext(&callee);
	callee.uc_stack.ss_sp = stack;
	callee.uc_stack.ss_size = sizeof(stack) / 2; /* expressions can read above it, too */
	callee.uc_link = &caller;
	makecontext(&callee, on_stack, 0);
	return swapcontext(&caller, &callee);
}
