/* SPDX-License-Identifier: GPL-2.0-only */
/* Bring into memory what a hit will read, for hits of code that may wait for it. */
#ifndef _GTP_FETCH_H
#define _GTP_FETCH_H

#include "hit/run.h"

/**
 * struct gtp_fetch - the memory that gtp_fetch() works in
 * @env: of the expressions
 * @run: the run
 * @read: copy memory, and wait for it if it has to be brought; 0 or -EFAULT
 * @ustack: say where the program's stack begins
 * @ctx: for @read and @ustack
 * @stack, @text: for @env
 */
struct gtp_fetch {
	struct ax_env env;
	const struct gtp_run *run;
	int (*read)(void *ctx, void *dst, u64 addr, u32 len);
	void (*ustack)(void *ctx, const struct gtp_regs *regs, struct gtp_ustack_from *from);
	void *ctx;
	u64 stack[AX_MAX_DEPTH];
	char text[AX_PRINT_MAX];
};

/* gtp_fetch_needed - true if an expression of @first, or of one after it, reads memory */
bool gtp_fetch_needed(const struct gtp_tracepoint *first);

/**
 * gtp_fetch() - read all that a hit will read, and leave nothing else behind
 * @f: @run, @read and @ctx are set
 * @first: the location's first tracepoint; the others follow it
 * @regs: as for gtp_hit()
 *
 * A hit must not wait, so memory of a process that is not there right now would be an error of its
 * expressions. This evaluates the same expressions before the hit, by the interpreter. A variable
 * that the expressions set keeps its value here, so an expression that goes another way because of
 * it may meet such memory all the same.
 *
 * Context: whatever @read needs; not between gtp_hit_begin() and gtp_hit_end().
 */
void gtp_fetch(struct gtp_fetch *f, const struct gtp_tracepoint *first,
	       const struct gtp_regs *regs);

#endif /* _GTP_FETCH_H */
