/* SPDX-License-Identifier: GPL-2.0-only */
/* Read from the module's pipe, and catch the signals that end the reading. */
#ifndef _DRAIN_PIPE_H
#define _DRAIN_PIPE_H

#include "base/base.h"

#define PIPE_PATH "/proc/gtpframe_pipe"

/**
 * struct pipe - the source of frames
 * @signals: a descriptor that is readable when a signal has come
 * @ended: true if no more frames will come
 * @error: the errno that ended the frames; 0 at a regular end
 */
struct pipe {
	const char *path;
	int fd, signals, error;
	bool ended;
};

/* pipe_signals - begin to catch signals, except those that are ignored because of nohup */
void pipe_signals(struct pipe *p);

/* pipe_open - open the pipe without waiting for a run; call fail() if that is not possible */
void pipe_open(struct pipe *p, const char *path);

enum { PIPE_READABLE = 1, PIPE_SIGNAL = 2 };

/**
 * pipe_wait() - wait until there is something to read
 * @p: the pipe
 * @ms: the longest wait; negative: no limit
 * @naps: wait for signals only, not for frames
 *
 * Return: PIPE_READABLE, PIPE_SIGNAL, both, or 0 after @ms.
 */
int pipe_wait(const struct pipe *p, int ms, bool naps);

/**
 * pipe_read() - read available bytes without waiting
 * @p: the pipe
 * @to, @len: the memory for the bytes
 * @n: receives the number of bytes; 0: nothing yet
 *
 * Return: false if no more bytes will come.
 */
bool pipe_read(struct pipe *p, void *to, size_t len, size_t *n);

/* pipe_trouble - store the reason why no more bytes will come as the recording's error */
void pipe_trouble(const struct pipe *p);

#endif /* _DRAIN_PIPE_H */
