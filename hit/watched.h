/* SPDX-License-Identifier: GPL-2.0-only */
/* Handles hits of watchpoints, and stores the values of the watched variables. */
#ifndef _GTP_WATCHED_H
#define _GTP_WATCHED_H

#include "base/watch.h"
#include "hit/hit.h"

/**
 * gtp_watched_see() - store a watched variable's value and return the one stored before
 * @seen: the value stored for the watchpoint; all CPUs share it, because any of them may write the
 *     variable next
 * @value: the value that the variable has now
 *
 * Context: any, NMI included. Return: the value that a hit on any CPU stored before.
 */
static inline u64 gtp_watched_see(u64 *seen, u64 value)
{
	return gtp_exchange(seen, value);
}

/**
 * gtp_watched_hit() - handle a hit of a watchpoint
 * @first: the location's first tracepoint
 * @cpu: this CPU's own struct
 * @regs: the registers after the instruction that accessed the variable, including rip
 * @entered: the amount added to preempt_count, as for gtp_hit()
 * @before: the value at the watchpoint's previous hit; only the variable's bytes are set
 * @value: the value that the variable has now; only its bytes are set
 *
 * If this CPU is already in a hit of another tracepoint, this hit is counted as nested and does not
 * change the values of the other hit.
 * Context: as gtp_hit(); no other watchpoint can be hit on this CPU meanwhile.
 */
static inline void gtp_watched_hit(struct gtp_tracepoint *first, struct gtp_cpu *cpu,
				   const struct gtp_regs *regs, u32 entered, u64 before, u64 value)
{
	if (likely(!READ_ONCE(cpu->in_hit))) {
		cpu->local[GTP_TSV_WATCH_ADDR] = gtp_watch_at(first->addr);
		cpu->local[GTP_TSV_WATCH_VAL] = (u64)gtp_watch_value(first->addr, value);
		cpu->local[GTP_TSV_WATCH_PREV_VAL] = (u64)gtp_watch_value(first->addr, before);
	}
	gtp_hit(first, cpu, regs, entered);
}

#endif /* _GTP_WATCHED_H */
