/* SPDX-License-Identifier: GPL-2.0-only */
/* GDB's dprintfs: armed as tracepoints are, in a run and without one. */
#ifndef _GTP_SESSION_DPRINTF_H
#define _GTP_SESSION_DPRINTF_H

#include "session/session.h"

/*
 * A place with dprintfs is in one of three states:
 *
 *	at rest		it is not armed: its module has gone, or a run is being set up or dropped
 *	alone		it has a location for itself, armed or refused, which the run does not know
 *	joined		it shares a location of the run, because a tracepoint is there, too
 *
 * A location never loses a tracepoint while it is armed, so GDB's removal only disables the
 * tracepoints of a place that has joined. It goes when the run ends, unless GDB has inserted the
 * same again: it does so at every continue.
 *
 * All but gtp_dprintf_sum() may sleep; caller's lock.
 */

/**
 * gtp_dprintf_insert() - a Z0 packet without its "Z0,"
 * @t: the session
 * @text: see gtp_dprintf_parse()
 * @why: the refusal
 *
 * One that is there already with the same text stays; with another text it is replaced. A place
 * that cannot be probed is reported, as a tracepoint's is, and is an error only under @t->strict.
 * Return: 0, -EINVAL, -ENOMEM, or what ->arm said; nothing is inserted then.
 */
int gtp_dprintf_insert(struct gtp_trace *t, const char *text, struct gtp_why *why);

/* gtp_dprintf_remove - z0: those at @addr print nothing any more; without any nothing is done */
void gtp_dprintf_remove(struct gtp_trace *t, u64 addr);

/* gtp_dprintf_clear - the same for all of them; @persistent: those too that stay without GDB */
void gtp_dprintf_clear(struct gtp_trace *t, bool persistent);

/*
 * gtp_dprintf_suspend - the CPUs' parts go: all to rest; no run is on. gtp_dprintf_resume - arm
 * those at rest; those that cannot be are reported
 */
void gtp_dprintf_suspend(struct gtp_trace *t);
void gtp_dprintf_resume(struct gtp_trace *t);

/*
 * gtp_dprintf_rest_adding - the run has ended, and with it what session/added.h is about: those
 * that are alone and add to a variable without the lock go to rest, until gtp_dprintf_resume()
 */
void gtp_dprintf_rest_adding(struct gtp_trace *t);

/*
 * gtp_dprintf_yield - a tracepoint comes to @addr: one that is alone there goes to rest, and those
 * whose jump may reach there
 */
void gtp_dprintf_yield(struct gtp_trace *t, u64 addr);

/* gtp_dprintf_leave_run - those that have joined go to rest; the run's locations are disarmed */
void gtp_dprintf_leave_run(struct gtp_trace *t);

/*
 * gtp_dprintf_forget_range - the code in [start, end) is being unloaded, and the run's locations
 * there are gone: disarm, mark as gone; how many there were
 */
u32 gtp_dprintf_forget_range(struct gtp_trace *t, u64 start, u64 end);

/* gtp_dprintf_any - can one print? */
bool gtp_dprintf_any(const struct gtp_trace *t);

/* gtp_dprintf_location - where it has its hits, or has been refused; NULL: it is at rest */
static inline const struct gtp_location *gtp_dprintf_location(const struct gtp_dprintf *dp)
{
	return dp->own ? dp->own : dp->tps->loc;
}

/* struct gtp_dprintf_sum - of one place, or of all that there have been */
struct gtp_dprintf_sum {
	u64 hits, dropped, missed;
	u64 nested; /* hits inside another hit without a run; of all only */
};

/* gtp_dprintf_sum - of one place; of all when @dp is NULL. Each figure is right by itself */
void gtp_dprintf_sum(const struct gtp_trace *t, const struct gtp_dprintf *dp,
		     struct gtp_dprintf_sum *sum);

#endif /* _GTP_SESSION_DPRINTF_H */
