/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds functions at the end of a mapping: when the kernel decodes such a function, it reads past
 * that end.
 */
#ifndef _GTP_OVERRUN_H
#define _GTP_OVERRUN_H

#include <linux/types.h>

/**
 * gtp_overruns() - true if registering a kprobe would crash the kernel
 * @addr: the kprobe's address
 *
 * register_kprobe() always checks whether the probe can be a jump, and for that it decodes the
 * function to its end. To the kernel, the last function of a module extends to the end of the
 * module's last code page. Zeros, which decode as two-byte instructions, fill the rest of the last
 * page. If the number of zeros is odd, the kernel decodes one byte of the next page. Since 6.4 a
 * module's code is a mapping of its own, with nothing mapped after it.
 *
 * A kprobe on the function tracer's site is never optimised, and a jump of ours is not a kprobe:
 * both are safe there.
 *
 * Context: process, under gtp_lock; may sleep.
 */
bool gtp_overruns(u64 addr);

#endif /* _GTP_OVERRUN_H */
