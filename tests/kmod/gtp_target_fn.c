// SPDX-License-Identifier: GPL-2.0-only
/* The functions that the tests trace, and the data that they read. */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "gtp_target.h"

struct gtp_target_obj gtp_target_objs[GTP_TARGET_OBJS];
long gtp_target_counter;
int gtp_target_array[8];
LIST_HEAD(gtp_target_list);
const char gtp_target_banner[] __aligned(16) = "gtp_target: the fixture of gdbtp";

struct counts {
	u64 calls[GTP_TARGET_COUNTS];
};

static DEFINE_PER_CPU(struct counts, counts);

void gtp_target_count(enum gtp_target_count which)
{
	this_cpu_inc(counts.calls[which]);
	/* Set the flags, so that at the call that is counted they do not depend on the count. */
	asm volatile("cmpl $-1, %0" : : "r"(which) : "cc");
}

u64 gtp_target_counted(enum gtp_target_count which)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(counts, cpu).calls[which]);
	return sum;
}

void gtp_target_fill(void)
{
	int i, j;

	for (i = 0; i < GTP_TARGET_OBJS; i++) {
		struct gtp_target_obj *o = &gtp_target_objs[i];

		o->id = 100 + i;
		o->small = 200 + i;
		o->medium = 60000 + i;
		o->big = -5 - i;
		o->low = i;
		o->mid = -i;
		o->wide = 4096 + i;
		o->kind = i & 1 ? GTP_TARGET_FANCY : GTP_TARGET_PLAIN;
		o->on = i & 1;
		snprintf(o->name, sizeof(o->name), "obj-%d", i);
		for (j = 0; j < GTP_TARGET_VALUES; j++)
			o->values[j] = i * 10 + j;
		o->parent = i ? o - 1 : NULL;
		list_add_tail(&o->link, &gtp_target_list);
	}
	for (i = 0; i < 8; i++)
		gtp_target_array[i] = i * i;
}

GTP_TARGET_FN long gtp_target_add(long a, long b)
{
	return a + b;
}

GTP_TARGET_FN long gtp_target_obj(struct gtp_target_obj *o, int n)
{
	return o->big + n;
}

GTP_TARGET_FN long gtp_target_str(const char *s)
{
	return strlen(s);
}

/* Has no site of the function tracer: a kprobe here is an int3 or a jump, never ftrace's call. */
GTP_TARGET_FN notrace long gtp_target_leaf(long n)
{
	return n * 3 + 1;
}

/* Sleeps in a call of msleep(). A jump can displace this call. */
GTP_TARGET_FN notrace long gtp_target_nap(long ms)
{
	msleep(ms + 1);
	return ms * 2;
}

GTP_TARGET_FN long gtp_target_irq(long n)
{
	return n ^ 1;
}

/* Has locals that are in memory; tests find the line of the return by its comment. */
GTP_TARGET_FN long gtp_target_locals(long n)
{
	long twice = n * 2;
	int seen[3] = { 11, 22, 33 };
	char letter = 'q';

	/* Make the compiler store all locals in memory, and forget their values. */
	asm volatile("" : "+m"(twice), "+m"(seen), "+m"(letter));
	return twice + seen[1] + letter; /* line: locals are set */
}

/* The innermost of three nested functions; additions after the calls prevent tail calls. */
GTP_TARGET_FN long gtp_target_chain_c(long n)
{
	return n + 300;
}

GTP_TARGET_FN long gtp_target_chain_b(long n)
{
	gtp_target_count(GTP_TARGET_COUNT_chain_c);
	gtp_target_note_stack(GTP_TARGET_STACK_CHAIN);
	return gtp_target_chain_c(n + 20) + 1;
}

GTP_TARGET_FN long gtp_target_chain_a(long n)
{
	gtp_target_count(GTP_TARGET_COUNT_chain_b);
	return gtp_target_chain_b(n + 1) + 1;
}

/* Does not dereference its argument, because the tests pass bad pointers. */
GTP_TARGET_FN long gtp_target_ptr(const void *p)
{
	return (long)p;
}

/* @s points to user memory of the task that writes to /proc/gtp_target. */
GTP_TARGET_FN long gtp_target_user(const char *s)
{
	return (long)s;
}

GTP_TARGET_FN long gtp_target_noprobe(long n)
{
	return n + 2;
}

NOKPROBE_SYMBOL(gtp_target_noprobe);
