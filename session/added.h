/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the variables that a run's expressions only add to: hits update these atomically, without a
 * lock.
 */
#ifndef _GTP_ADDED_H
#define _GTP_ADDED_H

#include "session/session.h"

/**
 * gtp_added_begin() - find the variables that the expressions of the coming run only add to
 * @t: the session; no tracepoint or dprintf is armed
 *
 * Sets their entries in @ways of struct gtp_tsvs to AX_TSV_ADDED, and recomputes which expressions
 * of @t->tps need the lock. Those of dprintfs are recomputed when the dprintfs are armed again.
 * Context: process, under the caller's lock.
 */
void gtp_added_begin(struct gtp_trace *t);

/**
 * gtp_added_end() - undo gtp_added_begin()
 * @t: the session; no expression with AX_F_ADDS is armed any more
 *
 * Context: process, under the caller's lock.
 */
void gtp_added_end(struct gtp_trace *t);

/**
 * gtp_added_check() - check whether an expression may join the current run
 * @t: the session
 * @tp: the tracepoint or dprintf of the expression
 * @e: the expression, whose variables exist
 * @action: the number of the action, counted from 1; 0 is the condition
 * @why: the reason of a refusal
 *
 * Without a run all expressions are allowed.
 * Context: process, under the caller's lock.
 * Return: 0, or -EINVAL if the expression would need the lock for a variable to which other
 * expressions add without the lock.
 */
int gtp_added_check(const struct gtp_trace *t, const struct gtp_tracepoint *tp,
		    const struct gtp_expr *e, u32 action, struct gtp_why *why);

#endif /* _GTP_ADDED_H */
