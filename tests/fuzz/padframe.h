/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares the frames that pads write without a call of C with the frames that the interpreter
 * makes.
 */
#ifndef _GTP_PADFRAME_H
#define _GTP_PADFRAME_H

#include "tests/fuzz/padworld.h"

/* struct padframe_stats - counts of pads and hits by their result */
struct padframe_stats {
	u64 asked, refused; /* pads */
	u64 written, left;  /* hits whose frame the pad wrote, and hits that it left to C */
	u64 blocks, regs, strings;
};

extern struct padframe_stats padframe_stats;

/* padframe_choose - choose random actions for @req->frame; NULL if they cannot be a snippet */
void padframe_choose(struct axgen *g, struct gtp_pad_request *req);

/* padframe_prepare - set all data that the pad checks, sometimes so that the pad must call C */
void padframe_prepare(struct axgen *g);

/*
 * padframe_make - let the interpreter make the frame from memory as it was at the hit. Return 1 if
 * the pad must have written the frame, 0 if it must have called C, -1 if this is not known
 */
int padframe_make(const struct gtp_regs *regs, u64 pc);

/*
 * padframe_check - check the frame after the pad ran. @wanted: the result of padframe_make(), or 0
 * if the condition did not hold; @to_c: the pad called pad_hit. Return the error, or NULL
 */
const char *padframe_check(int wanted, bool to_c);

/*
 * padframe_make_without - make a pad that writes no frame, after a pad that writes frames was
 * refused
 */
u64 padframe_make_without(struct gtp_pad_request *req, u32 *len);

/* padframe_complain - print the actions of the pad that failed */
void padframe_complain(void);

#endif /* _GTP_PADFRAME_H */
