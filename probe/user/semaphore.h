/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the markers of a file and their semaphores, for probes at the markers' places. */
#ifndef _GTP_SEMAPHORE_H
#define _GTP_SEMAPHORE_H

#include "base/why.h"

struct gtp_file_space;

/**
 * gtp_semaphore_find() - look for a marker and its semaphore
 * @space: the file; its notes are read again if it has no probe
 * @linked: the link-time address of the marker
 * @offset: receives the semaphore's offset in the file; 0: there is none
 * @why: the refusal
 *
 * Context: process, under gtp_lock; may sleep.
 * Return: 1 if a marker is there; 0 if not; -errno with @why.
 */
int gtp_semaphore_find(struct gtp_file_space *space, u64 linked, u64 *offset, struct gtp_why *why);

#endif /* _GTP_SEMAPHORE_H */
