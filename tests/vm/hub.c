// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs on the host: shares a guest's only port among any number of clients. The guest's agent is at
 * the other end of the port. Each packet of a GDB passes through the hub twice.
 *
 * Usage: hub PORT FOLDER SECONDS      tests/vm/run starts it
 * Connects to QEMU's socket PORT and, when the agent has said hello, makes two sockets:
 * FOLDER/agent, for clients that send frames (tests/lib/agent.py, in-guest), with one stream each;
 * and FOLDER/gtp, for GDBs, which connects them to /proc/gtp. When the guest is gone, or has not
 * answered for SECONDS, all clients get an end of file, and the hub ends.
 *
 * Order: the data of a GDB's connection (a line), and its close, go to the guest before anything
 * that another client sends later.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "agent.h"

/* The port and two doors come first among the descriptors to wait for; the clients follow. */
enum { PORT, LINES, OTHERS, FIRST_CLIENT };

#define EACH 5000 /* milliseconds between two pings of the agent */

/**
 * struct bytes - bytes that wait
 * @at: holds @n of them
 */
struct bytes {
	char *at;
	size_t n;
};

/**
 * struct client - a client on the host, with one stream to the guest
 * @stream: the number by which the guest knows the client
 * @line: a GDB, whose bytes are data for /proc/gtp; other clients send frames
 * @begun: the guest knows the stream
 * @closing: the stream has ended; the client is removed when it has all of its bytes
 * @gone: the client is to be removed
 * @asks: bytes that were read from the client, the end of which may be part of a frame
 * @unsent: bytes that the client has not accepted yet
 */
struct client {
	int fd;
	u32 stream;
	bool line, begun, closing, gone;
	struct bytes asks, unsent;
};

static struct client *clients;
static struct pollfd *fds;
static size_t nclients;
static u32 last_stream;
static const char *folder;
static int port, doors[2] = { -1, -1 };
static struct bytes from_port, to_port;
static bool greeted, told; /* the agent has said hello; it was told to end */
static s64 heard, asked;   /* when the agent has said something, and was pinged */

void die(const char *what)
{
	fprintf(stderr, "hub: %s: %s\n", what, strerror(errno));
	exit(1);
}

static s64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

/* --- bytes --- */

static void add(struct bytes *b, const void *more, size_t n)
{
	char *at = realloc(b->at, b->n + n + 1);

	if (!at)
		die("memory");
	memcpy(at + b->n, more, n);
	b->at = at;
	b->n += n;
}

static void take(struct bytes *b, size_t n)
{
	b->n -= n;
	memmove(b->at, b->at + n, b->n);
}

/* Write as many bytes as the socket accepts now. Drop all if its other end is gone. */
static void push(int fd, struct bytes *unsent)
{
	while (unsent->n) {
		ssize_t k = send(fd, unsent->at, unsent->n, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0 && errno == EAGAIN)
			return;
		take(unsent, k < 0 ? unsent->n : (size_t)k);
	}
}

/*
 * Read once from a socket. Return the number of bytes, 0 if the socket has ended, and -1 if there
 * is nothing to read now.
 */
static ssize_t pull(int fd, struct bytes *to)
{
	static char some[1 << 16];
	ssize_t k;

	do {
		k = recv(fd, some, sizeof(some), MSG_DONTWAIT);
	} while (k < 0 && errno == EINTR);
	if (k < 0)
		return errno == EAGAIN ? -1 : 0;
	add(to, some, k);
	return k;
}

/* --- to the guest --- */

/* Send a frame to the guest, by a single write if the port accepts all of it. */
static void tell(u32 stream, u32 kind, const void *bytes, size_t n)
{
	struct frame f = { stream, kind, n };

	told |= kind == EXIT;
	add(&to_port, &f, sizeof(f));
	add(&to_port, bytes, n);
	push(port, &to_port);
}

/* The length of the frame with which the bytes begin, and its head; 0 if it is not complete. */
static size_t whole_frame(const struct bytes *b, size_t at, struct frame *f)
{
	if (b->n - at < sizeof(*f))
		return 0;
	memcpy(f, b->at + at, sizeof(*f));
	return b->n - at < sizeof(*f) + f->length ? 0 : sizeof(*f) + f->length;
}

/* Pass on the bytes that were read from a client. */
static void forward(struct client *c)
{
	size_t at = 0, length;
	struct frame f;

	for (; c->line && at < c->asks.n; at += length) {
		length = c->asks.n - at < CHUNK ? c->asks.n - at : CHUNK;
		tell(c->stream, DATA, c->asks.at + at, length);
	}
	for (; !c->line && (length = whole_frame(&c->asks, at, &f)); at += length) {
		c->begun = true;
		tell(c->stream, f.kind, c->asks.at + at + sizeof(f), f.length);
	}
	take(&c->asks, at);
}

/* Remove a client. Tell the guest, unless it has ended the stream itself. */
static void leave(struct client *c)
{
	if (c->begun && !c->closing)
		tell(c->stream, GONE, NULL, 0);
	c->gone = true;
}

/* Read from a line until it has nothing more, and pass all of it on. */
static void drain(struct client *c)
{
	ssize_t k;

	do {
		k = pull(c->fd, &c->asks);
	} while (k > 0);
	forward(c);
	if (!k)
		leave(c);
}

/*
 * Read from a client that has sent something. A line may have been closed before another client
 * made its request, and poll() may have seen only the request. So read all lines after the request
 * has been read, and pass on their bytes first.
 */
