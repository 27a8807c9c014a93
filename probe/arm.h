/* SPDX-License-Identifier: GPL-2.0-only */
/* Chooses the backend that probes a location: the first one in the list that is able to. */
#ifndef _GTP_ARM_H
#define _GTP_ARM_H

#include "probe/backend.h"

/*
 * @list has the backends in the order in which they are tried, and ends with NULL. All functions
 * run in process context, under gtp_lock, and may sleep.
 */

/**
 * gtp_arm() - have the first backend that can probe a location arm it
 * @list: the backends
 * @loc: the location
 * @why: the refusal
 *
 * The probe may take effect only in gtp_arm_commit(). End each series of calls with
 * gtp_arm_commit() or gtp_arm_disarm().
 * Return: 0, or -errno if no probe can be set there.
 */
int gtp_arm(const struct gtp_probe_backend *const *list, struct gtp_location *loc,
	    struct gtp_why *why);

/**
 * gtp_arm_commit() - make the probes of all locations given to gtp_arm() take effect
 * @list: the backends
 * @first: the locations; a location that its backend refuses now is offered to the next backend,
 *         and gets ->refused if no backend can probe it. Locations that already have ->refused are
 *         skipped
 * @why: the refusal
 *
 * Return: 0, or -errno if nothing can be armed now; the caller then disarms all.
 */
int gtp_arm_commit(const struct gtp_probe_backend *const *list, struct gtp_location *first,
		   struct gtp_why *why);

/* gtp_arm_widen - call ->widen of the backend that has armed the location; return its result */
int gtp_arm_widen(struct gtp_location *loc, struct gtp_why *why);

/*
 * gtp_arm_missed - return the hits missed at a location: ->missed of its backend, plus those of
 * earlier probes there
 */
u64 gtp_arm_missed(const struct gtp_location *loc);

/*
 * gtp_arm_disarm - remove all probes of a list of locations, including those that are only
 * prepared. Calls the backends in reverse order, so that kprobes are removed before jumps: the
 * kernel may have moved a kprobe past an endbr64, onto one of our jumps
 */
void gtp_arm_disarm(const struct gtp_probe_backend *const *list, struct gtp_location *first);

#endif /* _GTP_ARM_H */
