/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads of a process's memory that end within a given time, even if a page never arrives. */
#ifndef _GTP_ATTACH_BOUNDED_H
#define _GTP_ATTACH_BOUNDED_H

#include "user/process/objects.h"

/*
 * The longest time, in ms, for one read and for the reading of a list. GDB gives up a packet after
 * six seconds.
 */
enum { BOUNDED_READ_MS = 1500, BOUNDED_LIST_MS = 4000 };

/**
 * bounded_call() - call a function that reads the memory of another process, for a limited time
 * @fn: the function; returns 0 or -errno, and appends its result to @out. It runs in a child
 *	process, so the caller sees no other changes that it makes
 * @ctx, @arg: passed to @fn
 * @ms: the longest time that @fn may take
 * @out: receives the result and is overwritten; the caller frees its bytes
 *
 * Return: the result of @fn, or -ETIMEDOUT.
 */
int bounded_call(int (*fn)(void *ctx, const void *arg, struct gtp_text *out), void *ctx,
		 const void *arg, u32 ms, struct gtp_text *out);

/* bounded_put - append bytes to a result; return 0 or -ENOMEM */
int bounded_put(struct gtp_text *out, const void *bytes, size_t len);

#endif /* _GTP_ATTACH_BOUNDED_H */
