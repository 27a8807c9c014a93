/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions inside a traced process. The host does not link them. */
#ifndef _GTP_AGENT_INSIDE_H
#define _GTP_AGENT_INSIDE_H

#include "user/agent/agent.h"

/* gtp_agent_where - the data of this process; the host writes the pointer into the image */
extern struct gtp_agent *gtp_agent_where;

/* gtp_agent_data - the data that this process shares with the host; the same */
extern struct gtp_agent_shared *gtp_agent_data;

/* gtp_agent_hit_ops - the functions that hits need */
extern const struct gtp_hit_ops gtp_agent_hit_ops;

/* gtp_agent_pad_hit - assembly: pads call it; gtp_agent_hit, gtp_agent_claim - its parts in C */
void gtp_agent_pad_hit(void);
void gtp_agent_hit(const struct gtp_regs *regs, u32 word, struct gtp_cpu *cpu);

/*
 * gtp_agent_claim - return the struct gtp_cpu of this thread, which claims a part if it has none;
 * NULL: the hit is lost. Uses little stack
 */
struct gtp_cpu *gtp_agent_claim(u32 word);

/* gtp_agent_no_actions - the code of a tracepoint without actions, see struct gtp_run */
u64 gtp_agent_no_actions(const struct gtp_regs *regs, struct ax_env *env);

/* gtp_agent_key - return the key of this thread */
static inline u64 gtp_agent_key(void)
{
	u64 key;

	__asm__("movq %%fs:0, %0" : "=r"(key));
	return key;
}

/* gtp_agent_read - copy memory of the process; return 0 or -EFAULT */
int gtp_agent_read(void *ctx, void *dst, u64 addr, u32 len);

#endif /* _GTP_AGENT_INSIDE_H */
