/* SPDX-License-Identifier: GPL-2.0-only */
/* The locations of a run are armed, all together or one more; those that cannot be are told. */
#ifndef _GTP_ARMING_H
#define _GTP_ARMING_H

#include "session/session.h"

/*
 * A place that cannot be probed does not keep the others from it: it stays in the run without a
 * probe, ->refused says why, and the user's console is told. Under @t->strict it is an error.
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

#endif /* _GTP_ARMING_H */
