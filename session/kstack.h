/* SPDX-License-Identifier: GPL-2.0-only */
/* $kstack's table: a run has one when an expression of it asks for the stack. */
#ifndef _GTP_KSTACK_H
#define _GTP_KSTACK_H

#include "session/session.h"

/**
 * gtp_kstack_check() - $kstack and $bt are where they mean something
 * @tp: its variables are known to exist
 * @why: the refusal
 *
 * Return: 0 or -EINVAL: a dprintf names $kstack, or what is reported at a return $bt.
 */
int gtp_kstack_check(const struct gtp_tracepoint *tp, struct gtp_why *why);

/**
 * gtp_kstack_get() - the run has a table from here on, if it needs one
 * @t: the session, whose CPUs' parts are there
 * @only: this tracepoint joins the run; NULL: all that are defined
 * @why: the refusal
 *
 * Context: may sleep, caller's lock; hits may be under way. Return: 0 or -ENOMEM.
 */
int gtp_kstack_get(struct gtp_trace *t, const struct gtp_tracepoint *only, struct gtp_why *why);

/* gtp_kstack_drop - it goes; no hit runs, not even a dprintf's */
void gtp_kstack_drop(struct gtp_trace *t);

#endif /* _GTP_KSTACK_H */
