/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocates the table of stacks for a run, if any of its expressions uses $kstack or $ustack. */
#ifndef _GTP_KSTACK_H
#define _GTP_KSTACK_H

#include "session/session.h"

/**
 * gtp_kstack_check() - check that $kstack, $ustack and $bt are used where they have a meaning
 * @tp: the tracepoint or dprintf; its variables are known to exist
 * @why: the refusal
 *
 * Return: 0; -EINVAL if a dprintf names $kstack or $ustack, or if a tracepoint that is reported at
 * a return names $bt.
 */
int gtp_kstack_check(const struct gtp_tracepoint *tp, struct gtp_why *why);

/**
 * gtp_kstack_get() - allocate the run's table of stacks, if it needs one
 * @t: the session, whose CPUs each have a struct gtp_cpu
 * @only: a tracepoint that joins the run; NULL: look at all tracepoints
 * @why: the refusal
 *
 * Context: may sleep, under the caller's lock; hits may be in progress. Return: 0 or -ENOMEM.
 */
int gtp_kstack_get(struct gtp_trace *t, const struct gtp_tracepoint *only, struct gtp_why *why);

/* gtp_kstack_drop - free the table of stacks; no hit may use it any more */
void gtp_kstack_drop(struct gtp_trace *t);

#endif /* _GTP_KSTACK_H */
