/* SPDX-License-Identifier: GPL-2.0-only */
/* A pad's frame: written by the pad itself, over the hit's live registers. */
#ifndef _GTP_PAD_FRAME_H
#define _GTP_PAD_FRAME_H

#include "base/base.h"

struct ax_jit;
struct gtp_pad_request;
struct gtp_tracepoint;

/*
 * gtp_pad_frame_can - can a pad write the frames of @tp, as it is defined now? Hits ask again.
 * @cond: the pad evaluates its condition
 */
bool gtp_pad_frame_can(const struct gtp_tracepoint *tp, bool cond);

/* gtp_pad_frame_size - memory for the compilation of @req's frame; 0: it has none */
size_t gtp_pad_frame_size(const struct gtp_pad_request *req);

/* gtp_pad_frame_plan - plan it in that memory; false: it cannot be written by the pad */
bool gtp_pad_frame_plan(struct ax_jit *f, const struct gtp_pad_request *req);

/* gtp_pad_frame_write - the code, into @j; what it cannot do goes to gtp_pad_frame_give_up() */
void gtp_pad_frame_write(struct ax_jit *j);

/* gtp_pad_frame_give_up - behind this everything is the hit's again, and nothing has been done */
void gtp_pad_frame_give_up(struct ax_jit *j);

#endif /* _GTP_PAD_FRAME_H */
