// SPDX-License-Identifier: GPL-2.0-only
/*
 * The agent does for the host what only a program in the guest can do: it runs programs, reads and
 * writes files, and opens /proc/gtp for a GDB. Any number of streams share its one virtio-serial
 * port. A line is a stream to /proc/gtp. The agent closes a line before it reads the next frame.
 *
 * Usage: agent. It uses the port that is called "agent". The host sets the exit status.
 *
 * All its threads are one process, which the module treats as the connected GDB: like a GDB in the
 * guest it is not traced. Programs that it runs for the host are traced.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "agent.h"

static struct stream streams[STREAMS];
static int nstreams; /* the structs that have been used so far */
static int alarm_fd;
static bool child_ended; /* set in a signal handler */

static char body[MOST + 1];

static void say_number(u32 stream, u32 kind, s32 number)
{
	say(stream, kind, &number, sizeof(number));
}

/* Wake the main thread, so that it looks at its streams. */
void wake(void)
{
	u64 one = 1;

	if (write(alarm_fd, &one, sizeof(one)) < 0)
		die("eventfd");
}

/* --- data for a process or a thread --- */

static void shut(struct stream *s)
{
	if (s->to >= 0)
		close(s->to);
	s->to = -1;
	free(s->pending);
	s->pending = NULL;
	s->length = 0;
}

/* Write as much as the receiver accepts now; data that a process no longer reads is dropped. */
static void push(struct stream *s)
{
	while (s->to >= 0 && s->length) {
		ssize_t k = write(s->to, s->pending, s->length);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0 && errno == EAGAIN)
			return;
		if (k < 0) {
			shut(s);
			return;
		}
		s->length -= k;
		memmove(s->pending, s->pending + k, s->length);
	}
	if (s->closing)
		shut(s);
}

/* Keep bytes for the receiver until the next give(). */
static void hold(struct stream *s, const void *bytes, size_t n)
{
	char *more;

	if (s->to < 0 || s->closing)
		return;
	more = realloc(s->pending, s->length + n);
	if (!more)
		die("memory");
	memcpy(more + s->length, bytes, n);
	s->pending = more;
	s->length += n;
}

static void give(struct stream *s, const void *bytes, size_t n)
{
	hold(s, bytes, n);
	push(s);
}

/* --- streams --- */

static struct stream *of(u32 id)
{
	for (int i = 0; i < nstreams; i++)
		if (streams[i].kind && streams[i].id == id)
			return &streams[i];
	return NULL;
}

static struct stream *begin(u32 id, u32 kind)
{
	for (int i = 0; i < STREAMS; i++) {
		struct stream *s = &streams[i];

		if (s->kind)
			continue;
		*s = (struct stream){ .id = id, .kind = kind, .inbox = -1, .from = { -1, -1 } };
		if (i == nstreams)
			nstreams++;
		return s;
	}
	errno = EMFILE;
	die("too many streams");
	return NULL;
}

static void finish(struct stream *s)
{
	shut(s);
	for (int i = 0; i < 2; i++)
		if (s->from[i] >= 0)
			close(s->from[i]);
	if (s->inbox >= 0)
		close(s->inbox);
	s->kind = 0;
}

static void pipes(int ends[2], int ours)
{
	if (pipe2(ends, O_CLOEXEC) || fcntl(ends[ours], F_SETFL, O_NONBLOCK))
		die("pipe");
}

/* Execute the program, in the child of vfork(), which shares its parent's memory. */
static void become(char **argv, int in, int out, int err)
{
	sigset_t none;

	setsid();
	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static void run(u32 id, size_t n)
{
	struct stream *s = begin(id, RUN);
	int in[2], out[2], err[2] = { -1, -1 }, argc = 0;
	bool merged = n && body[0];
	char *argv[256];

	for (char *p = body + 1; p < body + n && argc < 255; p += strlen(p) + 1)
		argv[argc++] = p;
	argv[argc] = NULL;
	pipes(in, 1);
	pipes(out, 0);
	if (!merged)
		pipes(err, 0);
	s->pid = vfork();
	if (!s->pid)
		become(argv, in[0], out[1], merged ? out[1] : err[1]);
	if (s->pid < 0)
		die("vfork");
	close(in[0]);
	close(out[1]);
	if (!merged)
		close(err[1]);
	s->to = in[1];
	s->from[0] = out[0];
	s->from[1] = err[0];
}

static bool line_write(int fd, const char *bytes, ssize_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, bytes, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return false;
		bytes += k;
		n -= k;
	}
	return true;
}

