/* SPDX-License-Identifier: GPL-2.0-only */
/* The common part of our kprobes and kretprobes: the text where they are, and their end. */
#ifndef _GTP_KPROBE_TEXT_H
#define _GTP_KPROBE_TEXT_H

#include <linux/kprobes.h>
#include <linux/preempt.h>

#include "hit/run.h"
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

/**
 * struct gtp_kprobe_text - the first member of what such a location's ->probe points to
 * @armed: in the index of probed places
 * @kp: the kernel's part, of a kretprobe its first member; the address in it may differ from the
 *	location's: the kernel steps over an endbr64
 * @alone: while it is taken off: the only kprobe that the kernel has wrapped there
 */
struct gtp_kprobe_text {
	struct gtp_armed armed;
	struct kprobe *kp;
	bool alone;
};

/* gtp_kprobe_text_remember - the original bytes, right after the kprobe was registered */
void gtp_kprobe_text_remember(struct gtp_kprobe_text *p);

/**
 * gtp_kprobe_text_take_off() - the probes of a backend's locations go
 * @first: the locations
 * @unregister: the kernel's function for many of them
 * @forget: called for each location at last, when no handler runs: frees its probe
 *
 * Context: process, gtp_lock; waits for grace periods.
 */
void gtp_kprobe_text_take_off(struct gtp_location *first,
			      void (*unregister)(struct kprobe **kps, int n),
			      void (*forget)(struct gtp_location *loc));

#endif /* _GTP_KPROBE_TEXT_H */
