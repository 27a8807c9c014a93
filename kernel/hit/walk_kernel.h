/* SPDX-License-Identifier: GPL-2.0-only */
/* Ask the kernel's unwinder what it does at an address. */
#ifndef _GTP_WALK_KERNEL_H
#define _GTP_WALK_KERNEL_H

#include "hit/walk.h"

/* gtp_walk_init - prepare for gtp_walk_ask(); call it before the first hit */
void gtp_walk_init(void);

enum { GTP_WALK_ASK_BYTES = 1024 };

/*
 * gtp_walk_ask - implement ask of struct gtp_walk_ops; @ctx: GTP_WALK_ASK_BYTES that it may write.
 * Context: a hit, which may be in an NMI; preemption is off
 */
bool gtp_walk_ask(void *ctx, u64 at, u32 *step, bool *stays);

#endif /* _GTP_WALK_KERNEL_H */
