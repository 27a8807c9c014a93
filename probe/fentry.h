/* SPDX-License-Identifier: GPL-2.0-only */
/* Hits from function entries by direct calls of the function tracer. */
#ifndef _GTP_FENTRY_H
#define _GTP_FENTRY_H

#include "session/trace.h"

struct gtp_jump;

/* All of it: process context, under gtp_host.lock; sleeps. */

/**
 * gtp_fentry_arm() - have a function's entry call a pad
 * @loc: its location, at the function's first address
 * @why: the refusal
 *
 * Hits may come before it returns.
 * Return: 0; -EOPNOTSUPP: another mechanism must do; else no probe can be set there at all.
 */
int gtp_fentry_arm(struct gtp_location *loc, struct gtp_why *why);

/* gtp_fentry_move - the call leads to another pad now; 0 or -errno, and nothing has changed */
int gtp_fentry_move(struct gtp_jump *d, u64 pad);

/* gtp_fentry_disarm - take the calls off a list of locations; no task is in their pads then */
void gtp_fentry_disarm(struct gtp_location *first);

#endif /* _GTP_FENTRY_H */
