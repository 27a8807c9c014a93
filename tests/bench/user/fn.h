/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of the program in which tests/bench/user.py measures hits. */
#ifndef _BENCH_USER_FN_H
#define _BENCH_USER_FN_H

/* struct bench_obj - the first argument; @a is 42, @b is 7 */
struct bench_obj {
	int a;
	int b;
};

/*
 * X(name, bytes) - a function, and how its code begins
 *   bench_push  push %rbp: the kernel emulates it
 *   bench_nop   a nop of five bytes: the kernel skips it; since 6.18 it writes a call there
 *   bench_step  an addition: the kernel single-steps a copy
 */
#define BENCH_FUNCTIONS(X)                                                                         \
	X(bench_push, "\x55")                                                                      \
	X(bench_nop, "\x0f\x1f\x44\x00\x00")                                                       \
	X(bench_step, "\x03")

long bench_push(struct bench_obj *o, int n);
long bench_nop(struct bench_obj *o, int n);
long bench_step(struct bench_obj *o, int n);

#endif /* _BENCH_USER_FN_H */
