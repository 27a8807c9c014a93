/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arms the locations of a run: all of them at its start, or one more while it is active. Reports
 * failures.
 */
#ifndef _GTP_ARMING_H
#define _GTP_ARMING_H

#include "session/session.h"

/*
 * A location that cannot be probed does not affect the others: it stays in the run without a probe,
 * and the reason is stored in its @refused and shown on the user's console. If @strict of the
 * session is set, it is an error.
 */

/**
 * gtp_arming_all() - arm all locations of the run, @t->locs
 * @t: the session
 * @why: the refusal, with tracepoint number and address
 *
 * Context: may sleep, under the caller's lock.
 * Return: 0; or -errno, with nothing armed, if no location can be armed, or if @t->strict is set
 * and one of them cannot be armed. The caller then frees the locations.
 */
int gtp_arming_all(struct gtp_trace *t, struct gtp_why *why);

/**
 * gtp_arming_add() - add a tracepoint during the run, and arm its location if it is not armed yet
 * @t: the session
 * @tp: the tracepoint, which has its code and a slot
 * @why: the refusal
 *
 * Context: may sleep, under the caller's lock; hits may be in progress.
 * Return: 0, with @tp->loc set; or -errno, with @tp->loc NULL.
 */
int gtp_arming_add(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why);

/**
 * gtp_arming_one() - arm one location that is on no list
 * @t: the session
 * @loc: the location
 * @why: the refusal
 *
 * Context: may sleep, under the caller's lock; hits may be in progress.
 * Return: 0, with @loc->refused set if it cannot be armed. -errno, with @loc not armed, if the
 * error concerns more than this location, or if it is refused and @t->strict is set.
 */
int gtp_arming_one(struct gtp_trace *t, struct gtp_location *loc, struct gtp_why *why);

/**
 * gtp_arming_join() - add a tracepoint to a location of the run
 * @t: the session
 * @loc: the location, which is armed or refused, and not full
 * @tp: the tracepoint
 * @why: the refusal
 *
 * Context: may sleep, under the caller's lock; hits may be in progress. Return: 0, or -errno if the
 * tracepoint has no location.
 */
int gtp_arming_join(struct gtp_trace *t, struct gtp_location *loc, struct gtp_tracepoint *tp,
		    struct gtp_why *why);

/* gtp_arming_say - report to the user why the location of @tp, @tp->loc, is refused */
void gtp_arming_say(struct gtp_trace *t, const struct gtp_tracepoint *tp);

#endif /* _GTP_ARMING_H */
