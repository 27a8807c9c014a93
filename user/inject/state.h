/* SPDX-License-Identifier: GPL-2.0-only */
/* A process that is changed: the state of inject.h, for its own sources. */
#ifndef _GTP_STATE_H
#define _GTP_STATE_H

#include <sched.h>

#include "user/inject/memory.h"

/*
 * struct gtp_leaving - a pad that a thread may still be in, and the address at which it comes back
 */
struct gtp_leaving {
	u64 pad;
	u32 pad_len;
	u64 back;
};

/**
 * struct gtp_inject - a process that is changed
 * @p: the process
 * @mem: a descriptor of its memory, for writing too
 * @stop: its threads, if @stopped
 * @areas: the memory that was mapped for us
 * @set, @nset: the jumps in the process, sorted by address
 * @leaving, @nleaving: the pads without a jump that threads may still be in
 * @hurries, @policy, @param: true during a batch if this thread has another priority then, and the
 *	one that it had before
 * @began: when the first thread was stopped, in ns
 * @stats: counts for the caller
 */
struct gtp_inject {
	struct gtp_process *p;
	int mem;
	bool stopped;
	struct gtp_stop stop;
	struct gtp_areas areas;
	struct gtp_patch **set;
	u32 nset;
	struct gtp_leaving *leaving;
	u32 nleaving;
	u64 began;
	struct gtp_inject_stats stats;
	bool hurries;
	int policy;
	struct sched_param param;
};

#endif /* _GTP_STATE_H */
