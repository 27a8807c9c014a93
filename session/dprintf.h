/* SPDX-License-Identifier: GPL-2.0-only */
/* Arms GDB's dprintfs like tracepoints, in a run or without one. */
#ifndef _GTP_SESSION_DPRINTF_H
#define _GTP_SESSION_DPRINTF_H

#include "session/session.h"

/*
 * The dprintfs at one address (struct gtp_dprintf) are in one of three states:
 *
 *	at rest		not armed: the module was unloaded, or a run is being set up or dropped
 *	alone		at a location of their own, armed or refused, which is not part of the run
 *	joined		at a location of the run, because a tracepoint is there, too
 *
 * A location never loses a tracepoint while it is armed. So when GDB removes a dprintf that has
 * joined, its tracepoints are only disabled. They are freed when the run ends, unless GDB has
 * inserted the same dprintf again, as it does at every continue.
 *
 * All functions except gtp_dprintf_sum() may sleep. Context: under the caller's lock.
 */

/**
 * gtp_dprintf_insert() - handle a Z0 packet without its "Z0,"
 * @t: the session
 * @text: the packet, in the format of gtp_dprintf_parse()
 * @why: the refusal
 *
 * An existing dprintf at the address stays if it has the same text, otherwise it is replaced. An
 * address that cannot be probed is reported, as for a tracepoint, and is an error only if
 * @t->strict is set.
 * Return: 0; or -EINVAL, -ENOMEM, or the error of ->arm, with nothing inserted.
 */
int gtp_dprintf_insert(struct gtp_trace *t, const char *text, struct gtp_why *why);

/* gtp_dprintf_remove - handle z0: stop the dprintfs at @addr, if there are any */
void gtp_dprintf_remove(struct gtp_trace *t, u64 addr);

/*
 * gtp_dprintf_clear - stop all dprintfs; if @persistent is false, those that stay when GDB
 * disconnects go on
 */
void gtp_dprintf_clear(struct gtp_trace *t, bool persistent);

/*
 * gtp_dprintf_suspend - disarm all dprintfs before the CPUs' struct gtp_cpu are freed; no run is
 * active. gtp_dprintf_resume - arm the dprintfs that are at rest, and report those that cannot be
 * armed
 */
void gtp_dprintf_suspend(struct gtp_trace *t);
void gtp_dprintf_resume(struct gtp_trace *t);

/*
 * gtp_dprintf_rest_adding - at the end of a run, disarm standalone dprintfs that add to a variable
 * without the lock (see session/added.h), until gtp_dprintf_resume()
 */
void gtp_dprintf_rest_adding(struct gtp_trace *t);

/*
 * gtp_dprintf_yield - make room for a tracepoint at @addr: disarm standalone dprintfs at that
 * address, or whose jump may cover it
 */
void gtp_dprintf_yield(struct gtp_trace *t, u64 addr);

/*
 * gtp_dprintf_leave_run - make dprintfs that have joined the run leave it; the run's locations are
 * disarmed already
 */
void gtp_dprintf_leave_run(struct gtp_trace *t);

/*
 * gtp_dprintf_forget_range - disarm dprintfs in code that is being unloaded, [start, end), and mark
 * them as gone; return their number. The run's locations in that range have been disarmed already
 */
u32 gtp_dprintf_forget_range(struct gtp_trace *t, u64 start, u64 end);

/* gtp_dprintf_any - true if there is a dprintf that can print */
bool gtp_dprintf_any(const struct gtp_trace *t);

/* gtp_dprintf_location - return the dprintf's location, armed or refused; NULL if it is at rest */
static inline const struct gtp_location *gtp_dprintf_location(const struct gtp_dprintf *dp)
{
	return dp->own ? dp->own : dp->tps->loc;
}

/*
 * struct gtp_dprintf_sum - the counters of the dprintfs at one address, or of all dprintfs that
 * ever existed
 */
struct gtp_dprintf_sum {
	u64 hits, dropped, missed;
	u64 nested; /* nested hits while there was no run; only in the total */
};

/*
 * gtp_dprintf_sum - add up the counters of @dp, or of all dprintfs if @dp is NULL. Hits may go on
 * meanwhile, so the counters may be of different moments
 */
void gtp_dprintf_sum(const struct gtp_trace *t, const struct gtp_dprintf *dp,
		     struct gtp_dprintf_sum *sum);

#endif /* _GTP_SESSION_DPRINTF_H */
