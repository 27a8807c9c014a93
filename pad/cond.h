/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of a pad around its condition: they push and pop registers, and mark the task. */
#ifndef _GTP_PAD_COND_H
#define _GTP_PAD_COND_H

#include "jit/jit_internal.h"

/* gtp_pad_cond_begin - prepare for the first try to compile a condition */
void gtp_pad_cond_begin(struct ax_jit *j);

/*
 * gtp_pad_cond_begin_frame - prepare for the first try to compile a frame; @j->pad.read is set
 * already. The pad pushes both sets of registers; those in @values may hold values, those in @fixed
 * may not
 */
void gtp_pad_cond_begin_frame(struct ax_jit *j, u16 values, u16 fixed);

/*
 * gtp_pad_cond_choose - choose the registers to push and those for values, from the results of the
 * tries so far; return false if the last try succeeded, or if no try can succeed (@j->unsuitable)
 */
bool gtp_pad_cond_choose(struct ax_jit *j);

/* gtp_pad_cond_move_rsp - add @by to rsp; changes no flags */
void gtp_pad_cond_move_rsp(struct ax_jit *j, s32 by);

/* gtp_pad_cond_enter - save everything that the condition will overwrite; mark the task */
void gtp_pad_cond_enter(struct ax_jit *j);

/* gtp_pad_cond_unmark - remove the mark from the task; values are no longer needed */
void gtp_pad_cond_unmark(struct ax_jit *j);

/* gtp_pad_cond_leave - restore the hit's registers, flags and rsp */
void gtp_pad_cond_leave(struct ax_jit *j);

#endif /* _GTP_PAD_COND_H */
