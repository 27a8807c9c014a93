/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of a run: what the hits of each thread write, with the buffers. */
#ifndef _GTP_HOST_PARTS_H
#define _GTP_HOST_PARTS_H

#include "user/agent/agent.h"
#include "user/host/space.h"

enum { GTP_AGENT_STACK = 65536 }; /* bytes of the stack of a part, which signal handlers may use */

/**
 * struct gtp_agent_parts - a request for parts
 * @n: how many threads can hit
 * @each: bytes of the buffer of each; a multiple of 8, at least GTP_BUFFER_MIN
 * @circular: see struct gtp_buffer
 * @nslots: counters in each
 * @stacks: the address of GTP_AGENT_STACK bytes for each part; 0: hits run on the threads' stacks
 */
struct gtp_agent_parts {
	u32 n;
	u32 each;
	bool circular;
	u32 nslots;
	u64 stacks;
};

/*
 * gtp_agent_parts_get - allocate parts, and make @shared use them; return an array of pointers to
 * their struct gtp_cpu, or NULL if there is no room
 */
struct gtp_cpu **gtp_agent_parts_get(struct gtp_space *s, struct gtp_agent_shared *shared,
				     const struct gtp_agent_parts *p);

/* gtp_agent_parts_put - free parts, which no hit uses any more */
void gtp_agent_parts_put(struct gtp_space *s, struct gtp_agent_shared *shared,
			 struct gtp_cpu **cpus, u32 n);

/* gtp_agent_parts_used - true if the hit of a thread is running, as far as its part shows */
bool gtp_agent_parts_used(const struct gtp_agent_shared *shared);

/*
 * gtp_agent_calibrate - find out how the time stamp counter relates to CLOCK_MONOTONIC and to the
 * time of day; takes some milliseconds
 */
void gtp_agent_calibrate(struct gtp_agent_shared *shared);

#endif /* _GTP_HOST_PARTS_H */
