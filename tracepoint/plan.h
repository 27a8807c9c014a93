/* SPDX-License-Identifier: GPL-2.0-only */
/* The fast path for hits of a tracepoint. hit/settle.c chooses it in advance. */
#ifndef _GTP_PLAN_H
#define _GTP_PLAN_H

#include "base/base.h"

/**
 * struct gtp_hit_plan - the code that a hit of a tracepoint may run without reading its definition
 * @early: machine code of the condition, if it may run before a hit begins and this is the only
 *	   tracepoint of its location; otherwise NULL
 * @quick: the code that performs all actions after the frame's head is written; NULL: a hit has to
 *	   do more, or the tracepoint is not enabled
 * @in_pad: not NULL if a jump pad may write the frame (pad/frame.c). This requires three things:
 *	    @quick is set, or the only reason why it is not is that one action records a string; no
 *	    hit can switch the tracepoint on or off; and times come from the TSC. A pass count and
 *	    other tracepoints at the location are allowed
 * @quickest: equals @quick if @in_pad is set, the tracepoint is the only one of its location, and
 *	      it has no pass count; otherwise NULL
 * @update_alone: like @quickest, for a tracepoint whose hits write no frame; times need not come
 *		  from the TSC. A jump pad may call it (pad/update.c)
 * @undoable: true if a hit can be abandoned at any read and repeated, see hit/undo.h, and the
 *	      tracepoint is the only one of its location
 * @start: the first 8 bytes of a quick hit's frame
 *
 * gtp_hit_settle() writes the plan whenever the definition or its machine code has changed, also
 * while hits read the plan. gtp_code_forget() clears it when nothing is armed any more. Other code
 * only reads it.
 *
 * gtp_hit_settle() first writes @early and @update_alone, which need no @start; then @start; then
 * @quick, @in_pad and @quickest, by gtp_publish(). A hit reads one of the pointers by gtp_acquire()
 * and then @start, so @start is never older than the pointer. A newer @start is harmless: while a
 * tracepoint is armed, size and number in @start stay the same, and only a flag changes.
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
