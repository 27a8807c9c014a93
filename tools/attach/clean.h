/* SPDX-License-Identifier: GPL-2.0-only */
/* Removes the agent of a host that was killed from a process. */
#ifndef _GTP_ATTACH_CLEAN_H
#define _GTP_ATTACH_CLEAN_H

#include "user/process/process.h"

/*
 * clean_lock - keep other hosts from putting an agent into the process, and from removing one,
 * until the descriptor that is returned is closed, here and in all children. Return -EBUSY with
 * @why if another host is doing that
 */
int clean_lock(const struct gtp_process *process, struct gtp_why *why);

/*
 * clean_process - remove from the process what a host that was killed has left. Return 0 if nothing
 * is left; otherwise -errno with @why, and tracepoints are not possible
 */
int clean_process(struct gtp_process *process, struct gtp_why *why);

#endif /* _GTP_ATTACH_CLEAN_H */
