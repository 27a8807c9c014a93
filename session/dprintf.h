/* SPDX-License-Identifier: GPL-2.0-only */
/* GDB's dprintfs: armed like tracepoints, in a run and without one. */
#ifndef _GTP_SESSION_DPRINTF_H
#define _GTP_SESSION_DPRINTF_H

#include "session/session.h"

/*
 * A place with dprintfs is in one of three states:
 *
 *	at rest		not armed: its module was unloaded, or a run is being set up or dropped
 *	alone		it has its own location, armed or refused, which the run does not know
 *	joined		it shares a location of the run, because a tracepoint is there, too
 *
 * A location never loses a tracepoint while it is armed, so GDB's removal only disables the
 * tracepoints of a place that has joined. They are freed when the run ends, unless GDB has inserted
 * the same dprintf again, as it does at every continue.
 *
 * All except gtp_dprintf_sum() may sleep. Context: under the caller's lock.
 */

/**
 * gtp_dprintf_insert() - handle a Z0 packet without its "Z0,"
 * @t: the session
 * @text: the packet, as gtp_dprintf_parse() takes it
 * @why: the refusal
 *
 * An existing dprintf with the same text stays; one with another text is replaced. A place that
 * cannot be probed is reported, as for a tracepoint, and is an error only under @t->strict.
 * Return: 0; or -EINVAL, -ENOMEM, or the error of ->arm, with nothing inserted.
 */
int gtp_dprintf_insert(struct gtp_trace *t, const char *text, struct gtp_why *why);

/* gtp_dprintf_remove - handle z0: stop the dprintfs at @addr, if there are any */
void gtp_dprintf_remove(struct gtp_trace *t, u64 addr);

/* gtp_dprintf_clear - stop all dprintfs; with @persistent also those that stay without GDB */
void gtp_dprintf_clear(struct gtp_trace *t, bool persistent);

/*
 * gtp_dprintf_suspend - put all dprintfs to rest before the CPUs' struct gtp_cpu are freed; no run
 * is active. gtp_dprintf_resume - arm those at rest, and report those that cannot be armed
 */
void gtp_dprintf_suspend(struct gtp_trace *t);
void gtp_dprintf_resume(struct gtp_trace *t);

/*
 * gtp_dprintf_rest_adding - at the end of a run, put standalone dprintfs that add to a variable
 * without the lock (see session/added.h) to rest, until gtp_dprintf_resume()
 */
void gtp_dprintf_rest_adding(struct gtp_trace *t);

/*
 * gtp_dprintf_yield - make room for a tracepoint at @addr: put dprintfs to rest that stand alone
 * there, or whose jump may cover it
 */
void gtp_dprintf_yield(struct gtp_trace *t, u64 addr);

/*
 * gtp_dprintf_leave_run - put dprintfs that have joined to rest; the run's locations are disarmed
 */
void gtp_dprintf_leave_run(struct gtp_trace *t);

/*
 * gtp_dprintf_forget_range - disarm dprintfs in code that is being unloaded, [start, end), and mark
 * them as gone; return their number. The run's locations there have been disarmed already
 */
u32 gtp_dprintf_forget_range(struct gtp_trace *t, u64 start, u64 end);

/* gtp_dprintf_any - true if there is any dprintf that can print */
bool gtp_dprintf_any(const struct gtp_trace *t);

/* gtp_dprintf_location - return the dprintf's location, armed or refused; NULL if it is at rest */
static inline const struct gtp_location *gtp_dprintf_location(const struct gtp_dprintf *dp)
{
	return dp->own ? dp->own : dp->tps->loc;
}

/* struct gtp_dprintf_sum - the counters of one place, or of all places that ever existed */
struct gtp_dprintf_sum {
	u64 hits, dropped, missed;
	u64 nested; /* hits inside another hit without a run; only in the sum over all places */
};

/*
 * gtp_dprintf_sum - sum up one place, or all if @dp is NULL. Hits may go on meanwhile, so two
 * figures may be of different moments
 */
void gtp_dprintf_sum(const struct gtp_trace *t, const struct gtp_dprintf *dp,
		     struct gtp_dprintf_sum *sum);

#endif /* _GTP_SESSION_DPRINTF_H */
