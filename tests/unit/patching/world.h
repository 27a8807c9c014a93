/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For test_patching.c: a function in whose code the real files of probe/jump/ put a jump, and
 * another prober in the same place. Everything that they write is recorded moment by moment.
 */
#ifndef _TEST_WORLD_H
#define _TEST_WORLD_H

#include "base/base.h"
#include "regions/region.h"

enum { WORLD_PADS = 4, WORLD_MOMENTS = 4096 };

/* The event that makes a moment. */
enum world_kind {
	WORLD_WRITE,  /* a byte, or the table of int3s, has changed */
	WORLD_SYNC,   /* every CPU has executed a serialising instruction */
	WORLD_WAIT,   /* the patcher begins to wait until each task has been elsewhere */
	WORLD_WAITED, /* each task has been elsewhere */
	WORLD_FREE,   /* a pad is free: it may hold anything */
};

/**
 * struct world_moment - the state of text, pads and int3s at a moment
 * @text: the bytes at the place
 * @to: for each byte of the place, the address to which the handler of our int3s sends a task that
 * trapped there; 0: the byte is not one of our int3s
 * @pads: bit n is set if the n-th pad exists
 * @other: another prober's breakpoint is known to the kernel at byte 0
 * @other_to: where a task that trapped there continues: a pad, or 0: after the first instruction
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
 * struct world_other - the points at which the other prober registers, arms and unregisters; 0:
 * never
 */
struct world_other {
	u32 registers, arms, goes;
};

/**
 * struct world - the place at which the jump is made, and everything that has happened there
 * @region: the instructions that the jump displaces
 * @addr: the address of the place
 * @moment, @n: the moments, from the first change to the last
 * @points: how often the other prober could have done something
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
 * world_run - arm, redirect the jump to another pad if @widen, disarm, as a run does, while the
 * other prober does its part
 */
void world_run(const u8 *bytes, u32 len, bool widen, struct world_other other);

/*
 * world_pad - find the pad that contains an address, and the copy that the address is at (0: the
 * beginning of the pad); false if no pad contains it
 */
bool world_pad(u64 addr, u32 *pad, u32 *copy);

#endif /* _TEST_WORLD_H */
