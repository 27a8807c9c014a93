/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes the pads of a location: a single pad, or one for each of the location's tracepoints. */
#ifndef _GTP_PAD_MAKE_H
#define _GTP_PAD_MAKE_H

#include "kernel/pad/probe.h"
#include "regions/region.h"

/* Context of all functions below: process, under gtp_lock; they may sleep. */

/**
 * gtp_pad_probe_make() - make a location's pads in the open arena, with as little left to C as
 * possible
 * @p: the location's probe; the caller then redirects control to @p->pad
 * @region: the displaced instructions; NULL if the pad is called
 * @copies: receives the addresses of the displaced instructions' copies; not used without @region
 *
 * Return: 0 or -errno, for which gtp_pad_probe_why_not() has words.
 */
int gtp_pad_probe_make(struct gtp_pad_probe *p, const struct gtp_region *region, u64 *copies);

/* gtp_pad_condition - return the condition that a pad can evaluate before any C runs; NULL: none */
const struct ax_verified *gtp_pad_condition(const struct gtp_tracepoint *tp);

/* gtp_pad_decides - true if a pad can handle some of the tracepoint's hits without C */
bool gtp_pad_decides(const struct gtp_tracepoint *tp);

/* gtp_pad_probe_why_not - explain for ->no_jump why there is no pad, or nothing leads to it */
const char *gtp_pad_probe_why_not(int err);

/**
 * gtp_pad_probe_widen() - make a pad that leaves everything to C, and redirect control to it
 * @p: the location's probe
 * @region: the displaced instructions, as for gtp_pad_probe_make()
 * @lead: redirects control to the new pad; if it returns 0, tasks may be in both pads now,
 * otherwise only in the old one
 *
 * Return: 0, or -errno with nothing changed.
 */
int gtp_pad_probe_widen(struct gtp_pad_probe *p, const struct gtp_region *region,
			int (*lead)(struct gtp_pad_probe *p, u64 pad));

#endif /* _GTP_PAD_MAKE_H */
