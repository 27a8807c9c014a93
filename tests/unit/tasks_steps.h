/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aggregate/tasks.c is compiled with this header for test_tasks_order.c: before each change of
 * shared memory other CPUs, and an NMI on this CPU, may run.
 *
 * Reads need no step of their own. A task looks for its own address, which others never write; and
 * a read of a free entry only precedes the cmpxchg, which has a step.
 */
#ifndef _GTP_TASKS_STEPS_H
#define _GTP_TASKS_STEPS_H

#include "base/base.h"

/* tasks_step - let other CPUs and an NMI run */
void tasks_step(void);

#undef gtp_publish
#undef gtp_replace
#undef gtp_fetch_add
#undef WRITE_ONCE
#define gtp_publish(p, v) (tasks_step(), __atomic_store_n((p), (v), __ATOMIC_RELEASE))
#define gtp_replace(p, old, new) (tasks_step(), __sync_val_compare_and_swap((p), (old), (new)))
#define gtp_fetch_add(p, v) (tasks_step(), __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST))
#define WRITE_ONCE(x, v) (tasks_step(), __atomic_store_n(&(x), (v), __ATOMIC_RELAXED))

#endif /* _GTP_TASKS_STEPS_H */
