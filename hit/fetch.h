/* SPDX-License-Identifier: GPL-2.0-only */
/* Page in the memory that a hit will read, if the code that was hit may sleep. */
#ifndef _GTP_FETCH_H
#define _GTP_FETCH_H

#include "hit/run.h"

/* enum gtp_fetch_part - which expressions of the location are evaluated */
enum gtp_fetch_part {
	GTP_FETCH_HIT,	  /* all expressions */
	GTP_FETCH_ENTRY,  /* conditions that are evaluated at the entry of a call */
	GTP_FETCH_RETURN, /* all other expressions, at the return of the call */
};

/**
 * struct gtp_fetch - the state of gtp_fetch()
 * @env: the environment of the expressions
 * @run: the run to which the hit will belong
 * @part: which expressions to evaluate
 * @wanted: at a return: bit n is set if the location's n-th tracepoint wants the return
 * @value, @entered, @latency: the call's $ret, $entry_clock, $latency; $ret and $latency only at
 *	its return
 * @read: copies memory, and may sleep until it is paged in; returns 0 or -EFAULT
 * @cpu: the struct gtp_cpu of the CPU on which the task runs at present; NULL: that CPU has none
 * @ustack: fills in a struct gtp_ustack_from, the beginning of the program's stack
 * @ctx: passed to @read and @ustack
 * @stack, @text: working memory for @env
 */
struct gtp_fetch {
	struct ax_env env;
	const struct gtp_run *run;
	enum gtp_fetch_part part;
	u64 wanted;
	const struct gtp_cpu *cpu;
	s64 value;
	u64 entered;
	u64 latency;
	int (*read)(void *ctx, void *dst, u64 addr, u32 len);
	void (*ustack)(void *ctx, const struct gtp_regs *regs, struct gtp_ustack_from *from);
	void *ctx;
	u64 stack[AX_MAX_DEPTH];
	char text[AX_PRINT_MAX];
};

/* gtp_fetch_needed - true if an expression of @first, or of a tracepoint after it, reads memory */
bool gtp_fetch_needed(const struct gtp_tracepoint *first);

/**
 * gtp_fetch() - page in all memory that a hit will read, without other effects
 * @f: @run, @part, @cpu, @read, @ustack and @ctx are set; unless @part is GTP_FETCH_HIT, the call's
 *	values as well
 * @first: the location's first tracepoint; the others follow it
 * @regs: the registers of the hit, as for gtp_hit()
 *
 * A hit must not sleep, so an expression fails if it reads memory that is not paged in. This
 * function interprets the same expressions before the hit, when it may still sleep. It does not set
 * the variables that the expressions set. Some variables, such as the CPU's number, the clock and
 * those that other tasks set, may have other values at the hit. A condition that reads such a
 * variable is assumed to hold. If the path through an expression depends on such a variable, the
 * hit may still read memory that is not paged in.
 *
 * Context: that of @read; not between gtp_hit_begin() and gtp_hit_end().
 */
void gtp_fetch(struct gtp_fetch *f, const struct gtp_tracepoint *first,
	       const struct gtp_regs *regs);

#endif /* _GTP_FETCH_H */
