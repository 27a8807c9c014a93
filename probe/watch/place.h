/* SPDX-License-Identifier: GPL-2.0-only */
/* Which variables can be watched, and the kernel's refusals in words. */
#ifndef _GTP_PLACE_H
#define _GTP_PLACE_H

#include "base/watch.h"
#include "base/why.h"

/**
 * gtp_watch_place_check() - check what can be known of a watch address without the kernel
 * @addr: a watch address
 * @why: the refusal
 *
 * Return: 0, or -EINVAL if the processor cannot watch those bytes.
 */
int gtp_watch_place_check(u64 addr, struct gtp_why *why);

/* gtp_watch_place_meets - true if the variable has a byte of the @bytes bytes at @start */
bool gtp_watch_place_meets(u64 addr, u64 start, u64 bytes);

/* gtp_watch_place_explain - put into words why the kernel made no watchpoint */
void gtp_watch_place_explain(int err, struct gtp_why *why);

#endif /* _GTP_PLACE_H */
