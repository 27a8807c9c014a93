/* SPDX-License-Identifier: GPL-2.0-only */
/* The shortest way through a hit of a tracepoint, as found out before the hit. */
#ifndef _GTP_PLAN_H
#define _GTP_PLAN_H

#include "base/base.h"

/**
 * struct gtp_hit_plan - what a hit of a tracepoint may run without looking at its definition
 * @early: machine code of the condition that may run before a hit begins, if this is the only
 *	   tracepoint; NULL: there is none
 * @quick: the code that does all a hit has to do, except write the head of the frame; NULL: a hit
 *	   has to do more, or the tracepoint is not enabled
 * @in_pad: not NULL if a jump pad may write the frame: the tracepoint has @quick, or would have it
 *	    without one string among its actions; hits cannot switch it; and the time is the
 *	    processor's counter. The pad handles a pass count and other tracepoints by itself
 * @quickest: @quick, if it has @in_pad as well, is alone, and has no pass count
 * @update_alone: like @quickest if a hit leaves no frame, whatever the time is
 * @start: the first 8 bytes of a quick hit's frame
 *
 * gtp_hit_settle() alone writes it while hits may be under way, whenever the definition or its
 * machine code has changed. gtp_code_forget() clears it when nothing is armed any more.
 * The order: @early and @update_alone, which need no @start; then @start; then @quick, @in_pad and
 * @quickest by gtp_publish(). A hit reads its pointer by gtp_acquire() and @start after it, so it
 * never has a pointer with an older @start. An older pointer with a newer @start is harmless: while
 * a tracepoint is armed, @start keeps size and number, and only a flag in it changes.
 */
struct gtp_hit_plan {
	void *early;
	void *quick;
	void *in_pad;
	void *quickest;
	void *update_alone;
	u64 start;
};

#endif /* _GTP_PLAN_H */
