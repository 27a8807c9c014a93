/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the original bytes of the text that our kprobes and kretprobes change, and removes the
 * probes.
 */
#ifndef _GTP_KPROBE_TEXT_H
#define _GTP_KPROBE_TEXT_H

#include <linux/kprobes.h>
#include <linux/preempt.h>

#include "hit/run.h"
#include "probe/shadow.h"

/*
 * gtp_kprobe_entered - return the part of @count, preempt_count() at a hit, that the probe itself
 * added
 *
 * The breakpoint form of a kprobe arrives as an exception that counts as an NMI; the ftrace form is
 * called. A hit of the jump form in a real NMI looks like one of the breakpoint form, so it counts
 * as a hit in the task.
 */
static inline u32 gtp_kprobe_entered(const struct kprobe *kp, unsigned int count)
{
	if (!(count & NMI_MASK) || kp->flags & KPROBE_FLAG_FTRACE)
		return 0;
	return NMI_OFFSET + HARDIRQ_OFFSET;
}

/**
 * struct gtp_kprobe_text - text that a kprobe changes; first member of the struct that ->probe
 * points to
 * @shadow: the kprobe's entry in the index of probed places, see probe/shadow.h
 * @kp: the kernel's own struct; a kretprobe has one as its first member. The kprobe's address may
 *	differ from the location's, because the kernel skips an endbr64
 * @alone: used during removal: no other kprobe is on the kernel's chain for this address
 */
struct gtp_kprobe_text {
	struct gtp_shadow shadow;
	struct kprobe *kp;
	bool alone;
};

/* gtp_kprobe_text_remember - keep the original bytes; call it right after registering a kprobe */
void gtp_kprobe_text_remember(struct gtp_kprobe_text *p);

/**
 * gtp_kprobe_text_take_off() - remove the kprobes or kretprobes of a backend's locations
 * @first: the list of the locations
 * @unregister: the kernel's function that unregisters an array of such probes
 * @forget: called for each location at the end, when no handler runs: frees its probe
 *
 * Context: process, under gtp_lock; waits for grace periods.
 */
void gtp_kprobe_text_take_off(struct gtp_location *first,
			      void (*unregister)(struct kprobe **kps, int n),
			      void (*forget)(struct gtp_location *loc));

#endif /* _GTP_KPROBE_TEXT_H */
