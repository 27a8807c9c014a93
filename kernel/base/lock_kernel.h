/* SPDX-License-Identifier: GPL-2.0-only */
/* Defines the lock under which all code except hits runs; reports progress during long work. */
#ifndef _GTP_LOCK_KERNEL_H
#define _GTP_LOCK_KERNEL_H

#include <linux/mutex.h>
#include <linux/types.h>

/*
 * gtp_lock - everything except hits runs under it; held for seconds while many probes are armed
 *
 * Lock order: the connection's write lock, its read lock, gtp_lock, then what the kernel takes to
 * arm a probe (kprobe_mutex, cpu_hotplug_lock, text_mutex) or a queue's spinlock. A module notifier
 * runs under the rwsem of the notifier chain and may take gtp_lock, so nothing that loads or
 * unloads a module may run under gtp_lock while a probe is armed in that module.
 */
extern struct mutex gtp_lock;

/**
 * gtp_progress() - report progress during long work
 * @what: the work in words, such as "arming tracepoints"
 * @done: the number of steps that are done
 * @total: the number of all steps
 *
 * Call it between two parts of long work under gtp_lock: it reschedules, and keeps GDB from timing
 * out.
 * Context: process, under gtp_lock; may sleep.
 */
void gtp_progress(const char *what, u32 done, u32 total);

/* gtp_progress_to - set the function that gtp_progress() calls, or NULL. Context: under gtp_lock */
void gtp_progress_to(void (*tell)(const char *what, u32 done, u32 total));

/*
 * gtp_interrupt - note a ^C for the packet that is being handled; any context.
 * gtp_interrupt_forget - forget that ^C, before the next packet.
 * gtp_interrupted - true if the client has left, or has sent ^C.
 * Context: under gtp_lock, for a packet of the current task
 */
void gtp_interrupt(void);
void gtp_interrupt_forget(void);
bool gtp_interrupted(void);

#endif /* _GTP_LOCK_KERNEL_H */
