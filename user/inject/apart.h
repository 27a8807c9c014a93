/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs a function in a process of its own, which outlives this one. */
#ifndef _GTP_APART_H
#define _GTP_APART_H

#include "base/why.h"

/**
 * gtp_apart() - run a function in a child process
 * @fn: the function; returns 0 or -errno, and may fill in @result and @why
 * @arg: passed to @fn
 * @result, @size: receives what @fn has written to its @result; at most 256 bytes
 * @why: receives the reason that @fn gives
 *
 * If this program is killed, the child goes on to the end of @fn. All other changes that @fn makes
 * to memory of this program are lost.
 *
 * Return: the result of @fn, or -EAGAIN if there is no child process.
 */
int gtp_apart(int (*fn)(void *arg, void *result, struct gtp_why *why), void *arg, void *result,
	      size_t size, struct gtp_why *why);

#endif /* _GTP_APART_H */
