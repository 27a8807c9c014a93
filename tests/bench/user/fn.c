// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function that the program calls, for uprobes on its first instruction; FN is its name. `build`
 * compiles this file once for each of the ways in which the kernel executes the instruction under a
 * uprobe. If SAVES is defined, the function saves a register, and so has a stack frame.
 */
#include "fn.h"

#define DEFINE(name) long name(struct bench_obj *o, int n)
#define DEFINE_AS(name) DEFINE(name)

DEFINE_AS(FN)
{
#ifdef SAVES
	__asm__ volatile("" : : : "rbx");
#endif
	return o->a + n;
}
