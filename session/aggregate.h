/* SPDX-License-Identifier: GPL-2.0-only */
/* The aggregations of a run: found in its actions, kept by each CPU, read while it goes on. */
#ifndef _GTP_SESSION_AGGREGATE_H
#define _GTP_SESSION_AGGREGATE_H

#include "session/session.h"

enum {
	GTP_AGGR_KEYS_DEFAULT = 2048,
	GTP_AGGR_KEYS_MOST = 1 << 20,
	GTP_AGGR_BYTES_MAX = 1 << 30, /* of the tables of all CPUs, of one aggregation */
};

/**
 * gtp_aggregates_plan() - the aggregations that actions update, and their keys
 * @t: the session; @t->aggregates is looked at only with @only
 * @only: the actions of this tracepoint, which joins the run; NULL: of all
 * @list: receives those that are new, without memory for values; NULL on an error
 * @why: the refusal
 *
 * The keys of an update are the variables key_NAME and keystr_NAME that the actions of its
 * tracepoint set before it: the first key set after an update begins another group. Wherever one
 * aggregation is updated, the keys are the same. Marks the tracepoints that do nothing else.
 *
 * Context: may sleep, caller's lock. Return: 0, -EINVAL or -ENOMEM.
 */
int gtp_aggregates_plan(struct gtp_trace *t, struct gtp_tracepoint *only,
			struct gtp_aggregate **list, struct gtp_why *why);

/**
 * gtp_aggregates_add() - from here on the CPUs have tables for them, and updates can come
 * @t: the session, whose CPUs' parts are there
 * @list: from gtp_aggregates_plan(); becomes part of @t->aggregates, or is freed on an error
 * @why: the refusal
 *
 * Return: 0 or -ENOMEM.
 */
int gtp_aggregates_add(struct gtp_trace *t, struct gtp_aggregate *list, struct gtp_why *why);

/* gtp_aggregates_free - a list that is not @t->aggregates; NULL is one without any */
void gtp_aggregates_free(struct gtp_trace *t, struct gtp_aggregate *list);

/* gtp_aggregates_drop - all that the session has, and the text; nothing updates them any more */
void gtp_aggregates_drop(struct gtp_trace *t);

/**
 * gtp_aggregates_read() - take what the CPUs have, and make @t->aggregate_text of all there is
 * @t: the session; a run may be going on
 * @clear: and begin again from zero. An update meanwhile is in this text or in the next one
 * @why: the refusal
 *
 * Return: 0, or -ENOMEM; then nothing is lost.
 */
int gtp_aggregates_read(struct gtp_trace *t, bool clear, struct gtp_why *why);

#endif /* _GTP_SESSION_AGGREGATE_H */
