/* SPDX-License-Identifier: GPL-2.0-only */
/* The fast path that the hits of a tracepoint take, chosen in advance by hit/settle.c. */
#ifndef _GTP_PLAN_H
#define _GTP_PLAN_H

#include "base/base.h"

/**
 * struct gtp_hit_plan - the code that a hit of a tracepoint may run without reading its definition
 * @early: machine code of the condition that may run before a hit begins, if this is the only
 *	   tracepoint; NULL: there is none
 * @quick: the code for the rest of a hit after the frame's head is written; NULL: a hit has to do
 *	   more, or the tracepoint is not enabled
 * @in_pad: not NULL if a jump pad may write the frame (pad/frame.c): the tracepoint has @quick, or
 *	    would have it without one string among its actions; hits cannot switch it; and the time
 *	    is the processor's counter. The pad itself handles a pass count, and other tracepoints
 * @quickest: equals @quick if @in_pad is set, too, the tracepoint is alone at its location, and it
 *	      has no pass count; otherwise NULL
 * @update_alone: like @quickest, for a tracepoint whose hits leave no frame; the clock of its time
 *	      does not matter
 * @undoable: a hit can be given up at any read and made again, see hit/undo.h; the tracepoint is
 *	      alone at its location
 * @start: the first 8 bytes of a quick hit's frame
 *
 * gtp_hit_settle() writes it whenever the definition or its machine code has changed, also while
 * hits read it; gtp_code_forget() clears it when nothing is armed any more. Others only read it.
 *
 * The order of the writes: @early and @update_alone, which need no @start; then @start; then
 * @quick, @in_pad and @quickest by gtp_publish(). A hit reads one of the pointers by gtp_acquire()
 * and @start after that, so @start is never older than the pointer. A newer @start is harmless:
 * while a tracepoint is armed, @start keeps size and number, and only a flag in it changes.
 */
struct gtp_hit_plan {
	void *early;
	void *quick;
	void *in_pad;
	void *quickest;
	void *update_alone;
	u64 start;
	bool undoable;
};

#endif /* _GTP_PLAN_H */
