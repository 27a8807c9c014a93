/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stands in for the data of the kernel that a pad uses: the running task, and variables of the
 * module.
 */
#ifndef _GTP_PADTASK_H
#define _GTP_PADTASK_H

#include "aggregate/tasks.h"
#include "pad/request.h"

/* struct padtask - the contents of the GS segment, and of the running task in it */
struct padtask {
	u32 cpu;
	u64 self;
	u32 faults;
	s32 pid;
	u32 contexts;
	u64 regs;
	u32 ring;
	s32 tgid;
	u64 part; /* the address of this CPU's struct gtp_cpu */
};

/**
 * struct padtask_low - words in the lower 2 GiB. Pads that write frames contain the addresses of
 * these words
 * @location: 0: the pad's hits are no longer wanted
 * @mask, @value: a task is not traced if its tgid & @mask is @value
 * @used: stands in for gtp_tasks_used
 */
struct padtask_low {
	u64 location;
	u32 mask, value;
	u32 used[GTP_TASKS_BUCKETS];
};

enum {
	PADTASK_CS = 0x10, /* the values of cs and ss in frames */
	PADTASK_SS = 0x18,
};

/* padtask_low - return the words in the lower 2 GiB, which the first call maps */
struct padtask_low *padtask_low(void);

/*
 * padtask_frame - fill in @frame for @tp with its actions. The caller must not free them before
 * @frame
 */
void padtask_frame(struct gtp_pad_frame *frame, const struct gtp_tracepoint *tp,
		   const struct ax_jit_item *items, u32 nitems);

/* padtask_collects_flags - true if the actions collect the flags, for the request's @keep_flags */
bool padtask_collects_flags(const struct gtp_pad_frame *frame);

#endif /* _GTP_PADTASK_H */
