/* SPDX-License-Identifier: GPL-2.0-only */
/* The facts with which a jump pad writes a frame as a hit does. */
#ifndef _GTP_PAD_DESCRIBE_H
#define _GTP_PAD_DESCRIBE_H

#include "hit/run.h"
#include "pad/pad.h"

/*
 * gtp_hit_describe_pad_frame - fill in what is @tp's and what is every CPU's part's: all but the
 * actions, the addresses that are the kernel's, and registers that never change
 */
void gtp_hit_describe_pad_frame(struct gtp_pad_frame *frame, const struct gtp_tracepoint *tp);

/*
 * gtp_hit_can_pad_frame - can a pad write the frames of @tp, as it is defined now? Hits ask again.
 * @cond: the pad evaluates its condition
 */
bool gtp_hit_can_pad_frame(const struct gtp_tracepoint *tp, bool cond);

#endif /* _GTP_PAD_DESCRIBE_H */