/* Copy bytes both ways until the host closes its end; return 0, or an errno if the device fails. */
static int pump(struct stream *s, int fd)
{
	struct pollfd fds[2] = { { fd, POLLIN, 0 }, { s->inbox, POLLIN, 0 } };
	char bytes[CHUNK];
	ssize_t n;

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return errno;
		if (fds[0].revents) {
			n = read(fd, bytes, sizeof(bytes));
			if (n <= 0)
				return n ? errno : EPIPE;
			say(s->id, DATA, bytes, n);
		}
		if (fds[1].revents) {
			n = read(s->inbox, bytes, sizeof(bytes));
			if (n <= 0)
				return 0;
			if (!line_write(fd, bytes, n))
				return errno;
		}
	}
}

static void *line(void *arg)
{
	struct stream *s = arg;
	int fd = open("/proc/gtp", O_RDWR | O_NOCTTY | O_CLOEXEC), error = fd < 0 ? errno : 0;

	say_number(s->id, OPENED, error);
	if (!error)
		error = pump(s, fd);
	if (fd >= 0)
		close(fd);
	s->status = error;
	__atomic_store_n(&s->ended, true, __ATOMIC_RELEASE);
	wake();
	return NULL;
}

static void thread(u32 id, u32 kind)
{
	struct stream *s = begin(id, kind);
	int ends[2];

	pipes(ends, 1);
	s->inbox = ends[0];
	s->to = ends[1];
	if (pthread_create(&s->thread, NULL, kind == LINE ? line : files, s))
		die("pthread_create");
}

/* --- frames from the host --- */

/* Close the line at once: a later frame must not find the device still open. */
static void close_line(struct stream *s)
{
	s->closing = true;
	while (s->to >= 0) {
		struct pollfd fd = { s->to, POLLOUT, 0 };

		poll(&fd, 1, -1);
		push(s);
	}
	pthread_join(s->thread, NULL);
	finish(s);
}

static void gone(struct stream *s)
{
	__atomic_store_n(&s->gone, true, __ATOMIC_RELEASE);
	switch (s->kind) {
	case RUN:
		if (!s->dead)
			kill(-s->pid, SIGKILL);
		shut(s);
		break;
	case LINE:
		close_line(s);
		break;
	case FILES:
		shut(s);
		break;
	}
}

static u32 number(void)
{
	u32 n;

	memcpy(&n, body, sizeof(n));
	return n;
}

static void hear_of(struct stream *s, const struct frame *f)
{
	switch (f->kind) {
	case DATA:
		if (s->kind == FILES)
			hold(s, &f->length, sizeof(f->length));
		give(s, body, f->length);
		break;
	case END:
		s->closing = true;
		push(s);
		break;
	case KILL:
		if (s->kind == RUN && !s->dead)
			kill(-s->pid, number());
		break;
	case GONE:
		gone(s);
		break;
	}
}

static void hear(void)
{
	struct frame f;
	struct stream *s;

	if (!port_read(&f, sizeof(f)) || f.length > MOST || !port_read(body, f.length))
		die("the host has gone");
	body[f.length] = 0;
	switch (f.kind) {
	case PING:
		say(0, PING, "", 0);
		return;
	case EXIT:
		exit(number());
	case RUN:
		run(f.stream, f.length);
		return;
	case FILES:
	case LINE:
		thread(f.stream, f.kind);
		return;
	}
	s = of(f.stream);
	if (s)
		hear_of(s, &f);
}

/* --- output of processes, and the end of processes --- */

/* Pass on some output of a process; return false if there is none now. */
static bool pass_on(struct stream *s, int which)
{
	static char bytes[CHUNK];
	ssize_t n;

	if (s->from[which] < 0)
		return false;
	n = read(s->from[which], bytes, sizeof(bytes));
	if (n > 0) {
		if (!s->gone)
			say(s->id, which ? ERR : DATA, bytes, n);
		return true;
	}
	if (n == 0 || errno != EAGAIN) {
		close(s->from[which]);
		s->from[which] = -1;
	}
	return false;
}

