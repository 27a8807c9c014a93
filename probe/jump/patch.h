/* SPDX-License-Identifier: GPL-2.0-only */
/* Turn kernel text into jumps and back, many places at once, while other CPUs execute it. */
#ifndef _GTP_PATCH_H
#define _GTP_PATCH_H

#include <linux/list.h>
#include <linux/types.h>

#include "regions/region.h"

/*
 * A place goes through these states; each step changes many places and returns when all CPUs have
 * seen the change.
 *
 *	TEXT -> INT3_TEXT -> INT3_ALL -> (wait: no task is in its bytes) -> INT3_JUMP -> JUMP
 *	JUMP -> INT3_JUMP -> INT3_ALL -> INT3_TEXT -> TEXT
 *
 * An int3 in byte 0 keeps all CPUs out of the bytes after it while they change: a task that traps
 * there resumes at the pad. A task that was already past byte 0 traps at its next instruction and
 * resumes at the copy of that instruction.
 *
 * In INT3_ALL every byte is int3. After an int3 that is not its own, the kernel treats every byte
 * as the start of an instruction and accepts kprobes there, unless that byte is an int3, too.
 */
enum gtp_patch_state {
	GTP_PATCH_TEXT,
	GTP_PATCH_INT3_TEXT, /* our int3 in the first byte of each instruction */
	GTP_PATCH_INT3_ALL,  /* int3 in all bytes */
	GTP_PATCH_INT3_JUMP, /* our int3 in byte 0, and the jump's bytes after it */
	GTP_PATCH_JUMP,
};

/**
 * struct gtp_patch_mark - one displaced instruction of a place
 * @watched: the mark's entry in the table in which the int3 handler looks up @addr
 * @addr: the address of the instruction
 * @to: where a task that trapped at @addr resumes; for the first mark it may change while its int3
 *      is in place
 */
struct gtp_patch_mark {
	struct hlist_node watched;
	u64 addr;
	u64 to;
};

/**
 * struct gtp_patch - one place whose text is replaced by a jump
 * @addr: the address of the place
 * @len: bytes that are replaced, from GTP_REGION_JUMP to GTP_REGION_MAX
 * @state: enum gtp_patch_state
 * @lost: the bytes were not the expected ones, because another prober has written there; @state is
 *        the state after the last step that succeeded
 * @skip_step: steps leave the place as it is; set and cleared between steps by their caller
 * @old: the original bytes of the place
 * @front: the bytes before @addr, read before the list of kprobes was read
 * @new: the jump, and one filler instruction in the bytes after it
 * @alias: the writable address of the place, between gtp_patch_open() and gtp_patch_close()
 * @marks: number of displaced instructions
 * @mark: a mark for each displaced instruction, in order; the first is at @addr
 */
struct gtp_patch {
	u64 addr;
	u8 len;
	u8 state;
	bool lost;
	bool skip_step;
	u8 old[GTP_REGION_MAX];
	u8 front[GTP_REGION_JUMP - 1];
	u8 new[GTP_REGION_MAX];
	u8 *alias;
	u32 marks;
	struct gtp_patch_mark mark[GTP_REGION_JUMP];
};

/*
 * gtp_patch_init, gtp_patch_exit - called at module load and unload; at unload no place may be
 * patched any more
 */
int gtp_patch_init(void);
void gtp_patch_exit(void);

/*
 * gtp_patch_set - prepare the jump to @to: @addr, @len, @old and @mark are filled in, the state is
 * TEXT or INT3_ALL. Return 0; or -ERANGE if @to is out of reach, with nothing changed
 */
int gtp_patch_set(struct gtp_patch *p, u64 to);

/**
 * gtp_patch_open() - map places writable, at another address
 * @p: sorted by address; no two overlap. Their text stays mapped: the kernel's own, or that of a
 *     module whose unloading waits for the caller
 * @n: the number of places
 * @view: receives the mapping, for gtp_patch_close()
 *
 * Context: process, may sleep; one caller at a time from here to gtp_patch_close().
 * Return: 0 or -ENOMEM.
 */
int gtp_patch_open(struct gtp_patch **p, u32 n, void **view);
void gtp_patch_close(struct gtp_patch **p, u32 n, void *view);

/*
 * The steps: each changes the places that are in the state it begins with, and that are neither
 * @lost nor @skip_step. Each function returns when every CPU has seen the new bytes. Context:
 * process, interrupts on, between open and close.
 */

/*
 * gtp_patch_int3 - change TEXT to INT3_TEXT. @lost: the bytes are not @old, and nothing was written
 */
void gtp_patch_int3(struct gtp_patch **p, u32 n);

/*
 * gtp_patch_text - change INT3_ALL or INT3_TEXT to TEXT. @lost: another prober overwrote byte 0.
 * That prober may write our int3 back later (a kprobe before the place may have saved it): keep
 * watching the place
 */
void gtp_patch_text(struct gtp_patch **p, u32 n);

/*
 * gtp_patch_covered - true if another prober's jump may begin before a place that has our int3s and
 * reach into it. If so, the bytes of the place must not be written, even if they are as expected
 */
bool gtp_patch_covered(const struct gtp_patch *p);

/*
 * gtp_patch_jump - change INT3_ALL or INT3_JUMP to JUMP; no task may be in the bytes. If another
 * prober has written after byte 0, the place does not change. @lost: byte 0 was overwritten; the
 * bytes after it are text again, or the other prober's; @state is TEXT
 */
void gtp_patch_jump(struct gtp_patch **p, u32 n);

/*
 * gtp_patch_int3_jump - change JUMP to INT3_JUMP. @lost: the bytes are not our jump, and nothing
 * was written
 */
void gtp_patch_int3_jump(struct gtp_patch **p, u32 n);

/*
 * gtp_patch_int3_all - change INT3_TEXT or INT3_JUMP to INT3_ALL. @lost: byte 0 was overwritten.
 * Then a place in INT3_TEXT keeps its state, and a place in INT3_JUMP ends as gtp_patch_jump()
 * describes
 */
void gtp_patch_int3_all(struct gtp_patch **p, u32 n);

/*
 * gtp_patch_watch - begin to handle the place's int3s; call it before the first step.
 * gtp_patch_unwatch - stop handling them; call it after the last step
 */
void gtp_patch_watch(struct gtp_patch *p);
void gtp_patch_unwatch(struct gtp_patch *p);
bool gtp_patch_is_watched(const struct gtp_patch *p);

#endif /* _GTP_PATCH_H */
