/* SPDX-License-Identifier: GPL-2.0-only */
/* A request for a jump pad, as gtp_pad_plan() receives it. */
#ifndef _GTP_PAD_REQUEST_H
#define _GTP_PAD_REQUEST_H

#include "hit/run.h"
#include "jit/jit.h"
#include "regions/region.h"

/**
 * struct gtp_pad_gates - the gates through which a pad calls the rest of the function
 * @framed: address to go to if pad_hit leaves the carry flag set
 * @bare: address to go to if pad_hit leaves only the zero flag set
 * @rest: receives the offset in the pad of the code that both of them call
 */
struct gtp_pad_gates {
	u64 framed, bare;
	u32 rest;
};

/**
 * struct gtp_pad_chain - one of the pads of a place with several tracepoints, one pad for each
 * @next: the next tracepoint's pad, to go to instead of the displaced instructions; 0: this is the
 *	last pad, which has the displaced instructions
 * @after: with @next: the address to go to after pad_hit, which has handled all other tracepoints
 * @rest: in the last pad: receives the offset of the displaced instructions
 */
struct gtp_pad_chain {
	u64 next, after;
	u32 rest;
};

/**
 * struct gtp_pad_frame - a frame that the pad writes by itself
 * @tp: the tracepoint, which must live as long as the pad
 * @items, @nitems: the tracepoint's actions, which must live until ax_jit_emit()
 * @cpu, @task: offsets in the GS segment of the pointers to this CPU's struct gtp_cpu and to the
 *              running task
 * @tgid: offset of tgid in a task
 * @location: address of a word that becomes 0 when the pad's hits no longer count; 0: the pad is
 *	never entered after that moment
 * @self_mask, @self_value: addresses of the members of gtp_self_test, the test for tasks that are
 *                          not traced
 * @cs, @ss: the values of these registers at a hit
 * @cli: turn interrupts off, which userspace may not do
 * @update: not 0 if hits of @tp write no frame: the address of the snippet of @items. The pad calls
 *	it while plan.update_alone of @tp is this address
 * @failed: with @update: the address of gtp_hit_failed()
 * @ways: with @update: the enum ax_tsv_way of each variable
 * @clac: with @update: clear the flag AC before the call, as the processor has SMAP
 * @parts: in a process: the table of enum gtp_pad_parts that maps a thread's key, the word at the
 *	beginning of its FS segment, to its struct gtp_cpu; then @cpu, @task, @tgid, @self_mask and
 *	@self_value are unused. 0: in the kernel
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
	u64 update, failed;
	const u8 *ways;
	bool clac;
	u64 parts;
};

/*
 * The table of threads: GTP_PAD_PARTS entries of 16 bytes, the key of a thread and the address of
 * its struct gtp_cpu. A pad looks only at the entry whose index is (key * GTP_PAD_PARTS_HASH) >>
 * GTP_PAD_PARTS_SHIFT, and leaves all other hits to pad_hit. A forked child finds a table of zeros,
 * so its pads leave every hit to pad_hit.
 */
enum gtp_pad_parts {
	GTP_PAD_PARTS_HASH = 0x61c88647,
	GTP_PAD_PARTS_SHIFT = 52,
	GTP_PAD_PARTS = 1 << (64 - GTP_PAD_PARTS_SHIFT),
};

/**
 * struct gtp_pad_request - a pad to make
 * @region: the instructions that the jump displaces; NULL: ftrace calls the pad
 * @cond: the condition to evaluate here, or NULL; see gtp_pad_can()
 * @ways: the enum ax_tsv_way of each variable, indexed by its number; NULL: the condition names no
 *	variable of tasks
 * @target: the place where the pad runs; all its pads call C through @target->pad_hit
 * @at: the probed address, and the value of rip
 * @skip: bytes from @at to the displaced instructions: the size of a no-op that stays in place
 * @number: the number that the pad passes to pad_hit; less than 1 << 30
 * @keep_flags: pad_hit must see the hit's arithmetic flags, even if they are dead
 * @copies: receives the offset in the pad of each displaced instruction's copy, where a task that
 *	was interrupted before the original can resume; or NULL
 * @held: for a pad without a region, to which a function's first instructions jump (a kernel
 *	tracepoint's): the address to go to if the condition is true, with unchanged registers,
 *	instead of calling pad_hit. If the condition is false, the pad returns to the function's
 *	caller. 0: not such a pad
 * @open: with @held: the address to go to if the condition could not be evaluated
 * @gates: not NULL if the pad is at a function's first instruction and may follow the function's
 *	calls until they return
 * @chain: the pad's place in the chain of a location with several tracepoints; or NULL
 * @frame: the frame that the pad writes at a hit by itself; or NULL. It must be NULL with @gates,
 *	and without @cond if the tracepoint has a condition. With @held the pad returns to the
 *	function's caller after writing the frame
 * @seed: changes which registers are used, see struct ax_jit_request
 */
struct gtp_pad_request {
	const struct gtp_region *region;
	const struct ax_verified *cond;
	const u8 *ways;
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
