/* SPDX-License-Identifier: GPL-2.0-only */
/* What a kprobe of ours means for the text where it is, whichever kind of kprobe it is. */
#ifndef _GTP_KPROBE_TEXT_H
#define _GTP_KPROBE_TEXT_H

#include <linux/kprobes.h>
#include <linux/preempt.h>

#include "probe/armed.h"

/*
 * gtp_kprobe_entered - what of @count, preempt_count() at a hit, is not the interrupted code's
 *
 * The breakpoint form of a kprobe arrives as an exception that counts as an NMI; those on ftrace
 * sites are called. A probe in jump form that is hit in a real NMI looks like the former; that hit
 * counts as one of its task.
 */
static inline u32 gtp_kprobe_entered(const struct kprobe *kp, unsigned int count)
{
	if (!(count & NMI_MASK) || kp->flags & KPROBE_FLAG_FTRACE)
		return 0;
	return NMI_OFFSET + HARDIRQ_OFFSET;
}

/* gtp_kprobe_text_remember - the original bytes, right after the kprobe was registered */
void gtp_kprobe_text_remember(const struct kprobe *kp, struct gtp_armed *a);

/* gtp_kprobe_text_alone - is it the only one there? Before it is unregistered */
bool gtp_kprobe_text_alone(const struct kprobe *kp);

/*
 * gtp_kprobe_text_wait - after one that was alone in a module's text has been unregistered: until
 * the kernel has taken its jump back. Context: process, gtp_lock
 */
void gtp_kprobe_text_wait(const struct kprobe *kp, const struct gtp_armed *a);

#endif /* _GTP_KPROBE_TEXT_H */
