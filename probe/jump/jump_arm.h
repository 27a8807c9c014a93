/* SPDX-License-Identifier: GPL-2.0-only */
/* Jumps come into the text. */
#ifndef _GTP_JUMP_ARM_H
#define _GTP_JUMP_ARM_H

#include "probe/jump/jump.h"

/*
 * struct gtp_probe_backend's arm (nothing is changed at the location before the commit), commit and
 * widen. Process context, under gtp_lock; may sleep, some wait for every task of the machine.
 */
int gtp_jump_stage(struct gtp_location *loc, struct gtp_why *why);
int gtp_jump_commit(struct gtp_why *why);
int gtp_jump_widen(struct gtp_location *loc, struct gtp_why *why);

#endif /* _GTP_JUMP_ARM_H */
