/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes jump pads in the kernel write frames by themselves. */
#ifndef _GTP_PAD_FRAME_KERNEL_H
#define _GTP_PAD_FRAME_KERNEL_H

#include "hit/run.h"
#include "kernel/pad/place.h"

/**
 * gtp_pad_frame_make() - make a pad that writes a tracepoint's frames
 * @req: the request for the pad, with the condition, if the tracepoint has one
 * @tp: the tracepoint; its location exists
 * @connected: a word that becomes 0 when the pad's hits no longer count; NULL: no hits come after
 *             that moment
 * @pad: receives the pad, as for gtp_pad_place()
 *
 * Context: process, under gtp_lock. Return: 0; -EOPNOTSUPP if a pad cannot write its frames, or
 * there is no memory; otherwise the result of gtp_pad_place().
 */
int gtp_pad_frame_make(struct gtp_pad_request *req, const struct gtp_tracepoint *tp,
		       struct gtp_tracepoint *const *connected, struct gtp_jit_pad *pad);

#endif /* _GTP_PAD_FRAME_KERNEL_H */
