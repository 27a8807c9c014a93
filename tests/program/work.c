// SPDX-License-Identifier: GPL-2.0-only
/* The functions that tests trace most. They have their own file, so that no call is inlined. */
#include <string.h>
#include "program.h"

static unsigned long total;
static char label[16] = "a static text";
int table[4] = { 10, 20, 30, 40 };

/* An optimised function: the arguments are in registers at its first instruction. */
long work(int n, const char *text, struct point *p)
{
	__asm__ volatile("nop" : : "r"(n), "r"(text), "r"(p) : "memory");
	__atomic_add_fetch(&total, 1, __ATOMIC_RELAXED);
	return n + p->x;
}

/* The first instruction of this function has a lock prefix, so the kernel does not probe it. */
void locked(void)
{
	__atomic_add_fetch(&total, 1, __ATOMIC_RELAXED);
}

/* The kernel emulates the first instruction of this function; it single-steps most others. */
long pushed(long n)
{
	__asm__ volatile("" : "+r"(n) : : "rbx", "memory");
	return n * 2;
}

unsigned long work_total(void)
{
	return total;
}

unsigned long work_address(const char *name)
{
	if (!strcmp(name, "work"))
		return (unsigned long)work;
	if (!strcmp(name, "total"))
		return (unsigned long)&total;
	return (unsigned long)label;
}
