// SPDX-License-Identifier: GPL-2.0-only
/*
 * Part of the agent: handles the host's requests about files, in order, with a thread for each
 * stream.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "agent.h"

enum { FDS = 64 };

/* The files that a stream has open; they are closed with the stream. */
struct desk {
	struct stream *stream;
	int fds[FDS];
	char answer[sizeof(struct answer) + MOST];
};

static bool mine(struct desk *d, int fd)
{
	for (int i = 0; i < FDS; i++)
		if (d->fds[i] == fd)
			return true;
	return false;
}

static s64 keep(struct desk *d, int fd)
{
	for (int i = 0; i < FDS; i++)
		if (d->fds[i] < 0)
			return d->fds[i] = fd;
	close(fd);
	return -EMFILE;
}

static s64 forget(struct desk *d, int fd)
{
	for (int i = 0; i < FDS; i++)
		if (d->fds[i] == fd)
			d->fds[i] = -1;
	return close(fd) ? -errno : 0;
}

static s64 list(const char *path, char *out)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	s64 n = 0;

	if (!dir)
		return -errno;
	while ((e = readdir(dir))) {
		size_t length = strlen(e->d_name) + 1;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (n + length > MOST) {
			n = -EFBIG;
			break;
		}
		memcpy(out + n, e->d_name, length);
		n += length;
	}
	closedir(dir);
	return n;
}

static s64 look(const char *path, char *out)
{
	struct stat st;
	u64 told[2];

	if (stat(path, &st))
		return -errno;
	told[0] = st.st_mode;
	told[1] = st.st_size;
	memcpy(out, told, sizeof(told));
	return sizeof(told);
}

static s64 transfer(struct request *q, const char *bytes, size_t length, char *out)
{
	ssize_t n;

	if (q->op == F_READ && q->offset >= 0)
		n = pread(q->fd, out, q->count < MOST ? q->count : MOST, q->offset);
	else if (q->op == F_READ)
		n = read(q->fd, out, q->count < MOST ? q->count : MOST);
	else if (q->offset >= 0)
		n = pwrite(q->fd, bytes, length, q->offset);
	else
		n = write(q->fd, bytes, length);
	return n < 0 ? -errno : n;
}

/* Return the time of a clock in nanoseconds. It is only for clocks whose time fits into 64 bits. */
static s64 clock_of(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t))
		return -errno;
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Handle a request and return its result; *FILLED receives the number of bytes of the answer. */
static s64 answered(struct desk *d, struct request *q, char *bytes, size_t length, size_t *filled)
{
	char *out = d->answer + sizeof(struct answer);
	s64 n = -EINVAL;

	*filled = 0;
	switch (q->op) {
	case F_OPEN:
		n = open(bytes, q->flags | O_NOCTTY | O_CLOEXEC, 0644);
		return n < 0 ? -errno : keep(d, n);
	case F_CLOSE:
		return mine(d, q->fd) ? forget(d, q->fd) : -EBADF;
	case F_READ:
	case F_WRITE:
		n = mine(d, q->fd) ? transfer(q, bytes, length, out) : -EBADF;
		*filled = q->op == F_READ && n > 0 ? n : 0;
		return n;
	case F_MKDIR:
		return mkdir(bytes, 0755) ? -errno : 0;
	case F_RMDIR:
		return rmdir(bytes) ? -errno : 0;
	case F_LIST:
	case F_STAT:
		n = q->op == F_LIST ? list(bytes, out) : look(bytes, out);
		*filled = n > 0 ? n : 0;
		return n;
	case F_CLOCK:
		return clock_of(q->flags);
	case F_PID:
		return getpid();
	}
	return n;
}

static bool is_gone(struct stream *s)
{
	return __atomic_load_n(&s->gone, __ATOMIC_ACQUIRE);
}

/* Read exactly N bytes that the main thread has passed on; return false at the end. */
static bool take(struct stream *s, void *to, size_t n)
{
	while (n) {
		ssize_t k = read(s->inbox, to, n);

		if (k < 0 && errno == EINTR && !is_gone(s))
			continue;
		if (k <= 0)
			return false;
		to = (char *)to + k;
		n -= k;
	}
	return true;
}

/* Serve requests: each is its length, from the frame's header, and its bytes. */
static void serve(struct desk *d, char *body)
{
	struct stream *s = d->stream;
	struct request *q = (struct request *)body;
	struct answer a;
	u32 length;
	size_t filled;

	while (take(s, &length, sizeof(length))) {
		if (length < sizeof(*q) || length > MOST || !take(s, body, length))
			break;
		body[length] = 0;
		a.result = answered(d, q, body + sizeof(*q), length - sizeof(*q), &filled);
		if (is_gone(s))
			break;
		memcpy(d->answer, &a, sizeof(a));
		say(s->id, DATA, d->answer, sizeof(a) + filled);
	}
}

void *files(void *arg)
{
	struct stream *s = arg;
	struct desk *d = malloc(sizeof(*d));
	char *body = malloc(MOST + 1);

	if (!d || !body)
		abort();
	d->stream = s;
	memset(d->fds, -1, sizeof(d->fds));
	serve(d, body);
	for (int i = 0; i < FDS; i++)
		if (d->fds[i] >= 0)
			close(d->fds[i]);
	free(body);
	free(d);
	__atomic_store_n(&s->ended, true, __ATOMIC_RELEASE);
	wake();
	return NULL;
}
