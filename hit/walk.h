/* SPDX-License-Identifier: GPL-2.0-only */
/* Stacks by what the kernel's unwinder has said of their addresses before. */
#ifndef _GTP_WALK_H
#define _GTP_WALK_H

#include "base/base.h"

enum {
	GTP_WALK_SLOTS = 8192, /* a power of two */
	GTP_WALK_TAGS = 8190,  /* changes of modules that a table outlives as a whole */
};

/*
 * One step of the unwinder at an address, as far as it is the plain case. The caller's
 * stack begins @words behind the stack pointer or behind rbp, and the word in front of it leads to
 * the caller; the caller's rbp is as many words in front of it as GTP_WALK_SAVED() says, or where
 * it was. At the registers of userspace they begin there.
 */
enum gtp_walk_kind {
	GTP_WALK_HAND_OVER, /* anything else */
	GTP_WALK_BY_SP,
	GTP_WALK_BY_BP,
	GTP_WALK_END,  /* there is no caller: a task begins here */
	GTP_WALK_REGS, /* @words behind it are registers: userspace's, or hand over */
};

enum { GTP_WALK_WORDS_MAX = 255 };

/* clang-format off */
#define GTP_WALK_STEP(kind, words, saved) ((u32)(kind) | (u32)(words) << 3 | (u32)(saved) << 11)
#define GTP_WALK_KIND(step) ((step) & 7)
#define GTP_WALK_WORDS(step) ((step) >> 3 & 255)
#define GTP_WALK_SAVED(step) ((step) >> 11 & 255)
/* clang-format on */

/**
 * struct gtp_walk - steps by address
 * @began: @now of the first stack; 0: there was none
 * @slot: the address' lower half, the step << 32, and above GTP_WALK_TAG_SHIFT what the address
 *	  is in: 0, what never goes; else 1 more than the changes of modules since @began. 0: free
 *
 * A slot is one word, read and written as one. So CPUs and NMIs add and look up at once: they find
 * all of an entry or none of it. Two that add at the same place lose one entry, no more.
 */
struct gtp_walk {
	u32 began;
	u64 slot[GTP_WALK_SLOTS];
};

/**
 * struct gtp_walk_ops - the kernel
 * @ask: the step at @at, which the address behind it must be fit for as well, see
 *	 gtp_walk_judge(); @stays: is it in what never goes? false: it cannot be asked now
 */
struct gtp_walk_ops {
	bool (*ask)(void *ctx, u64 at, u32 *step, bool *stays);
	void *ctx;
};

/**
 * struct gtp_walk_from - a stack
 * @begin: the stack's first byte; no address of the lowest page
 * @end: behind its last one
 * @pc: the instruction
 * @sp: rsp in front of it
 * @bp: rbp
 * @hidden: from here on @hidden_bytes are addresses that are left out
 * @now: how often modules have changed, counted from 1; read before what @ask reads
 */
struct gtp_walk_from {
	u64 begin, end;
	u64 pc, sp, bp;
	u64 hidden, hidden_bytes;
	u32 now;
};

/**
 * gtp_walk_take() - the stack at a hit, if each of its addresses is a plain case
 * @w: steps that are known; those that are not are asked for, but not many at a time
 * @ops: the kernel
 * @from: where it begins
 * @to: receives @from's pc and its callers
 * @max: how many, 1 at least
 *
 * Reads only words of the stack.
 *
 * Return: how many; 0: it is to be handed over to the kernel's unwinder.
 */
u32 gtp_walk_take(struct gtp_walk *w, const struct gtp_walk_ops *ops,
		  const struct gtp_walk_from *from, u64 *to, u32 max);

/**
 * struct gtp_walk_try - a step of the unwinder on a made-up stack
 * @sp: rsp before
 * @bp: rbp before
 * @to_sp: rsp behind it
 * @to_bp: rbp behind it
 * @to_ip: where it leads
 * @regs: the registers that it is at; 0: none
 * @done: there is no caller
 * @error: nor did it get to the end
 */
struct gtp_walk_try {
	u64 sp, bp;
	u64 to_sp, to_bp, to_ip, regs;
	bool done, error;
};

enum {
	GTP_WALK_MADE_UP = 1024,  /* words of a made-up stack: word i is GTP_WALK_MARK + i */
	GTP_WALK_MARK = 0x5a0000, /* neither a code's address nor a stack's */
};

/* gtp_walk_make_up - where the two tries begin on the made-up stack at @word */
void gtp_walk_make_up(u64 word, struct gtp_walk_try try[2]);

/**
 * gtp_walk_judge() - the step at an address
 * @word: address of the made-up stack
 * @try: what the unwinder made of both beginnings that gtp_walk_make_up() gave
 *
 * The unwinder's step at an address depends on nothing but the registers and words of the stack:
 * one of them is its base, to which it adds what its tables say. rsp, rbp and everything else are
 * by different distances further in the second try, and no word of the stack is an address of it.
 * So the distance by which a result is further tells the base, and its word tells where it was.
 *
 * Return: the step, GTP_WALK_HAND_OVER where it is no plain case.
 */
u32 gtp_walk_judge(u64 word, const struct gtp_walk_try try[2]);

#endif /* _GTP_WALK_H */
