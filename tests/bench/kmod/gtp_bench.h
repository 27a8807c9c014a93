/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions that are measured, and the places in them for probes. */
#ifndef _GTP_BENCH_H
#define _GTP_BENCH_H

#include <linux/types.h>

/* struct gtp_bench_obj - argument of the traced functions; @a is 42, @b is 7 */
struct gtp_bench_obj {
	int a;
	int b;
};

/*
 * X(name) - one place for a probe
 *   entry  a function's first instruction, where ftrace has its call
 *   jump   in the middle, seven bytes of straight line: the kernel can put a jump there
 *   int3   in the middle, before a branch: the kernel keeps the breakpoint
 *   pair   like jump; GTP_BENCH_PAIR_BYTES further on, an instruction of the same kind follows
 */
#define GTP_BENCH_PLACES(X) X(entry) X(jump) X(int3) X(pair)

#define GTP_BENCH_PAIR_BYTES 32

/*
 * X(name) - a function that is measured but gets no kprobe: an empty one, one of 100 nops, one that
 * hits a kernel tracepoint, one that calls "jump" with eight more callers on the stack
 */
#define GTP_BENCH_YARDSTICKS(X) X(empty) X(nops) X(event) X(deep)

long gtp_bench_entry(struct gtp_bench_obj *o, int n);
long gtp_bench_jump(struct gtp_bench_obj *o, int n);
long gtp_bench_int3(struct gtp_bench_obj *o, int n);
long gtp_bench_empty(struct gtp_bench_obj *o, int n);
long gtp_bench_nops(struct gtp_bench_obj *o, int n);
long gtp_bench_event(struct gtp_bench_obj *o, int n);
long gtp_bench_deep(struct gtp_bench_obj *o, int n);
long gtp_bench_pair(struct gtp_bench_obj *o, int n);

/* gtp_bench_event_probe - put the cheapest possible probe on the tracepoint: it increments @hits */
int gtp_bench_event_probe(u64 *hits);
void gtp_bench_event_unprobe(u64 *hits);

/*
 * gtp_bench_user_probe - set the cheapest possible uprobe at this offset of @file: it increments
 * @hits. Return 0 or -errno. gtp_bench_user_unprobe - remove the uprobe, if there is one
 */
int gtp_bench_user_probe(const char *file, u64 at, u64 *hits);
void gtp_bench_user_unprobe(void);

extern struct gtp_bench_obj gtp_bench_obj;
extern char gtp_bench_text[16];

/* The addresses of the instructions to probe, which the functions' assembly stores here. */
extern const unsigned long gtp_bench_jump_at, gtp_bench_int3_at, gtp_bench_pair_at;

#endif /* _GTP_BENCH_H */
