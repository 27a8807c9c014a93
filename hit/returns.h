/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls that are reported when they return: what is kept from their entry, and both ends' turns. */
#ifndef _GTP_RETURNS_H
#define _GTP_RETURNS_H

#include "hit/run.h"

/**
 * struct gtp_pending - a call whose return is wanted, from its entry on
 * @wanted: bit n: by the location's n-th tracepoint
 * @entered: $entry_clock
 * @regs: at the entry
 */
struct gtp_pending {
	u64 wanted;
	u64 entered;
	struct gtp_regs regs;
};

/**
 * gtp_returns_enter() - a call of the function that a location is at
 * @loc: the location, of the kind GTP_LOCATION_RETURN
 * @cpu: this CPU's own, prepared; the caller stays on this CPU
 * @regs: at the entry
 * @p: filled in when the return is wanted; @regs may be its own
 * @held: the condition of the first tracepoint is known to hold
 * @entered: as of gtp_hit()
 *
 * Conditions that can be are decided here. One that does not hold, or fails, leaves nothing behind
 * but what a hit of it would.
 *
 * Context: as gtp_hit(). Return: whether gtp_returns_leave() is to be called.
 */
bool gtp_returns_enter(const struct gtp_location *loc, struct gtp_cpu *cpu,
		       const struct gtp_regs *regs, struct gtp_pending *p, u32 held, u32 entered);

/**
 * gtp_returns_leave() - that call returns
 * @loc: the location; it has not been disarmed since the entry
 * @cpu: this CPU's own, perhaps another one than at the entry
 * @p: of the entry
 * @value: what it returns
 *
 * What gtp_hit() does, for the tracepoints that want it: they see the registers of the entry, and
 * memory as it is now. Context: as gtp_hit().
 */
void gtp_returns_leave(const struct gtp_location *loc, struct gtp_cpu *cpu,
		       const struct gtp_pending *p, u64 value);

#endif /* _GTP_RETURNS_H */
