/* SPDX-License-Identifier: GPL-2.0-only */
/* Arming: put jumps into the text. */
#ifndef _GTP_JUMP_ARM_H
#define _GTP_JUMP_ARM_H

#include "probe/jump/jump.h"

/*
 * struct gtp_probe_backend's arm and commit; arm leaves the text as it is, commit changes it.
 * Process context, under gtp_lock; may sleep, commit until every task has left the old code.
 */
int gtp_jump_stage(struct gtp_location *loc, struct gtp_why *why);
int gtp_jump_commit(struct gtp_why *why);

/*
 * gtp_jump_late_kprobes - after jumps were written: places with a kprobe after byte 0 are int3
 * again, and stay so as long as it is there. Leaves ->skip_step of each place as it last needed it
 */
void gtp_jump_late_kprobes(struct gtp_patch **p, u32 n);

#endif /* _GTP_JUMP_ARM_H */