static void reap(void)
{
	int status;
	pid_t pid;

	if (!__atomic_exchange_n(&child_ended, false, __ATOMIC_RELAXED))
		return;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (int i = 0; i < nstreams; i++)
			if (streams[i].kind == RUN && streams[i].pid == pid && !streams[i].dead) {
				streams[i].dead = true;
				streams[i].status = status;
			}
}

/*
 * Report that a process has ended. Its children may still have its output open, but the agent reads
 * no more of that output.
 */
static void bury(struct stream *s)
{
	for (int i = 0; i < 2; i++)
		while (pass_on(s, i))
			;
	if (!s->gone)
		say_number(s->id, END, s->status);
	finish(s);
}

static void end_thread(struct stream *s)
{
	pthread_join(s->thread, NULL);
	if (!s->gone)
		say_number(s->id, END, s->status);
	finish(s);
}

/*
 * Serve a stream. The stream's thread may be in a read that never returns: if the stream is gone,
 * interrupt the read by a signal.
 */
static bool look_after(struct stream *s, struct pollfd *fds)
{
	for (int i = 0; i < 2; i++)
		if (fds[i].revents)
			pass_on(s, i);
	if (fds[2].revents)
		push(s);
	if (s->kind == RUN && s->dead) {
		bury(s);
	} else if (s->kind != RUN && __atomic_load_n(&s->ended, __ATOMIC_ACQUIRE)) {
		end_thread(s);
	} else if (s->kind == FILES && s->gone) {
		pthread_kill(s->thread, SIGUSR1);
		return true;
	}
	return false;
}

/* List the descriptors to wait for: the port, the alarm, and three of each stream in use. */
static int watched(struct pollfd *fds)
{
	int n = 2;

	fds[0] = (struct pollfd){ port_fd, POLLIN, 0 };
	fds[1] = (struct pollfd){ alarm_fd, POLLIN, 0 };
	for (int i = 0; i < nstreams; i++) {
		struct stream *s = &streams[i];

		if (!s->kind)
			continue;
		s->fds = n;
		fds[n++] = (struct pollfd){ s->from[0], POLLIN, 0 };
		fds[n++] = (struct pollfd){ s->from[1], POLLIN, 0 };
		fds[n++] = (struct pollfd){ s->length ? s->to : -1, POLLOUT, 0 };
	}
	return n;
}

static void turn(void)
{
	static struct pollfd fds[2 + 3 * STREAMS];
	static bool hasten;
	struct timespec soon = { .tv_nsec = 50000000 };
	int n = watched(fds);
	u64 count;
	sigset_t none;

	sigemptyset(&none);
	if (ppoll(fds, n, hasten ? &soon : NULL, &none) < 0) {
		if (errno != EINTR)
			die("ppoll");
		for (int i = 0; i < n; i++)
			fds[i].revents = 0;
	}
	if (fds[1].revents && read(alarm_fd, &count, sizeof(count)) < 0)
		die("eventfd");
	reap();
	hasten = false;
	for (int i = 0; i < nstreams; i++)
		if (streams[i].kind)
			hasten |= look_after(&streams[i], &fds[streams[i].fds]);
	if (fds[0].revents)
		do {
			hear();
		} while (port_has_more());
}

/* --- starting the agent --- */

static void nothing(int signal)
{
	(void)signal;
}

static void note_child(int signal)
{
	(void)signal;
	__atomic_store_n(&child_ended, true, __ATOMIC_RELAXED);
}

int main(void)
{
	struct sigaction act = { .sa_handler = nothing }, child = { .sa_handler = note_child };
	sigset_t chld;

	alarm_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!port_open() || alarm_fd < 0)
		die("the port");
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGCHLD, &child, NULL); /* a child's end must interrupt ppoll() */
	sigaction(SIGUSR1, &act, NULL);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	port_await_host();
	say(0, HELLO, "", 0);
	for (;;)
		turn();
}
