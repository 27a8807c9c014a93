/* SPDX-License-Identifier: GPL-2.0-only */
/* A pad's condition: what it pushes and pops, and the mark on the task. */
#ifndef _GTP_PAD_COND_H
#define _GTP_PAD_COND_H

#include "jit/jit_internal.h"

/* gtp_pad_cond_begin - before the first try */
void gtp_pad_cond_begin(struct ax_jit *j);

/*
 * gtp_pad_cond_begin_frame - the same of a frame; @j->pad.read is known. @values are pushed and may
 * hold values, @fixed are pushed and do not
 */
void gtp_pad_cond_begin_frame(struct ax_jit *j, u16 values, u16 fixed);

/*
 * gtp_pad_cond_choose - what is pushed, and where values go, by what tries so far have met; false
 * when the last try was right, or none can be (@j->unsuitable)
 */
bool gtp_pad_cond_choose(struct ax_jit *j);

/* gtp_pad_cond_enter - everything away that the condition will overwrite; mark the task */
void gtp_pad_cond_enter(struct ax_jit *j);

/* gtp_pad_cond_unmark - take the mark off the task; values are not needed any more */
void gtp_pad_cond_unmark(struct ax_jit *j);

/* gtp_pad_cond_leave - registers, flags and rsp are the hit's again */
void gtp_pad_cond_leave(struct ax_jit *j);

#endif /* _GTP_PAD_COND_H */
