/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints in a process: puts the agent into it at the first tstart, and jumps at each one. */
#ifndef _GTP_ATTACH_AGENT_H
#define _GTP_ATTACH_AGENT_H

#include "state.h"

/*
 * agent_init - make the session; @read reads the process's memory for it. @ctx, which is passed to
 * @read, begins with a pointer to @a. Return 0 or -errno with @why
 */
int agent_init(struct agent *a, struct gtp_process *process, const struct gtp_hit_ops *read,
	       void *ctx, struct gtp_why *why);

/* agent_look - allow no more system calls in hits if the process has got a seccomp filter */
void agent_look(struct agent *a);

/* agent_exit - end the session, and restore the process */
void agent_exit(struct agent *a);

#endif /* _GTP_ATTACH_AGENT_H */
