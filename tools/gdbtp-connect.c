// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pipe to /proc/gtp, for a GDB on another machine:
 *	(gdb) target remote | ssh root@host gdbtp-connect
 *
 * Usage: gdbtp-connect [FILE]		copies stdin to FILE (/proc/gtp) and FILE to stdout
 * Exit: 0 when GDB has closed its end, 1 when FILE cannot be opened or fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* struct pipe - one direction */
struct pipe {
	int from, to;
	const char *from_name, *to_name;
};

static void complain(const char *format, ...)
{
	va_list args;

	fputs("gdbtp-connect: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static int write_all(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		buf += n;
		len -= n;
	}
	return 0;
}

/* Until the end of the input: 0, or 1 after having said what failed. */
static int copy(const struct pipe *p)
{
	char buf[16384];

	for (;;) {
		ssize_t n = read(p->from, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			complain("reading %s: %s", p->from_name, strerror(errno));
			return 1;
		}
		if (n == 0)
			return 0;
		if (write_all(p->to, buf, n)) {
			/* GDB has gone away: the usual end, seen from the other side. */
			if (errno == EPIPE)
				return 0;
			complain("writing %s: %s", p->to_name, strerror(errno));
			return 1;
		}
	}
}

/* Whichever direction ends first ends the connection: the file closes, the module sees it. */
static void *copy_and_exit(void *pipe)
{
	_exit(copy(pipe));
}

static int open_target(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == EBUSY)
		complain("%s: another GDB is connected to it", path);
	else if (errno == ENOENT)
		complain("%s does not exist: load the module first (modprobe gdbtp)", path);
	else if (errno == EACCES || errno == EPERM)
		complain("%s: %s; it is for root, and not in lockdown", path, strerror(errno));
	else
		complain("%s: %s", path, strerror(errno));
	return -1;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "/proc/gtp";
	struct pipe in = { .from = STDIN_FILENO, .from_name = "standard input", .to_name = path };
	struct pipe out = { .to = STDOUT_FILENO, .from_name = path, .to_name = "standard output" };
	pthread_t thread;

	if (argc > 2 || path[0] == '-') {
		fputs("usage: gdbtp-connect [FILE]\n"
		      "In GDB: target remote | ssh root@HOST gdbtp-connect\n",
		      stderr);
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	in.to = open_target(path);
	out.from = in.to;
	if (in.to < 0)
		return 1;
	/*
	 * A thread for each direction: a write may wait until replies have been read, so that one
	 * thread that does both could wait for itself.
	 */
	if (pthread_create(&thread, NULL, copy_and_exit, &out)) {
		complain("no thread: out of memory?");
		return 1;
	}
	copy_and_exit(&in);
}
