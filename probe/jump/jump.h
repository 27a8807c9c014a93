/* SPDX-License-Identifier: GPL-2.0-only */
/* Hits from jumps that replace instructions: the fastest of the ways to put a probe somewhere. */
#ifndef _GTP_JUMP_H
#define _GTP_JUMP_H

#include "session/trace.h"

struct module;

/*
 * gtp_pad_hit - where pads go with a hit, see jit/pad.h; gtp_pad_called - the same for those that
 * are called; gtp_jump_hit - their C part
 */
void gtp_pad_hit(void);
void gtp_pad_called(void);
void gtp_jump_hit(struct gtp_regs *regs, u32 word);

/*
 * gtp_jump_init, gtp_jump_exit - of the module; at exit nothing is armed, and gtp_host.lock is
 * not held. It waits for probes of others that sit on a jump of ours
 */
int gtp_jump_init(void);
void gtp_jump_exit(void);

/*
 * All of the following: process context, under gtp_host.lock; may sleep, some wait for every task
 * of the machine.
 */

/**
 * gtp_jump_stage() - prepare to put a jump at a location
 * @loc: the location
 * @why: why there will be none
 *
 * Nothing is changed at the location before gtp_jump_commit(). Return: 0; -EOPNOTSUPP: another
 * mechanism must do; -ENOMEM.
 */
int gtp_jump_stage(struct gtp_location *loc, struct gtp_why *why);

/**
 * gtp_jump_commit() - put all jumps in place that have been staged
 * @why: the refusal
 *
 * A place where a jump turns out to be impossible after all gets a kprobe.
 * Return: 0, or -errno: one of these could not be armed; the caller disarms all of them.
 */
int gtp_jump_commit(struct gtp_why *why);

/**
 * gtp_jump_disarm() - take the jumps off a list of locations, staged ones too
 * @first: the list; those without a jump are skipped
 *
 * Returns when no task can be in any of their pads, but for places where somebody else's probe
 * sits on the jump: there the jump stays, does nothing, and is tried again later.
 */
void gtp_jump_disarm(struct gtp_location *first);

/* gtp_jump_batch_ends - nothing that was staged will be committed any more, or it has been */
void gtp_jump_batch_ends(void);

/* gtp_jump_widen - struct gtp_target_ops' widen */
int gtp_jump_widen(struct gtp_location *loc, struct gtp_why *why);

/* gtp_jump_range_in - as gtp_kprobe_range_in() */
bool gtp_jump_range_in(const struct module *mod, bool init, u64 *start, u64 *end);

/**
 * gtp_jump_shadow() - undo our jumps in a copy of text
 * @addr: where the copy is from
 * @buf: the copy
 * @len: its bytes
 */
void gtp_jump_shadow(u64 addr, u8 *buf, u32 len);

/* gtp_jump_count - how many jumps are in the text */
u32 gtp_jump_count(void);

#endif /* _GTP_JUMP_H */
