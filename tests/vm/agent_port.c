// SPDX-License-Identifier: GPL-2.0-only
/* The agent's port: frames to the host, and bytes from the host. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "agent.h"

int port_fd = -1;
static pthread_mutex_t saying = PTHREAD_MUTEX_INITIALIZER;

/* Bytes that were read from the port, of which the first @at have been taken. */
static struct {
	char bytes[CHUNK];
	size_t at, n;
} heard;

void die(const char *what)
{
	fprintf(stderr, "agent: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Write to the port. The host always reads its end, so this may block. */
static void write_all(const void *bytes, size_t n)
{
	while (n) {
		ssize_t k = write(port_fd, bytes, n);

		if (k < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (k <= 0)
			die("write to the port");
		bytes = (const char *)bytes + k;
		n -= k;
	}
}

/*
 * Send a frame to the host. Send a small frame by a single write, because the host has to handle
 * each write.
 */
void say(u32 stream, u32 kind, const void *bytes, size_t length)
{
	static char whole[sizeof(struct frame) + CHUNK];
	struct frame f = { stream, kind, length };

	pthread_mutex_lock(&saying);
	memcpy(whole, &f, sizeof(f));
	if (length <= CHUNK) {
		memcpy(whole + sizeof(f), bytes, length);
		write_all(whole, sizeof(f) + length);
	} else {
		write_all(whole, sizeof(f));
		write_all(bytes, length);
	}
	pthread_mutex_unlock(&saying);
}

/*
 * Read what the port has, at most a chunk: a frame's head and body usually arrive together. Return
 * false if the host has closed the port.
 */
static bool fill(void)
{
	ssize_t k;

	do {
		k = read(port_fd, heard.bytes, sizeof(heard.bytes));
	} while (k < 0 && errno == EINTR);
	heard.at = 0;
	heard.n = k < 0 ? 0 : k;
	return k > 0;
}

/*
 * Take bytes from the port. The host connects before the guest is started. When the host has closed
 * the port, the agent exits.
 */
bool port_read(void *to, size_t n)
{
	while (n) {
		size_t k = heard.n - heard.at;

		if (!k && !fill())
			return false;
		if (!k)
			continue;
		if (k > n)
			k = n;
		memcpy(to, heard.bytes + heard.at, k);
		heard.at += k;
		to = (char *)to + k;
		n -= k;
	}
	return true;
}

/* True if bytes are left that port_read() returns at once. */
bool port_has_more(void)
{
	return heard.at < heard.n;
}

/* Ports have names, but no fixed numbers. */
static int find_port(void)
{
	DIR *dir = opendir("/sys/class/virtio-ports");
	struct dirent *e;
	char path[512], name[32];
	int fd = -1;

	while (dir && fd < 0 && (e = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", e->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		snprintf(path, sizeof(path), "/dev/%s", e->d_name);
		if (fgets(name, sizeof(name), file) && !strcmp(name, "agent\n"))
			fd = open(path, O_RDWR | O_CLOEXEC);
		fclose(file);
	}
	if (dir)
		closedir(dir);
	return fd;
}

bool port_open(void)
{
	port_fd = find_port();
	return port_fd >= 0;
}

/*
 * Wait for the host: on a busy host, the guest may run before the host's program has connected to
 * the port.
 */
void port_await_host(void)
{
	struct pollfd fd = { port_fd, POLLOUT, 0 };

	while (poll(&fd, 1, -1) < 0 || (fd.revents & POLLHUP))
		usleep(10000);
}
