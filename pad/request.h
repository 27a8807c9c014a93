/* SPDX-License-Identifier: GPL-2.0-only */
/* A request for a jump pad: for pad/pad.h. */
#ifndef _GTP_PAD_REQUEST_H
#define _GTP_PAD_REQUEST_H

#include "hit/run.h"
#include "jit/jit.h"
#include "regions/region.h"

/**
 * struct gtp_pad_gates - ways to the rest of the function that come back
 * @framed: where to go with carry
 * @bare: where to go with zero alone
 * @rest: receives the offset in the pad of what both of them call
 */
struct gtp_pad_gates {
	u64 framed, bare;
	u32 rest;
};

/**
 * struct gtp_pad_chain - one of the pads of a place with several tracepoints, one pad for each
 * @next: where it goes on in place of the displaced instructions: the next tracepoint's pad. 0: it
 *	is the last one, which has them
 * @after: with @next: where it goes on behind a call of pad_hit, which has done all that is left
 * @rest: of the last one: receives the offset of the displaced instructions
 */
struct gtp_pad_chain {
	u64 next, after;
	u32 rest;
};

/**
 * struct gtp_pad_frame - a frame that the pad writes by itself
 * @tp: whose frame; it must stay as long as the pad
 * @items, @nitems: its actions; they must stay until ax_jit_emit()
 * @cpu, @task: where in the GS segment the addresses of this CPU's part and of the running task are
 * @tgid: where in a task its process's number is
 * @location: where a word is that is 0 when the pad's hits are not wanted any more; 0: then none
 *	come
 * @self_mask, @self_value: where the test for tasks that are not traced has its two words
 * @cs, @ss: what these registers read as
 * @cli: turn interrupts off; not in userspace, which may not
 *
 * @location, @self_mask and @self_value must fit a sign-extended displacement.
 */
struct gtp_pad_frame {
	const struct gtp_tracepoint *tp;
	const struct ax_jit_item *items;
	u32 nitems;
	s32 cpu, task;
	s32 tgid;
	u64 location;
	u64 self_mask, self_value;
	u32 cs, ss;
	bool cli;
};

/**
 * struct gtp_pad_request - what to make
 * @region: what the jump displaces; NULL: control comes by a call, from ftrace
 * @cond: condition to evaluate here, or NULL; see gtp_pad_can()
 * @target: where; @target->pad_hit is the common way to C
 * @at: the probed address; what rip reads as
 * @skip: bytes from there to the displaced instructions: a no-op that stays
 * @number: given to pad_hit, below 1 << 30
 * @keep_flags: pad_hit must see the hit's arithmetic flags, even when nothing else does
 * @copies: receives the offset in the pad of each displaced instruction's copy, where a task that
 *	was interrupted in front of the original can resume; or NULL
 * @held: of a pad that control comes to by a jump at a function's first instruction, without a
 *	region: where it goes on when the condition holds, with all registers as they were, instead
 *	of by pad_hit; a false condition returns to the function's caller. 0: none of this
 * @open: with it: where it goes on when the condition is still to be evaluated
 * @gates: the pad is at a function's first instruction, and may follow its calls; or NULL
 * @chain: where it stands among those of a place with several tracepoints; or NULL
 * @frame: what the pad records at a hit by itself; or NULL. Not with @gates, nor without @cond
 *	where the tracepoint has a condition. With @held it returns to the function's caller then
 * @seed: as in struct ax_jit_request
 */
struct gtp_pad_request {
	const struct gtp_region *region;
	const struct ax_verified *cond;
	const struct ax_jit_target *target;
	u64 at;
	u32 skip;
	u32 number;
	bool keep_flags;
	u32 *copies;
	u64 held, open;
	struct gtp_pad_gates *gates;
	struct gtp_pad_chain *chain;
	const struct gtp_pad_frame *frame;
	u32 seed;
};

#endif /* _GTP_PAD_REQUEST_H */
