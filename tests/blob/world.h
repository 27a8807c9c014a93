/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that is its own host: it puts the agent's image, pads and jumps into itself, as a
 * program outside would, through /proc/self/mem.
 */
#ifndef _GTP_BLOB_WORLD_H
#define _GTP_BLOB_WORLD_H

#include "session/trace.h"
#include "user/host/code.h"
#include "user/host/parts.h"

enum { WORLD_PLACES = 8, WORLD_PARTS = 64 };

/* struct world_place - an instruction that can be probed, and the jump there */
struct world_place {
	u64 at;
	bool flags_dead;
	struct gtp_region region;
	struct gtp_agent_pad pad;
	bool prepared;
};

/**
 * struct world - the process
 * @trace: its session, in the space
 * @parts: how many parts the next run has; @each: the bytes of each buffer; @own_stacks: hits have
 *	stacks of their own
 */
struct world {
	struct gtp_space space;
	struct gtp_agent_shared *shared;
	struct gtp_agent_code code;
	struct gtp_agent *agent;
	u8 *stacks;
	struct gtp_trace *trace;
	struct world_place place[WORLD_PLACES];
	u32 nplaces;
	u32 parts;
	u32 each;
	bool own_stacks;
};

/* world_init - put the image, a file, into this process; exits with a message on failure */
void world_init(struct world *w, const char *image);

/* world_place - let tracepoints at @at be set */
void world_place(struct world *w, const void *at, bool flags_dead);

/*
 * world_define - define a tracepoint at @at with a condition in hex bytecode, or NULL, and actions
 * in GDB's form, or NULL; world_start, world_stop - tstart and tstop
 */
void world_define(struct world *w, const void *at, const char *cond, const char *actions);
void world_start(struct world *w);
void world_stop(struct world *w);

/* world_reset - free definitions and frames */
void world_reset(struct world *w);

/* world_hits - return the hits of the first tracepoint */
u64 world_hits(const struct world *w);

/* world_expr - return @hex as an X action, in a static buffer */
const char *world_expr(const char *hex);

#endif /* _GTP_BLOB_WORLD_H */
