/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames that pads write by themselves, against the interpreter's. */
#ifndef _GTP_PADFRAME_H
#define _GTP_PADFRAME_H

#include "tests/fuzz/padworld.h"

/* struct padframe_stats - what became of the frames */
struct padframe_stats {
	u64 asked, refused; /* pads */
	u64 written, left;  /* hits: by the pad, to C */
	u64 blocks, regs, strings;
};

extern struct padframe_stats padframe_stats;

/* padframe_choose - random actions, @req->frame: NULL when they are nothing for a snippet */
void padframe_choose(struct axgen *g, struct gtp_pad_request *req);

/* padframe_prepare - this CPU's part and all else that the pad asks, as plain as can be or not */
void padframe_prepare(struct axgen *g);

/*
 * padframe_make - the frame by the interpreter; memory is as at the hit. Has the pad to write it?
 * 1: yes; 0: no, it is C's; -1: nothing can be said
 */
int padframe_make(const struct gtp_regs *regs, u64 pc);

/*
 * padframe_check - after the pad ran: @wanted as padframe_make() said, or 0 when the condition did
 * not hold; @to_c: it called pad_hit. Return: the error, or NULL
 */
const char *padframe_check(int wanted, bool to_c);

/* padframe_make_without - the pad without a frame, which was refused */
u64 padframe_make_without(struct gtp_pad_request *req, u32 *len);

/* padframe_complain - tell what the actions are */
void padframe_complain(void);

#endif /* _GTP_PADFRAME_H */
