/* SPDX-License-Identifier: GPL-2.0-only */
/* A file's markers and their semaphores, for the probes at their places. */
#ifndef _GTP_SEMAPHORE_H
#define _GTP_SEMAPHORE_H

#include "base/why.h"

struct gtp_file_space;

/**
 * gtp_semaphore_find() - look for a marker at a place, and for its semaphore
 * @space: the file; while no probe is in it, its notes are read again
 * @linked: the place, as linked
 * @offset: receives where the file has the semaphore; 0: there is none
 * @why: the refusal
 *
 * Context: process, gtp_lock; it may sleep.
 * Return: 1: a marker is there; 0: none; -errno with @why.
 */
int gtp_semaphore_find(struct gtp_file_space *space, u64 linked, u64 *offset, struct gtp_why *why);

#endif /* _GTP_SEMAPHORE_H */
