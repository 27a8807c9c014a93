/* SPDX-License-Identifier: GPL-2.0-only */
/* Puts the agent into a process, and removes it. */
#ifndef _GTP_ATTACH_ENTER_H
#define _GTP_ATTACH_ENTER_H

#include "state.h"

/* The agent's image, which the makefile puts into this program. */
extern const u8 agent_image[], agent_image_end[];

/* enter_space - open memory for the session, and make @a->shared; return 0 or -errno */
int enter_space(struct agent *a);

/* enter_process - put the agent into the process; return 0, or -errno with @why */
int enter_process(struct agent *a, struct gtp_why *why);

/*
 * enter_leave - remove jumps and memory from the process. If a thread is still in the agent, the
 * memory stays; standard error then says so
 */
void enter_leave(struct agent *a);

#endif /* _GTP_ATTACH_ENTER_H */
