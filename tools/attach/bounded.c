// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads of a process's memory that end within a given time.
 *
 * A read of /proc/PID/mem faults pages in, as an access by the process itself does. For a page of a
 * FUSE file system, the read waits for a userspace program, which may never answer. No signal
 * except SIGKILL can end this wait, and sometimes not even SIGKILL. So a child does the read. If
 * the read takes too long, this program sends SIGKILL to the child and does not wait for its end.
 * The child inherits the descriptor that was opened at the start. A page of userfaultfd is an error
 * at once, because the kernel does not wait for it on behalf of another process.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tools/attach/bounded.h"

int bounded_put(struct gtp_text *out, const void *bytes, size_t len)
{
	char *more = realloc(out->bytes, out->len + len + 1);

	if (!more)
		return -ENOMEM;
	out->bytes = more;
	out->size = out->len + len + 1;
	memcpy(more + out->len, bytes, len);
	out->len += len;
	return 0;
}

static s64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (s64)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static _Noreturn void send(int fd, int err, const struct gtp_text *out)
{
	const char *bytes = out->bytes;
	size_t left = out->len;
	ssize_t n = write(fd, &err, sizeof(err));

	while (n > 0 && left) {
		n = write(fd, bytes, left);
		if (n > 0) {
			bytes += n;
			left -= (size_t)n;
		}
	}
	_exit(n > 0 ? 0 : 1);
}

/* Read all that the child writes; return 0, or -ETIMEDOUT if the child has not ended after @ms. */
static int receive(int fd, u32 ms, struct gtp_text *out)
{
	struct pollfd from = { .fd = fd, .events = POLLIN };
	const s64 end = now_ms() + ms;
	static char bytes[65536];
	s64 left;
	ssize_t n;

	for (;;) {
		left = end - now_ms();
		if (left <= 0 || !poll(&from, 1, (int)left))
			return -ETIMEDOUT;
		n = read(fd, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		if (bounded_put(out, bytes, (size_t)n))
			return -ENOMEM;
	}
}

int bounded_call(int (*fn)(void *ctx, const void *arg, struct gtp_text *out), void *ctx,
		 const void *arg, u32 ms, struct gtp_text *out)
{
	int ends[2], err, result;
	pid_t child;

	out->len = 0;
	if (pipe(ends))
		return -errno;
	signal(SIGCHLD, SIG_IGN); /* the kernel reaps the child, whenever it ends */
	child = fork();
	if (!child) {
		err = fn(ctx, arg, out);
		send(ends[1], err, out);
	}
	close(ends[1]);
	err = child < 0 ? -EAGAIN : receive(ends[0], ms, out);
	close(ends[0]);
	if (child > 0 && err)
		kill(child, SIGKILL);
	if (!err && out->len < sizeof(result))
		err = -EIO; /* the child was killed */
	if (err) {
		out->len = 0;
		return err;
	}
	memcpy(&result, out->bytes, sizeof(result));
	out->len -= sizeof(result);
	memmove(out->bytes, out->bytes + sizeof(result), out->len);
	return result;
}
