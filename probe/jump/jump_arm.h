/* SPDX-License-Identifier: GPL-2.0-only */
/* Arms jumps: puts them into the text. */
#ifndef _GTP_JUMP_ARM_H
#define _GTP_JUMP_ARM_H

#include "probe/jump/jump.h"

/*
 * Implement arm and commit of struct gtp_probe_backend: arm leaves the text as it is, commit
 * changes it. Context: process, under gtp_lock; they may sleep, and commit waits until every task
 * has left the old code.
 */
int gtp_jump_stage(struct gtp_location *loc, struct gtp_why *why);
int gtp_jump_commit(struct gtp_why *why);

/*
 * gtp_jump_late_kprobes - look for late kprobes after jumps were written: a place with a kprobe
 * after byte 0 becomes int3 again, as long as that kprobe exists. The function changes ->skip_step
 * of all places
 */
void gtp_jump_late_kprobes(struct gtp_patch **p, u32 n);

#endif /* _GTP_JUMP_ARM_H */
