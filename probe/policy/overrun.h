/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions behind which nothing is mapped, where the kernel would read. */
#ifndef _GTP_OVERRUN_H
#define _GTP_OVERRUN_H

#include <linux/types.h>

/**
 * gtp_overruns() - would the kernel die while it registers a kprobe?
 * @addr: where
 *
 * register_kprobe() looks whether the probe can be a jump, whatever is asked for: it decodes the
 * function to its end. The last function of a module ends, to the kernel, where its pages end, and
 * what is behind the code is zeros there: instructions of two bytes. Where their number is odd the
 * kernel decodes one byte of the page behind, and since 6.4 a module's code is a mapping of its own
 * with nothing behind it.
 *
 * A kprobe on the function tracer's site is never optimised. Nor does a jump of ours need this.
 *
 * Context: process, under gtp_lock; may sleep.
 */
bool gtp_overruns(u64 addr);

#endif /* _GTP_OVERRUN_H */
