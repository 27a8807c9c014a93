/* SPDX-License-Identifier: GPL-2.0-only */
/* The pads of a location: one, or one for each of its tracepoints. */
#ifndef _GTP_PAD_MAKE_H
#define _GTP_PAD_MAKE_H

#include "kernel/pad/probe.h"
#include "regions/region.h"

/* All of the following: process context, under gtp_lock; may sleep. */

/**
 * gtp_pad_probe_make() - make its pads in the open arena, which do as much without C as they can
 * @p: the pad's probe; ->pad is where control is to go then
 * @region: what is displaced; NULL when the pad is called
 * @copies: receives the addresses of the displaced instructions' copies; not used without @region
 *
 * Return: 0 or -errno; gtp_pad_probe_why_not() says it in words.
 */
int gtp_pad_probe_make(struct gtp_pad_probe *p, const struct gtp_region *region, u64 *copies);

/* gtp_pad_condition - what a pad can evaluate before any C runs; NULL: nothing */
const struct ax_verified *gtp_pad_condition(const struct gtp_tracepoint *tp);

/* gtp_pad_decides - can a pad do without C at a hit? */
bool gtp_pad_decides(const struct gtp_tracepoint *tp);

/* gtp_pad_probe_why_not - why a pad, or a way to it, was not possible: a no_jump */
const char *gtp_pad_probe_why_not(int err);

/**
 * gtp_pad_probe_widen() - have control led to a pad that leaves all to C
 * @p: the pad's probe
 * @region: as with gtp_pad_probe_make()
 * @lead: leads control to the new pad; 0: tasks may be in both pads now, else in the old one alone
 *
 * Return: 0 or -errno, then all is as it was.
 */
int gtp_pad_probe_widen(struct gtp_pad_probe *p, const struct gtp_region *region,
			int (*lead)(struct gtp_pad_probe *p, u64 pad));

#endif /* _GTP_PAD_MAKE_H */
