/* SPDX-License-Identifier: GPL-2.0-only */
/* The aggregations of a run: found in its actions, kept by each CPU, read during the run. */
#ifndef _GTP_SESSION_AGGREGATE_H
#define _GTP_SESSION_AGGREGATE_H

#include "session/session.h"

enum {
	GTP_AGGR_KEYS_DEFAULT = 2048,
	GTP_AGGR_KEYS_MOST = 1 << 20,
	GTP_AGGR_BYTES_MAX = 1 << 30, /* limit for all CPUs' tables of one aggregation together */
};

/**
 * gtp_aggregates_plan() - find the aggregations that actions update, and their keys
 * @t: the session; @t->aggregates is used only with @only
 * @only: a tracepoint that joins the run; NULL: look at all tracepoints
 * @list: receives the new aggregations, without memory for values; NULL on an error
 * @why: the refusal
 *
 * The keys of an update are the variables key_NAME and keystr_NAME that the actions of its
 * tracepoint set before it: the first key set after an update begins another group. An aggregation
 * must have the same keys in all its updates. Marks tracepoints that only update aggregations.
 *
 * Context: may sleep, under the caller's lock. Return: 0, -EINVAL or -ENOMEM.
 */
int gtp_aggregates_plan(struct gtp_trace *t, struct gtp_tracepoint *only,
			struct gtp_aggregate **list, struct gtp_why *why);

/**
 * gtp_aggregates_add() - give the CPUs tables for aggregations, so that updates can come
 * @t: the session, whose CPUs each have a struct gtp_cpu
 * @list: the new ones, from gtp_aggregates_plan(); joins @t->aggregates, or is freed on an error
 * @why: the refusal
 *
 * Return: 0 or -ENOMEM.
 */
int gtp_aggregates_add(struct gtp_trace *t, struct gtp_aggregate *list, struct gtp_why *why);

/* gtp_aggregates_free - free a list other than @t->aggregates; NULL is the empty list */
void gtp_aggregates_free(struct gtp_trace *t, struct gtp_aggregate *list);

/*
 * gtp_aggregates_drop - free all of the session's aggregations, and the text; no hit updates them
 * any more
 */
void gtp_aggregates_drop(struct gtp_trace *t);

/**
 * gtp_aggregates_read() - collect the CPUs' values, and print the totals into @t->aggregate_text
 * @t: the session; a run may be active
 * @clear: begin again from zero. An update meanwhile is in this text or in the next text
 * @why: the refusal
 *
 * Return: 0, or -ENOMEM with nothing lost.
 */
int gtp_aggregates_read(struct gtp_trace *t, bool clear, struct gtp_why *why);

#endif /* _GTP_SESSION_AGGREGATE_H */
