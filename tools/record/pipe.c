// SPDX-License-Identifier: GPL-2.0-only
/* Read from the module's pipe, and catch the signals that end the reading. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "pipe.h"
#include "trouble.h"

void pipe_open(struct pipe *p, const char *path)
{
	p->path = path;
	p->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (p->fd >= 0)
		return;
	if (errno == EBUSY)
		fail(RUN_BUSY, "%s: somebody else records; there is one at a time", path);
	if (errno == ENOENT && !strcmp(path, PIPE_PATH))
		fail(RUN_FAILED, "%s does not exist: load the module first, modprobe gdbtp", path);
	fail(RUN_FAILED, "%s: %s%s", path, strerror(errno),
	     errno == EACCES || errno == EPERM ? "; recording is for root" : "");
}

void pipe_signals(struct pipe *p)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction was;
	sigset_t set;
	u32 i;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* treat a file-size limit like a full disk */
	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!sigaction(numbers[i], NULL, &was) && was.sa_handler != SIG_IGN)
			sigaddset(&set, numbers[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	p->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (p->signals < 0)
		fail(RUN_FAILED, "signalfd: %s", strerror(errno));
}

int pipe_wait(const struct pipe *p, int ms, bool naps)
{
	struct pollfd fds[] = { { p->signals, POLLIN, 0 }, { p->fd, POLLIN, 0 } };

	if (poll(fds, naps ? 1 : 2, ms) <= 0)
		return 0;
	return (fds[0].revents ? PIPE_SIGNAL : 0) | (fds[1].revents ? PIPE_READABLE : 0);
}

bool pipe_read(struct pipe *p, void *to, size_t len, size_t *n)
{
	ssize_t got = read(p->fd, to, len);

	*n = got > 0 ? (size_t)got : 0;
	if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
		return true;
	p->ended = true;
	p->error = got < 0 ? errno : 0;
	return false;
}

void pipe_trouble(const struct pipe *p)
{
	if (!p->error)
		trouble("%s ended in the middle of a run", p->path);
	else if (p->error == ESTALE)
		trouble("a new run, or a reset, has dropped the frames that were not read yet");
	else
		trouble("%s: %s", p->path, strerror(p->error));
}
