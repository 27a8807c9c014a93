/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind kernel stacks quickly: remember for each address which step the kernel's unwinder took
 * there, and repeat that step.
 */
#ifndef _GTP_WALK_H
#define _GTP_WALK_H

#include "base/base.h"

enum {
	GTP_WALK_SLOTS = 8192, /* number of slots; a power of two */
	GTP_WALK_TAGS = 8190,  /* most changes of modules that a tag of @slot can count */
};

/*
 * A plain step of the unwinder, from an address to its caller. The caller's stack begins above rsp
 * or rbp, @words words away, and the word just below it is the return address. The caller's rbp was
 * saved GTP_WALK_SAVED() words below the caller's stack, or is still in rbp. For GTP_WALK_REGS,
 * saved registers begin where the caller's stack would begin.
 */
enum gtp_walk_kind {
	GTP_WALK_HAND_OVER, /* not plain: the kernel's unwinder has to follow the stack */
	GTP_WALK_BY_SP,
	GTP_WALK_BY_BP,
	GTP_WALK_END,  /* there is no caller: a task begins here */
	GTP_WALK_REGS, /* registers were saved @words above the base; userspace's end the stack */
};

enum { GTP_WALK_WORDS_MAX = 255 };

/* clang-format off */
#define GTP_WALK_STEP(kind, words, saved) ((u32)(kind) | (u32)(words) << 3 | (u32)(saved) << 11)
#define GTP_WALK_KIND(step) ((step) & 7)
#define GTP_WALK_WORDS(step) ((step) >> 3 & 255)
#define GTP_WALK_SAVED(step) ((step) >> 11 & 255)
/* clang-format on */

/**
 * struct gtp_walk - the known steps of the unwinder, by address
 * @began: @now of the first walk, see struct gtp_walk_from; 0: nothing was walked yet
 * @slot: for each known step the lower half of the address, the step << 32, and a tag << TAG_SHIFT
 *	  (hit/walk.c). The tag is 0 for code that is never freed; otherwise it is 1 plus the number
 *	  of times that modules changed since @began. A slot that is 0 is free
 *
 * A slot is read and written as one word, so CPUs and NMIs can add and look up steps concurrently:
 * they find a whole entry or none. If two of them write to the same slot, only one entry is lost.
 */
struct gtp_walk {
	u32 began;
	u64 slot[GTP_WALK_SLOTS];
};

/**
 * struct gtp_walk_ops - how to ask the kernel's unwinder
 * @ask: find the unwinder's step at @at, see gtp_walk_judge(). @at + 1 must be an address of code
 *	 as well. Set @stays to true if the code is never freed. Return false if the unwinder cannot
 *	 be asked now
 */
struct gtp_walk_ops {
	bool (*ask)(void *ctx, u64 at, u32 *step, bool *stays);
	void *ctx;
};

/**
 * struct gtp_walk_from - where a stack begins, and its limits
 * @begin: the address of the stack's first byte; not in the first page of the address space
 * @end: the address after the stack's last byte
 * @pc: the address of the instruction that was hit
 * @sp: rsp before the instruction
 * @bp: rbp before the instruction
 * @hidden: leave out return addresses in the @hidden_bytes bytes that start at this address
 * @now: 1 plus the number of times that modules have changed; read before @ask reads anything
 */
struct gtp_walk_from {
	u64 begin, end;
	u64 pc, sp, bp;
	u64 hidden, hidden_bytes;
	u32 now;
};

/**
 * gtp_walk_take() - take the stack at a hit, if each step is a plain one
 * @w: the known steps; asks the kernel's unwinder for a few unknown ones at each call
 * @ops: how to ask the kernel's unwinder
 * @from: where the stack begins
 * @to: receives @from's pc and its callers
 * @max: the room in @to, at least 1
 *
 * Reads only words of the stack.
 *
 * Return: the number of addresses; or 0 if the kernel's unwinder has to take this stack.
 */
u32 gtp_walk_take(struct gtp_walk *w, const struct gtp_walk_ops *ops,
		  const struct gtp_walk_from *from, u64 *to, u32 max);

/**
 * struct gtp_walk_try - one step of the unwinder on a made-up stack
 * @sp: rsp before the step
 * @bp: rbp before the step
 * @to_sp: rsp after the step
 * @to_bp: rbp after the step
 * @to_ip: the address at which the step arrives
 * @regs: the address of saved registers that the step has found; 0: none
 * @done: true if there is no caller
 * @error: true if the unwinder gave up
 */
struct gtp_walk_try {
	u64 sp, bp;
	u64 to_sp, to_bp, to_ip, regs;
	bool done, error;
};

enum {
	GTP_WALK_MADE_UP = 1024,  /* words of a made-up stack: word i is GTP_WALK_MARK + i */
	GTP_WALK_MARK = 0x5a0000, /* an address that is neither code nor stack */
};

/*
 * gtp_walk_make_up - prepare two tries on the made-up stack at @word: set their registers before
 * the step
 */
void gtp_walk_make_up(u64 word, struct gtp_walk_try try[2]);

/**
 * gtp_walk_judge() - find the step that the unwinder takes at an address
 * @word: address of the made-up stack
 * @try: the two tries that gtp_walk_make_up() prepared, with the unwinder's results
 *
 * The unwinder's step at an address depends only on registers and words of the stack. One of them
 * is the base, to which the unwinder adds a constant from its tables. In the second try rsp and rbp
 * are moved, each by another distance, and no word of the stack is an address on the stack. So the
 * distance by which a result differs between the tries shows its base, and a word of the stack in a
 * result shows from where it was read.
 *
 * Return: the step; GTP_WALK_HAND_OVER if it is not a plain case.
 */
u32 gtp_walk_judge(u64 word, const struct gtp_walk_try try[2]);

#endif /* _GTP_WALK_H */
