// SPDX-License-Identifier: GPL-2.0-only
/*
 * One of the functions that the program calls and uprobes stop at: FN is its name. `build` compiles
 * this file once for each way in which the kernel executes the instruction under a uprobe, which
 * here is the function's first one. With SAVES the function saves a register, and so has a frame.
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
