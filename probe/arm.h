/* SPDX-License-Identifier: GPL-2.0-only */
/* Which backend probes a location: the first in the list that can. */
#ifndef _GTP_ARM_H
#define _GTP_ARM_H

#include "probe/backend.h"

/*
 * @list is terminated by NULL and in the order in which the backends are tried. All of it: process
 * context, under the session's lock, may sleep.
 */

/**
 * gtp_arm() - have the first backend that can probe a location arm it
 * @list: the backends
 * @loc: the location
 * @why: the refusal
 *
 * The probe may take effect only with gtp_arm_commit(). Each series of calls ends with that, or
 * with gtp_arm_disarm().
 * Return: 0; -errno: no probe can be set there.
 */
int gtp_arm(const struct gtp_probe_backend *const *list, struct gtp_location *loc,
	    struct gtp_why *why);

/**
 * gtp_arm_commit() - have the probes of all locations given to gtp_arm() take effect
 * @list: the backends
 * @first: the locations; what one backend refuses now the next is offered. Those with ->refused are
 *         left alone, and where none can it is filled in
 * @why: the refusal
 *
 * Return: 0; -errno: nothing can be armed now; the caller disarms all.
 */
int gtp_arm_commit(const struct gtp_probe_backend *const *list, struct gtp_location *first,
		   struct gtp_why *why);

/* gtp_arm_widen - struct gtp_probe_backend's widen of the location's backend */
int gtp_arm_widen(struct gtp_location *loc, struct gtp_why *why);

/* gtp_arm_missed - struct gtp_probe_backend's missed, and what was missed there before */
u64 gtp_arm_missed(const struct gtp_location *loc);

/*
 * gtp_arm_disarm - take the probes off those of a list of locations that have one, those that are
 * only prepared too; in the reverse order of arming: a kprobe that the kernel has moved behind an
 * endbr64 may sit on a jump
 */
void gtp_arm_disarm(const struct gtp_probe_backend *const *list, struct gtp_location *first);

#endif /* _GTP_ARM_H */
