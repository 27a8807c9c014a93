/* SPDX-License-Identifier: GPL-2.0-only */
/* Wait until no task is in code that cannot be reached any more. */
#ifndef _GTP_WAIT_H
#define _GTP_WAIT_H

/**
 * gtp_wait_for_tasks() - wait until no task is in a pad or in displaced instructions any more
 *
 * The caller has removed all ways into that code, and every CPU has seen it.
 * Context: process, gtp_lock; sleeps, for as long as any task runs in the kernel without sleeping.
 */
void gtp_wait_for_tasks(void);

/*
 * gtp_wait_for_idle - wait until each CPU has left its idle task once; no RCU grace period covers
 * that. Context: process, may sleep
 */
void gtp_wait_for_idle(void);

#endif /* _GTP_WAIT_H */
