/* SPDX-License-Identifier: GPL-2.0-only */
/* Wait until no task is in code that cannot be reached any more. */
#ifndef _GTP_WAIT_H
#define _GTP_WAIT_H

/**
 * gtp_wait_for_tasks() - wait until no task is in a pad or in displaced instructions any more
 *
 * The caller has removed all ways into that code, and every CPU has seen that change.
 * Context: process, gtp_lock; sleeps, for as long as any task runs in the kernel without sleeping.
 */
void gtp_wait_for_tasks(void);

/*
 * gtp_wait_for_idle - wait until each CPU has left its idle task once, because no RCU grace period
 * waits for idle tasks. Context: process; may sleep
 */
void gtp_wait_for_idle(void);

/*
 * The kernel calls the functions of its tracepoints as readers, under preempt_disable(), SRCU or
 * RCU tasks trace, depending on the version and the tracepoint. A task that dies of an oops in such
 * a function, ours or another's, never leaves SRCU. Then every wait for readers lasts for ever, and
 * so does the kernel's own wait, under its mutex, when a function is added to a tracepoint or
 * removed.
 */

/**
 * gtp_readers_end() - true if functions of kernel tracepoints can be added and removed
 *
 * Waits only if a task has died since the last call.
 * Context: process, under gtp_lock; sleeps. Return: false if the readers do not end, see above.
 */
bool gtp_readers_end(void);

/**
 * gtp_wait_for_readers() - wait until no task calls a function that was removed from a tracepoint
 *
 * Replaces tracepoint_synchronize_unregister(), which may wait for ever.
 * Context: process, gtp_lock; sleeps. Return: false if the readers do not end. Then the module is
 * pinned, and functions that were removed may still be called.
 */
bool gtp_wait_for_readers(void);

/*
 * gtp_wait_gave_up - true once gtp_readers_end() or gtp_wait_for_readers() has returned false;
 * after that the module stays loaded
 */
bool gtp_wait_gave_up(void);

/* gtp_wait_task_died - record that a task has died of an oops. Context: any */
void gtp_wait_task_died(void);

#endif /* _GTP_WAIT_H */
