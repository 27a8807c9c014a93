/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel text becomes a jump and text again, many places at once, while other CPUs run it. */
#ifndef _GTP_PATCH_H
#define _GTP_PATCH_H

#include <linux/list.h>
#include <linux/types.h>

#include "regions/region.h"

/*
 * A place goes through these states; each step is made for many places and then seen by all CPUs.
 *
 *	TEXT -> INT3_TEXT -> INT3_ALL -> (wait: nobody is among its bytes) -> INT3_JUMP -> JUMP
 *	JUMP -> INT3_JUMP -> INT3_ALL -> INT3_TEXT -> TEXT
 *
 * A breakpoint in the first byte keeps everybody out of the bytes behind it while they change, and
 * a task that meets it goes on at the pad; one that was among them meets the breakpoint at the next
 * instruction and goes on at the copy of that.
 *
 * In INT3_ALL all is breakpoints. Behind one that it does not know the kernel takes every byte for the
 * start of an instruction, and would let others set kprobes there; but not where that instruction
 * is a breakpoint, too.
 */
enum gtp_patch_state {
	GTP_PATCH_TEXT,
	GTP_PATCH_INT3_TEXT, /* our int3 in the first byte of each instruction */
	GTP_PATCH_INT3_ALL, /* int3 in all bytes */
	GTP_PATCH_INT3_JUMP, /* our int3 and the new bytes */
	GTP_PATCH_JUMP,
};

/**
 * struct gtp_patch_mark - an instruction of a place
 * @watched: for whoever meets the breakpoint in its first byte
 * @addr: its address
 * @to: where he goes; that of the first may change while he can come
 */
struct gtp_patch_mark {
	struct hlist_node watched;
	u64 addr;
	u64 to;
};

/**
 * struct gtp_patch - one place
 * @addr: its address
 * @len: bytes that are replaced, from GTP_REGION_JUMP to GTP_REGION_MAX
 * @state: enum gtp_patch_state
 * @lost: the bytes were not what they should be: somebody else writes there; @state tells how far
 *        it went
 * @skip: the steps leave it alone
 * @old: the text
 * @front: the bytes before it, from before kprobes there were looked for
 * @new: the jump, and one instruction in what is left
 * @alias: where it can be written, between gtp_patch_open() and gtp_patch_close()
 * @marks: instructions
 * @mark: them, in order; the first is at @addr
 */
struct gtp_patch {
	u64 addr;
	u8 len;
	u8 state;
	bool lost;
	bool skip;
	u8 old[GTP_REGION_MAX];
	u8 front[GTP_REGION_JUMP - 1];
	u8 new[GTP_REGION_MAX];
	u8 *alias;
	u32 marks;
	struct gtp_patch_mark mark[GTP_REGION_JUMP];
};

/* gtp_patch_init, gtp_patch_exit - of the module; exit: all places are text again */
int gtp_patch_init(void);
void gtp_patch_exit(void);

/*
 * gtp_patch_set - what will be written: @addr, @len, @old and @mark are there, the state is TEXT
 * or INT3_ALL; 0, or -ERANGE: too far, and nothing has changed
 */
int gtp_patch_set(struct gtp_patch *p, u64 to);

/**
 * gtp_patch_open() - make places writable, at another address
 * @p: sorted by address; no two overlap. Their text stays: the kernel's own, or that of a module
 *     whose end waits for the caller
 * @n: how many
 * @view: receives what gtp_patch_close() wants
 *
 * Context: process, may sleep; one caller at a time from here to gtp_patch_close().
 * Return: 0 or -ENOMEM.
 */
int gtp_patch_open(struct gtp_patch **p, u32 n, void **view);
void gtp_patch_close(struct gtp_patch **p, u32 n, void *view);

/*
 * The steps: each takes the places that are in the state it begins with, not @lost and not to be
 * skipped, and returns when every CPU has seen it. Context: process, interrupts on, between open
 * and close.
 */

/* gtp_patch_int3 - TEXT to INT3_TEXT. @lost: the bytes have changed, and nothing was written */
void gtp_patch_int3(struct gtp_patch **p, u32 n);

/*
 * gtp_patch_text - INT3_ALL or INT3_TEXT to TEXT. @lost: the first byte is somebody else's, and
 * so is what he will make of it: a kprobe in front may have copied our breakpoint, and bring it
 * back when it goes. The place is to be watched
 */
void gtp_patch_text(struct gtp_patch **p, u32 n);

/*
 * gtp_patch_covered - may somebody's jump from the bytes in front reach over a place that is
 * broken? Then its bytes are nobody's to change, whatever they look like
 */
bool gtp_patch_covered(const struct gtp_patch *p);

/*
 * gtp_patch_jump - INT3_ALL or INT3_JUMP to JUMP; nobody may be among its bytes. One in whose other
 * bytes somebody has written stays as it is. @lost: the first byte is somebody else's, and the
 * others are text or his; @state is TEXT
 */
void gtp_patch_jump(struct gtp_patch **p, u32 n);

/*
 * gtp_patch_int3_jump - JUMP to INT3_JUMP. @lost: the bytes are not our jump, and nothing was
 * written
 */
void gtp_patch_int3_jump(struct gtp_patch **p, u32 n);

/*
 * gtp_patch_int3_all - INT3_TEXT or INT3_JUMP to INT3_ALL. @lost: the first byte is somebody else's;
 * INT3_TEXT stays, the other is as with gtp_patch_jump()
 */
void gtp_patch_int3_all(struct gtp_patch **p, u32 n);

/* gtp_patch_watch, gtp_patch_unwatch - from before the first step until after the last */
void gtp_patch_watch(struct gtp_patch *p);
void gtp_patch_unwatch(struct gtp_patch *p);
bool gtp_patch_is_watched(const struct gtp_patch *p);

#endif /* _GTP_PATCH_H */
