/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For test_patching.c: code in which the real files of probe/jump/ set a jump, while another prober
 * sets a kprobe at the same place. Each change is recorded as a moment.
 */
#ifndef _TEST_WORLD_H
#define _TEST_WORLD_H

#include "base/base.h"
#include "regions/region.h"

enum { WORLD_PADS = 4, WORLD_MOMENTS = 4096 };

/* The event after which a moment was recorded. */
enum world_kind {
	WORLD_WRITE,  /* a byte, or the table of int3s, has changed */
	WORLD_SYNC,   /* every CPU has executed a serialising instruction */
	WORLD_WAIT,   /* the patcher begins to wait until each task has left its code */
	WORLD_WAITED, /* the wait is over: each task has left its code */
	WORLD_FREE,   /* a pad is freed: it may have any contents from now on */
};

/**
 * struct world_moment - the state of text, pads and int3s at a moment
 * @text: the bytes at the place
 * @to: for each byte of the place, the address at which gdbtp's int3 handler lets a task continue
 * that trapped there; 0: the handler does not know an int3 there
 * @pads: bit n is set if the n-th pad exists
 * @other: the kernel knows a kprobe of the other prober at byte 0
 * @other_to: where a task that hit that kprobe continues: a pad; 0: after the first instruction
 */
struct world_moment {
	enum world_kind kind;
	u8 text[GTP_REGION_MAX];
	u64 to[GTP_REGION_MAX];
	u8 pads;
	bool other;
	u64 other_to;
};

/*
 * struct world_other - the numbers of the points at which the other prober registers, arms and
 * unregisters its kprobe; 0: never
 */
struct world_other {
	u32 registers, arms, goes;
};

/**
 * struct world - the place at which the jump is made, and everything that has happened there
 * @region: the instructions that the jump displaces
 * @addr: the address of the place
 * @moment, @n: the moments, from the first change to the last
 * @points: the number of points at which the other prober could have acted
 */
struct world {
	struct gtp_region region;
	u64 addr;
	struct world_moment moment[WORLD_MOMENTS];
	u32 n;
	u32 points;
};

extern struct world world;

/*
 * world_run - arm a jump, redirect it to another pad if @widen, and disarm it, while the other
 * prober acts at the points in @other
 */
void world_run(const u8 *bytes, u32 len, bool widen, struct world_other other);

/*
 * world_pad - find the number of the pad that contains an address, and of the copied instruction at
 * the address (0: the beginning of the pad); return false if no pad contains the address
 */
bool world_pad(u64 addr, u32 *pad, u32 *copy);

#endif /* _TEST_WORLD_H */
