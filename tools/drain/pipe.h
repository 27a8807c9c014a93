/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's end of it: what can be read, and the signals that end that. */
#ifndef _DRAIN_PIPE_H
#define _DRAIN_PIPE_H

#include "base/base.h"

#define PIPE_PATH "/proc/gtpframe_pipe"

/* struct pipe - where frames come from, and a descriptor that is readable when a signal has come */
struct pipe {
	const char *path;
	int fd, signals;
};

/* pipe_signals - from here on they are waited for, but what nohup has had ignored */
void pipe_signals(struct pipe *p);

/* pipe_open - without waiting for a run; fail() tells why it cannot be read */
void pipe_open(struct pipe *p, const char *path);

enum { PIPE_READABLE = 1, PIPE_SIGNAL = 2 };

/**
 * pipe_wait() - until something comes
 * @p: the pipe
 * @ms: so long at most; below 0: without an end
 * @naps: wait for signals alone
 *
 * Return: what there is.
 */
int pipe_wait(const struct pipe *p, int ms, bool naps);

/**
 * pipe_read() - what there is, without waiting
 * @p: the pipe
 * @to, @len: where it goes
 * @n: receives how much it was; 0: nothing yet
 *
 * Return: false at the end of the pipe, and when there is trouble.
 */
bool pipe_read(const struct pipe *p, void *to, size_t len, size_t *n);

#endif /* _DRAIN_PIPE_H */
