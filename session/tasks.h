/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocates the tables of a run's variables $task_NAME, which have a value for each task. */
#ifndef _GTP_SESSION_TASKS_H
#define _GTP_SESSION_TASKS_H

#include "session/session.h"

/**
 * gtp_tasks_check() - check that an expression may name the variables of tasks that it names
 * @t: the session
 * @tp: the tracepoint or dprintf of the expression
 * @v: the expression; its variables are known to exist
 * @action: the number of the action, counted from 1; 0 is the condition
 * @why: the refusal
 *
 * Return: 0; -EINVAL if a dprintf names one: it may outlive the run, and the run's tables.
 */
int gtp_tasks_check(const struct gtp_trace *t, const struct gtp_tracepoint *tp,
		    const struct ax_verified *v, u32 action, struct gtp_why *why);

/*
 * gtp_tasks_alloc - allocate the table of each variable of tasks that has none yet; hits may be in
 * progress. Return 0, -EINVAL or -ENOMEM with @why
 */
int gtp_tasks_alloc(struct gtp_trace *t, struct gtp_why *why);

/* gtp_tasks_drop - free all tables; no hit may use them any more */
void gtp_tasks_drop(struct gtp_trace *t);

#endif /* _GTP_SESSION_TASKS_H */
