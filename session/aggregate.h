/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the aggregations in the actions of a run, allocates their tables, and reads them. */
#ifndef _GTP_SESSION_AGGREGATE_H
#define _GTP_SESSION_AGGREGATE_H

#include "session/session.h"

enum {
	GTP_AGGR_KEYS_DEFAULT = 2048,
	GTP_AGGR_KEYS_MOST = 1 << 20,
	GTP_AGGR_BYTES_MAX = 1 << 30, /* limit for the tables of one aggregation on all CPUs */
};

/**
 * gtp_aggregates_plan() - find the aggregations that actions update, and their keys
 * @t: the session; @t->aggregates is read only if @only is not NULL
 * @only: a tracepoint that joins the run; NULL: look at all tracepoints
 * @list: receives the new aggregations, without tables; NULL on an error
 * @why: the refusal
 *
 * The keys of an update are the variables key_NAME and keystr_NAME that the tracepoint's actions
 * set before the update. The first key that is set after an update begins a new group of keys. All
 * updates of an aggregation must have the same keys. Also marks tracepoints that only update
 * aggregations.
 *
 * Context: may sleep, under the caller's lock. Return: 0, -EINVAL or -ENOMEM.
 */
int gtp_aggregates_plan(struct gtp_trace *t, struct gtp_tracepoint *only,
			struct gtp_aggregate **list, struct gtp_why *why);

/**
 * gtp_aggregates_add() - allocate each CPU's tables for aggregations, before hits update them
 * @t: the session, whose CPUs each have a struct gtp_cpu
 * @list: the new aggregations, from gtp_aggregates_plan(); joins @t->aggregates, or is freed on an
 *	error
 * @why: the refusal
 *
 * Return: 0 or -ENOMEM.
 */
int gtp_aggregates_add(struct gtp_trace *t, struct gtp_aggregate *list, struct gtp_why *why);

/* gtp_aggregates_free - free a list other than @t->aggregates; NULL is the empty list */
void gtp_aggregates_free(struct gtp_trace *t, struct gtp_aggregate *list);

/*
 * gtp_aggregates_drop - free all aggregations of the session, and their text; no hit may update
 * them any more
 */
void gtp_aggregates_drop(struct gtp_trace *t);

/**
 * gtp_aggregates_read() - collect the CPUs' values, and print the totals into @t->aggregate_text
 * @t: the session; a run may be active
 * @clear: true to begin again from zero; a concurrent update is in this text or in the next one
 * @why: the refusal
 *
 * Return: 0, or -ENOMEM, after which no value is lost.
 */
int gtp_aggregates_read(struct gtp_trace *t, bool clear, struct gtp_why *why);

#endif /* _GTP_SESSION_AGGREGATE_H */