static void from_client(struct client *c)
{
	ssize_t k = pull(c->fd, &c->asks);

	for (size_t i = 0; !c->line && i < nclients; i++)
		if (clients[i].line && !clients[i].gone)
			drain(&clients[i]);
	forward(c);
	if (!k)
		leave(c);
}

/* --- from the guest --- */

/* Remove a client whose stream has ended when the client has all of it, or is gone. */
static void settle(struct client *c)
{
	push(c->fd, &c->unsent);
	c->gone |= c->closing && !c->unsent.n;
}

/* Open a socket for clients. It gets its name only when clients can connect. */
static int open_door(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	char path[sizeof(at.sun_path)];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (snprintf(at.sun_path, sizeof(at.sun_path), "%s.new", path) >=
		    (int)sizeof(at.sun_path) ||
	    fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 64) ||
	    rename(at.sun_path, path))
		die(path);
	return fd;
}

static void to_client(const struct frame *f, const char *bytes)
{
	struct client *c = NULL;

	for (size_t i = 0; i < nclients && !c; i++)
		if (clients[i].stream == f->stream && !clients[i].gone)
			c = &clients[i];
	if (!c)
		return;
	if (!c->line)
		add(&c->unsent, f, sizeof(*f));
	if (!c->line || f->kind == DATA)
		add(&c->unsent, bytes, f->length);
	c->closing |= f->kind == END;
	settle(c);
}

/* Handle frames from the guest. Return false if the guest is gone. */
static bool from_guest(void)
{
	ssize_t k = pull(port, &from_port);
	size_t at = 0, length;
	struct frame f;

	if (k > 0)
		heard = now();
	for (; (length = whole_frame(&from_port, at, &f)); at += length) {
		if (f.kind != HELLO) {
			to_client(&f, from_port.at + at + sizeof(f));
			continue;
		}
		greeted = true;
		doors[0] = open_door("gtp");
		doors[1] = open_door("agent");
	}
	take(&from_port, at);
	return k;
}

/* --- all of it --- */

static void accept_client(int door, bool line)
{
	int fd = accept4(door, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	clients = realloc(clients, (nclients + 1) * sizeof(*clients));
	fds = realloc(fds, (FIRST_CLIENT + nclients + 1) * sizeof(*fds));
	if (!clients || !fds)
		die("memory");
	clients[nclients++] =
		(struct client){ .fd = fd, .stream = ++last_stream, .line = line, .begun = line };
	if (line)
		tell(last_stream, LINE, NULL, 0);
}

static void remove_gone(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < nclients; i++) {
		if (!clients[i].gone) {
			clients[kept++] = clients[i];
			continue;
		}
		close(clients[i].fd);
		free(clients[i].asks.at);
		free(clients[i].unsent.at);
	}
	nclients = kept;
}

static void watch(int fd, struct pollfd *at, size_t unsent)
{
	*at = (struct pollfd){ fd, POLLIN | (unsent ? POLLOUT : 0), 0 };
}

/* Wait for input, or for room for unsent bytes. Return false if the guest is gone. */
static bool turn(int wait)
{
	size_t n = nclients;

	watch(port, &fds[PORT], to_port.n);
	watch(doors[0], &fds[LINES], 0);
	watch(doors[1], &fds[OTHERS], 0);
	for (size_t i = 0; i < n; i++)
		watch(clients[i].fd, &fds[FIRST_CLIENT + i], clients[i].unsent.n);
	if (poll(fds, FIRST_CLIENT + n, wait) <= 0)
		return true;
	push(port, &to_port);
	if ((fds[PORT].revents & ~POLLOUT) && !from_guest())
		return false;
	/* Lines come before the requests of others. */
	for (int line = 1; line >= 0; line--) {
		for (size_t i = 0; i < n; i++) {
			struct client *c = &clients[i];

			if (c->line != line || c->gone)
				continue;
			if (fds[FIRST_CLIENT + i].revents & POLLOUT)
				settle(c);
			if ((fds[FIRST_CLIENT + i].revents & ~POLLOUT) && !c->gone)
				from_client(c);
		}
	}
	remove_gone();
	for (int i = 0; i < 2; i++)
		if (fds[LINES + i].revents)
			accept_client(doors[i], !i);
	return true;
}

/* Ping the agent. Return false if it has not said anything for so many milliseconds. */
static bool ask(s64 limit)
{
	s64 at = now();

	if (!greeted) {
		heard = at;
	} else if (at - asked >= EACH) {
		asked = at;
		tell(0, PING, NULL, 0);
	}
	return at - heard < limit;
}

/* Connect to the socket of a QEMU that may be just starting. */
static void connect_port(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	s64 end = now() + 60000;

	if (snprintf(at.sun_path, sizeof(at.sun_path), "%s", path) >= (int)sizeof(at.sun_path))
		die(path);
	port = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	while (connect(port, (struct sockaddr *)&at, sizeof(at))) {
		if (now() > end)
			die(path);
		usleep(20000);
	}
}

int main(int argc, char **argv)
{
	s64 limit = argc == 4 ? 1000 * atoll(argv[3]) : 0;

	if (limit <= 0) {
		fprintf(stderr, "usage: hub PORT FOLDER SECONDS\n");
		return 2;
	}
	folder = argv[2];
	fds = malloc(FIRST_CLIENT * sizeof(*fds));
	if (!fds)
		die("memory");
	connect_port(argv[1]);
	for (heard = now(); turn(limit < EACH ? limit : EACH);) {
		if (!ask(limit)) {
			fprintf(stderr, "hub: the agent has not answered for %s s\n", argv[3]);
			return 1;
		}
	}
	if (!told)
		fprintf(stderr, "hub: the guest has gone\n");
	return !told;
}
