/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the pairs in the actions of a run, allocates their tables, and prints them. */
#ifndef _GTP_SESSION_PAIR_H
#define _GTP_SESSION_PAIR_H

#include "base/parse.h"
#include "session/session.h"

enum {
	GTP_PAIR_ENTRIES_DEFAULT = 4096,
	GTP_PAIR_ENTRIES_MOST = 1 << 20,
};

/**
 * gtp_pairs_plan() - find the pairs that actions start and end, and what their starts keep
 * @t: the session; on success @t->pairs_planned has the pairs
 * @only: a tracepoint that joins the run, or a dprintf's; NULL: look at all tracepoints
 * @why: the refusal
 *
 * A start keeps the variables pair_kept_X that the tracepoint's actions set before it. The first
 * one that is set after a start begins a new group. All starts of a pair must keep the same
 * variables. Also sets @sets_key of actions; call gtp_aggregates_plan() afterwards.
 *
 * Context: may sleep, under the caller's lock. Return: 0 or -EINVAL.
 */
int gtp_pairs_plan(struct gtp_trace *t, struct gtp_tracepoint *only, struct gtp_why *why);

/*
 * gtp_pairs_add - allocate the tables of planned pairs, before hits use them; return 0 or -ENOMEM
 * with @why. The CPUs have their struct gtp_cpu
 */
int gtp_pairs_add(struct gtp_trace *t, struct gtp_why *why);

/* gtp_pairs_drop - free the tables of all pairs; no hit may use them any more */
void gtp_pairs_drop(struct gtp_trace *t);

/*
 * gtp_pairs_text_bytes - return a number of bytes that is enough for gtp_pairs_text(). @room
 * receives the number of entries for which that is: fewer than there are if all of them need more
 * than @most bytes, or more than 256 MiB
 */
size_t gtp_pairs_text_bytes(const struct gtp_trace *t, u64 most, u64 *room);

/*
 * gtp_pairs_text - print the counters of all pairs and their starts without an end, @room at most.
 * The lines are described in docs/pairs.md
 */
void gtp_pairs_text(const struct gtp_trace *t, u64 room, struct gtp_out *out);

#endif /* _GTP_SESSION_PAIR_H */
