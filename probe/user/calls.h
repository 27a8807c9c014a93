/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of calls in programs that have been entered and whose return will be reported. */
#ifndef _GTP_CALLS_H
#define _GTP_CALLS_H

#include "hit/returns.h"

/**
 * struct gtp_user_call - a call that the current task has made
 * @of: the probe of the called function
 * @top: the address of its return address on the stack; no two calls of a task share one at a time
 * @back: the return address; 0: not needed
 * @pending: the record of the call's entry
 */
struct gtp_user_call {
	const void *of;
	u64 top;
	u64 back;
	struct gtp_pending pending;
};

/*
 * gtp_user_calls_get - make sure that there is memory for the calls; return 0 or -ENOMEM.
 * gtp_user_calls_put - undo one gtp_user_calls_get(); the last one frees the memory, when no probe
 * is left
 * Context: under gtp_lock.
 */
int gtp_user_calls_get(void);
void gtp_user_calls_put(void);

/*
 * Call gtp_user_calls_add() and gtp_user_calls_take() in the task's own context, with preemption
 * on, between get and put.
 */

/* gtp_user_calls_add - add a call to the table; return false if there is no room */
bool gtp_user_calls_add(const struct gtp_user_call *call);

/**
 * gtp_user_calls_take() - take a call that the current task has made out of the table
 * @of: the probe of the called function
 * @top: the address of the call's return address
 * @call: receives the call; NULL: only remove it
 *
 * Return: false if the table has no such call.
 */
bool gtp_user_calls_take(const void *of, u64 top, struct gtp_user_call *call);

/* gtp_user_calls_forget - drop the calls of all tasks for which @is_gone(@of) is true; gtp_lock */
void gtp_user_calls_forget(bool (*is_gone)(const void *of));

#endif /* _GTP_CALLS_H */
