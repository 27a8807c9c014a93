/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code in a traced process: the agent's image, the common stubs, compiled expressions and pads,
 * in this order in one piece of memory near the program's code.
 */
#ifndef _GTP_HOST_CODE_H
#define _GTP_HOST_CODE_H

#include "hit/run.h"
#include "jit/jit.h"
#include "regions/region.h"
#include "user/agent/agent.h"

/**
 * struct gtp_agent_code - the memory for code
 * @at, @size: its address in the process, and its bytes
 * @kept: bytes of the image and the stubs
 * @used: bytes in use
 * @agent, @shared: the addresses of the process's struct gtp_agent and struct gtp_agent_shared
 * @write: write to the process; return 0 or -errno
 * @ctx: passed to @write
 * @hit_ops, @no_actions: members for the run, which are inside the process
 * @target: the target for the compiler
 * @tsvs: the variables of the run that is being compiled
 */
struct gtp_agent_code {
	u64 at;
	u32 size;
	u32 kept;
	u32 used;
	u64 agent, shared;
	int (*write)(void *ctx, u64 addr, const void *src, u64 len);
	void *ctx;
	const struct gtp_hit_ops *hit_ops;
	void *no_actions;
	struct ax_jit_target target;
	const struct gtp_tsvs *tsvs;
};

/**
 * struct gtp_agent_pad - a pad
 * @at: its address
 * @len: its bytes
 * @copy: the address in it of the copy of each displaced instruction
 */
struct gtp_agent_pad {
	u64 at;
	u32 len;
	u64 copy[GTP_REGION_JUMP];
};

/*
 * gtp_agent_code_init - write the image, for which @c->at, @size, @agent, @write and @ctx are set.
 * Return 0; -EINVAL: @image is none; -ENOSPC; or the error of @write
 */
int gtp_agent_code_init(struct gtp_agent_code *c, const void *image, u32 bytes);

/* Compile for a run; these are functions of struct gtp_target_ops, for a host that has one code. */
int gtp_agent_code_make(struct gtp_agent_code *c, struct gtp_expr *e, u64 pc);
int gtp_agent_code_make_actions(struct gtp_agent_code *c, struct gtp_tracepoint *tp);

/* gtp_agent_code_forget - free all code except the image; no thread may run it */
void gtp_agent_code_forget(struct gtp_agent_code *c);

/**
 * gtp_agent_code_pad() - make the pad of a location
 * @c: the code
 * @loc: the location
 * @region: the instructions that the jump displaces
 * @number: the pad's number, by which the agent finds the tracepoints
 * @pad: receives the pad
 *
 * The best pad that is possible: it evaluates the condition and writes the frame, or only the
 * former, or it leaves everything to C.
 * Return: 0; -ENOSPC; -EOPNOTSUPP if an instruction cannot be moved; or another -errno.
 */
int gtp_agent_code_pad(struct gtp_agent_code *c, const struct gtp_location *loc,
		       const struct gtp_region *region, u32 number, struct gtp_agent_pad *pad);

#endif /* _GTP_HOST_CODE_H */
