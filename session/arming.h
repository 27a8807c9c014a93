/* SPDX-License-Identifier: GPL-2.0-only */
/* Arm the locations of a run, all together or one more; report those that cannot be armed. */
#ifndef _GTP_ARMING_H
#define _GTP_ARMING_H

#include "session/session.h"

/*
 * A place that cannot be probed does not affect the others: it stays in the run without a probe,
 * and the reason is in ->refused and on the user's console. Under @t->strict it is an error.
 */

/**
 * gtp_arming_all() - arm all locations of the run, @t->locs
 * @t: the session
 * @why: the refusal, with tracepoint number and address
 *
 * Context: may sleep, under the caller's lock.
 * Return: 0; -errno with nothing armed if no location can be armed, or, under @t->strict, not all
 * of them. The caller then frees the locations.
 */
int gtp_arming_all(struct gtp_trace *t, struct gtp_why *why);

/**
 * gtp_arming_add() - arm a tracepoint that is defined during the run, if its place is not armed yet
 * @t: the session
 * @tp: the tracepoint, which has its code and a slot
 * @why: the refusal
 *
 * Context: may sleep, under the caller's lock; hits may be in progress.
 * Return: 0, and @tp->loc is its location; or -errno, and it has no location.
 */
int gtp_arming_add(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why);

/**
 * gtp_arming_one() - arm one location that is on no list
 * @t: the session
 * @loc: the location to arm
 * @why: the refusal
 *
 * Context: may sleep, under the caller's lock; hits may be in progress.
 * Return: 0, with @loc->refused if it cannot be armed; -errno, not armed, if the error does not
 * concern only this place, or if the place is refused under @t->strict.
 */
int gtp_arming_one(struct gtp_trace *t, struct gtp_location *loc, struct gtp_why *why);

/**
 * gtp_arming_join() - add a tracepoint to a location of the run
 * @t: the session
 * @loc: the location; it is armed or refused, and not full
 * @tp: the tracepoint
 * @why: the refusal
 *
 * Context: may sleep, under the caller's lock; hits may be in progress. Return: 0, or -errno if the
 * tracepoint has no location.
 */
int gtp_arming_join(struct gtp_trace *t, struct gtp_location *loc, struct gtp_tracepoint *tp,
		    struct gtp_why *why);

/* gtp_arming_say - report to the user why @tp is not armed: its location, @tp->loc, is refused */
void gtp_arming_say(struct gtp_trace *t, const struct gtp_tracepoint *tp);

#endif /* _GTP_ARMING_H */
