/* SPDX-License-Identifier: GPL-2.0-only */
/* Variables that a run's expressions only add to: set in one step, without the variables' lock. */
#ifndef _GTP_ADDED_H
#define _GTP_ADDED_H

#include "session/session.h"

/**
 * gtp_added_begin() - find those of a run that is about to begin
 * @t: the session; nothing is armed, no dprintf either
 *
 * They get the way AX_TSV_ADDED, and the expressions of @t->tps are settled accordingly.
 * Context: process, caller's lock.
 */
void gtp_added_begin(struct gtp_trace *t);

/**
 * gtp_added_end() - there are none any more
 * @t: the session; no expression with AX_F_ADDS is armed
 *
 * Context: process, caller's lock.
 */
void gtp_added_end(struct gtp_trace *t);

/**
 * gtp_added_check() - may an expression be part of the run that goes on?
 * @t: the session
 * @tp: the tracepoint or dprintf that it belongs to
 * @e: the expression; its variables exist
 * @action: counted from 1, 0 is the condition
 * @why: the refusal
 *
 * Without a run all may.
 * Context: process, caller's lock.
 * Return: 0, or -EINVAL: it sets one of them otherwise than by adding to it.
 */
int gtp_added_check(const struct gtp_trace *t, const struct gtp_tracepoint *tp,
		    const struct gtp_expr *e, u32 action, struct gtp_why *why);

#endif /* _GTP_ADDED_H */
