/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks which variables can be watched, and puts the kernel's refusals into words. */
#ifndef _GTP_PLACE_H
#define _GTP_PLACE_H

#include "base/watch.h"
#include "base/why.h"

/**
 * gtp_watch_place_check() - check a watch address (base/watch.h) without asking the kernel
 * @addr: a watch address
 * @why: the refusal
 *
 * Return: 0, or -EINVAL if the processor cannot watch those bytes.
 */
int gtp_watch_place_check(u64 addr, struct gtp_why *why);

/* gtp_watch_place_meets - true if the watched variable overlaps the @bytes bytes at @start */
bool gtp_watch_place_meets(u64 addr, u64 start, u64 bytes);

/* gtp_watch_place_explain - put into words why the kernel refused a watchpoint */
void gtp_watch_place_explain(int err, struct gtp_why *why);

#endif /* _GTP_PLACE_H */
