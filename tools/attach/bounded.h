/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads of a process's memory that end within a bound, whatever the process's pages do. */
#ifndef _GTP_ATTACH_BOUNDED_H
#define _GTP_ATTACH_BOUNDED_H

#include "user/process/objects.h"

/*
 * The time within which one read, and the reading of a list, must end. GDB gives up a packet after
 * six seconds.
 */
enum { BOUNDED_READ_MS = 1500, BOUNDED_LIST_MS = 4000 };

/**
 * bounded_call() - call a function that reads the memory of another process, for a limited time
 * @fn: the function; returns 0 or -errno, and appends its result to @out. It runs in a child, so
 *      nothing else that it changes is seen here
 * @ctx, @arg: passed to @fn
 * @ms: the time for it
 * @out: receives the result, whose bytes the caller frees; the former contents are lost
 *
 * Return: the result of @fn, or -ETIMEDOUT.
 */
int bounded_call(int (*fn)(void *ctx, const void *arg, struct gtp_text *out), void *ctx,
		 const void *arg, u32 ms, struct gtp_text *out);

/* bounded_put - append bytes to a result; return 0 or -ENOMEM */
int bounded_put(struct gtp_text *out, const void *bytes, size_t len);

#endif /* _GTP_ATTACH_BOUNDED_H */
