/* SPDX-License-Identifier: GPL-2.0-only */
/* Waiting until no task can be in code that cannot be reached any more. */
#ifndef _GTP_WAIT_H
#define _GTP_WAIT_H

/**
 * gtp_wait_for_tasks() - until no task is in a pad, or among displaced instructions, any more
 *
 * All that leads there has been taken away, and every CPU has seen it.
 * Context: process, gtp_lock; sleeps, as long as a task computes in the kernel.
 */
void gtp_wait_for_tasks(void);

#endif /* _GTP_WAIT_H */
