/* SPDX-License-Identifier: GPL-2.0-only */
/* The locations of a run are armed, all together or one more; those that cannot be are reported. */
#ifndef _GTP_ARMING_H
#define _GTP_ARMING_H

#include "session/session.h"

/*
 * A place that cannot be probed does not keep the others from it: it stays in the run without a
 * probe, ->refused says why, and the user's console shows it. Under @t->strict it is an error.
 */

/**
 * gtp_arming_all() - arm all of @t->locs
 * @t: the session
 * @why: the refusal, with tracepoint number and address
 *
 * Context: may sleep, caller's lock.
 * Return: 0; -errno: nothing can be armed, or under @t->strict not everything. Nothing is armed
 * then, and the caller frees the locations.
 */
int gtp_arming_all(struct gtp_trace *t, struct gtp_why *why);

/**
 * gtp_arming_add() - arm a tracepoint that is defined during the run, where it is not yet
 * @t: the session
 * @tp: the tracepoint; its code is made, it has a slot
 * @why: the refusal
 *
 * Context: may sleep, caller's lock; hits may be under way.
 * Return: 0, @tp->loc is its location then; -errno: it has none.
 */
int gtp_arming_add(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why);

/**
 * gtp_arming_one() - arm one location that is on no list
 * @t: the session
 * @loc: the location
 * @why: the refusal
 *
 * Context: as above.
 * Return: 0, with @loc->refused when it cannot be armed; -errno: an error that is not of the place
 * alone, or it is refused under @t->strict. It is not armed then.
 */
int gtp_arming_one(struct gtp_trace *t, struct gtp_location *loc, struct gtp_why *why);

/**
 * gtp_arming_join() - a tracepoint has its hits at a location of the run from now on
 * @t: the session
 * @loc: armed or refused, not full
 * @tp: the tracepoint
 * @why: the refusal
 *
 * Context: as above. Return: 0 or -errno; then it has no location.
 */
int gtp_arming_join(struct gtp_trace *t, struct gtp_location *loc, struct gtp_tracepoint *tp,
		    struct gtp_why *why);

/* gtp_arming_say - tell the user that a tracepoint is not armed, and why: @tp->loc is refused */
void gtp_arming_say(struct gtp_trace *t, const struct gtp_tracepoint *tp);

#endif /* _GTP_ARMING_H */
