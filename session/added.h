/* SPDX-License-Identifier: GPL-2.0-only */
/* Variables that a run's expressions only add to: updated atomically, without the lock. */
#ifndef _GTP_ADDED_H
#define _GTP_ADDED_H

#include "session/session.h"

/**
 * gtp_added_begin() - find the variables that the expressions of the coming run only add to
 * @t: the session; nothing is armed, no dprintf either
 *
 * Sets their entries in ->ways to AX_TSV_ADDED, and recomputes which expressions of @t->tps need
 * the lock. For dprintfs that is done when they are armed again.
 * Context: process, under the caller's lock.
 */
void gtp_added_begin(struct gtp_trace *t);

/**
 * gtp_added_end() - make the variables ordinary ones again
 * @t: the session; no expression with AX_F_ADDS is armed any more
 *
 * Context: process, under the caller's lock.
 */
void gtp_added_end(struct gtp_trace *t);

/**
 * gtp_added_check() - check whether an expression may join the current run
 * @t: the session
 * @tp: the tracepoint or dprintf of the expression
 * @e: the expression; its variables exist
 * @action: the number of the action, counted from 1; 0 is the condition
 * @why: the refusal
 *
 * Without a run all expressions are allowed.
 * Context: process, under the caller's lock.
 * Return: 0, or -EINVAL if it sets a variable of this kind other than by adding.
 */
int gtp_added_check(const struct gtp_trace *t, const struct gtp_tracepoint *tp,
		    const struct gtp_expr *e, u32 action, struct gtp_why *why);

#endif /* _GTP_ADDED_H */
