/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames that jump pads write by themselves, in the kernel. */
#ifndef _GTP_PROBE_PAD_FRAME_H
#define _GTP_PROBE_PAD_FRAME_H

#include "hit/run.h"
#include "jit/pad.h"

/**
 * gtp_pad_frame_get() - what a pad must know to write a tracepoint's frames
 * @tp: the tracepoint; its location is there
 * @connected: a word that is 0 when the pad's hits are not wanted any more; NULL: none come then
 * @cond: the pad evaluates its condition
 * @frame: filled in
 *
 * Context: process, under gtp_lock. Return: false when they are nothing for a pad, or there is no
 * memory; else gtp_pad_frame_put() frees it.
 */
bool gtp_pad_frame_get(const struct gtp_tracepoint *tp, struct gtp_tracepoint *const *connected,
		       bool cond, struct gtp_pad_frame *frame);
void gtp_pad_frame_put(struct gtp_pad_frame *frame);

#endif /* _GTP_PROBE_PAD_FRAME_H */
