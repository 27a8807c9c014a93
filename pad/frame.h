/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes a pad write a frame by itself, from the hit's live registers. */
#ifndef _GTP_PAD_FRAME_H
#define _GTP_PAD_FRAME_H

#include "base/base.h"

struct ax_jit;
struct gtp_pad_request;
struct gtp_tracepoint;

/*
 * gtp_pad_frame_can - true if a pad can write the frames of @tp as it is defined now; if its hits
 * write none, true if a pad can call the snippet of its actions (pad/update.c). Each hit checks
 * that again. @cond: the pad evaluates the condition of @tp
 */
bool gtp_pad_frame_can(const struct gtp_tracepoint *tp, bool cond);

/* gtp_pad_frame_size - return the memory for compiling @req's frame; 0 if it has none */
size_t gtp_pad_frame_size(const struct gtp_pad_request *req);

/*
 * gtp_pad_frame_plan - plan the frame in @f, which has gtp_pad_frame_size() bytes; return false if
 * the pad cannot write this frame
 */
bool gtp_pad_frame_plan(struct ax_jit *f, const struct gtp_pad_request *req);

/*
 * gtp_pad_frame_write - emit the frame's code into @j; at an obstacle, that jumps to the code of
 * gtp_pad_frame_give_up()
 */
void gtp_pad_frame_write(struct ax_jit *j);

/* gtp_pad_frame_give_up - emit the code that restores the hit's registers, with nothing recorded */
void gtp_pad_frame_give_up(struct ax_jit *j);

#endif /* _GTP_PAD_FRAME_H */
