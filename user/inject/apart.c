// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a function in a process of its own, which outlives this one.
 *
 * When a tracer dies, its stopped threads run at once. A thread with the registers of a system call
 * of ours must not, so the tracer is a child. The child has a session of its own: the signals of a
 * terminal, and those to this program's group, do not reach it.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/inject/apart.h"

/* struct answer - what the child sends back, in one write() */
struct answer {
	int err;
	struct gtp_why why;
	u64 result[32]; /* of any type, so aligned for all */
};

static _Noreturn void answer(int fd, int (*fn)(void *arg, void *result, struct gtp_why *why),
			     void *arg)
{
	struct answer a = { 0 };

	setsid();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	a.err = fn(arg, a.result, &a.why);
	_exit(write(fd, &a, sizeof(a)) == sizeof(a) ? 0 : 1);
}

int gtp_apart(int (*fn)(void *arg, void *result, struct gtp_why *why), void *arg, void *result,
	      size_t size, struct gtp_why *why)
{
	struct answer a;
	pid_t child = -1;
	int ends[2];
	ssize_t n;

	if (!pipe(ends)) {
		child = fork();
		if (!child) {
			close(ends[0]);
			answer(ends[1], fn, arg);
		}
		close(ends[1]);
	}
	if (child < 0) {
		gtp_why(why, "no process can be created: %s", strerror(errno));
		return -EAGAIN;
	}
	do
		n = read(ends[0], &a, sizeof(a));
	while (n < 0 && errno == EINTR);
	close(ends[0]);
	waitpid(child, NULL, 0);
	if (n != sizeof(a)) {
		gtp_why(why, "the process that was to stop the other one was killed");
		return -EIO;
	}
	if (size)
		memcpy(result, a.result, size);
	*why = a.why;
	return a.err;
}
