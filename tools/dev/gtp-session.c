// SPDX-License-Identifier: GPL-2.0-only
/*
 * gtp-session: play packet transcripts to a real /proc/gtp.
 *
 *	gtp-session FILE...
 *
 * The unit tests play the same files to the stub with a simulated host. Here the fixture module
 * (/proc/gtp_target) makes the calls, for a child process, because gdbtp does not trace the process
 * that has /proc/gtp open. The child stays on one CPU, so that the frames are in the order of the
 * calls. Prints TAP.
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "session.h"

/* The longest wait for a reply, in ms. A reply takes less even under emulation with KASAN. */
enum { PATIENCE_MS = 60000 };

/**
 * struct line - the connection to /proc/gtp, and to the process that makes the calls
 * @orders: a pipe to that process
 * @answers: a pipe from that process
 */
struct line {
	int fd;
	int orders;
	int answers;
	unsigned char buf[4096];
	ssize_t len;
	ssize_t pos;
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* --- the process that makes the calls --- */

static char obey(const char *order)
{
	int fd = open("/proc/gtp_target", O_WRONLY);
	ssize_t len = (ssize_t)strlen(order);
	char answer = 'n';

	if (fd < 0)
		return answer;
	if (write(fd, order, (size_t)len) == len)
		answer = 'y';
	close(fd);
	return answer;
}

static void stay_on_one_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
}

static void make_calls(int orders, int answers)
{
	char order[512];
	ssize_t n;

	stay_on_one_cpu();
	while ((n = read(orders, order, sizeof(order) - 1)) > 0) {
		char answer;

		order[n] = '\0';
		answer = obey(order);
		if (write(answers, &answer, 1) != 1)
			break;
	}
	_exit(0);
}

/* Called before /proc/gtp is opened, so that the child does not inherit the descriptor. */
static void start_calls(struct line *l)
{
	int orders[2], answers[2];

	if (pipe(orders) || pipe(answers))
		die("pipe");
	switch (fork()) {
	case -1:
		die("fork");
		break;
	case 0:
		close(orders[1]);
		close(answers[0]);
		make_calls(orders[0], answers[1]);
	}
	close(orders[0]);
	close(answers[1]);
	l->orders = orders[1];
	l->answers = answers[0];
}

/* --- the target of transcripts, struct session_world --- */

static int do_send(void *ctx, const void *bytes, size_t len)
{
	struct line *l = ctx;

	while (len) {
		ssize_t n = write(l->fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		bytes = (const char *)bytes + n;
		len -= (size_t)n;
	}
	return 0;
}

static int do_receive(void *ctx, bool wait)
{
	struct line *l = ctx;

	if (l->pos == l->len) {
		struct pollfd p = { .fd = l->fd, .events = POLLIN };

		if (poll(&p, 1, wait ? PATIENCE_MS : 0) <= 0 || !(p.revents & POLLIN))
			return -1;
		l->pos = 0;
		l->len = read(l->fd, l->buf, sizeof(l->buf));
		if (l->len <= 0) {
			l->len = 0;
			return -1;
		}
	}
	return l->buf[l->pos++];
}

static int do_call(void *ctx, const char *what)
{
	struct line *l = ctx;
	char order[512];
	char answer;
	int n = snprintf(order, sizeof(order), "call %s", what);

	if (n >= (int)sizeof(order) || write(l->orders, order, (size_t)n) != n)
		return -1;
	return read(l->answers, &answer, 1) == 1 && answer == 'y' ? 0 : -1;
}

static int do_reconnect(void *ctx)
{
	struct line *l = ctx;

	if (l->fd >= 0)
		close(l->fd);
	l->pos = 0;
	l->len = 0;
	l->fd = open("/proc/gtp", O_RDWR | O_CLOEXEC);
	return l->fd < 0 ? -1 : 0;
}

static unsigned long long do_symbol(void *ctx, const char *name)
{
	FILE *f = fopen("/proc/gtp_target", "r");
	unsigned long long addr, found = 0;
	char line[256], symbol[128];

	if (!f)
		return 0;
	while (!found && fgets(line, sizeof(line), f))
		if (sscanf(line, "addr %127s %llx", symbol, &addr) == 2 && !strcmp(symbol, name))
			found = addr;
	fclose(f);
	return found;
}

static int play(struct line *l, const char *path)
{
	const struct session_world world = {
		do_send, do_receive, do_call, do_reconnect, do_symbol, l,
	};
	const char *name = strrchr(path, '/');
	int err;

	if (do_reconnect(l))
		die("/proc/gtp");
	/* Print errors to stdout, from which TAP consumers read. */
	err = session_play(path, &world, stdout);
	printf("%sok - session %s\n", err ? "not " : "", name ? name + 1 : path);
	fflush(stdout);
	return err;
}

int main(int argc, char **argv)
{
	struct line l = { .fd = -1 };
	int failed = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: gtp-session FILE...\n");
		return 2;
	}
	start_calls(&l);
	for (int i = 1; i < argc; i++)
		failed += play(&l, argv[i]) != 0;
	close(l.fd);
	close(l.orders);
	wait(NULL);
	return failed != 0;
}
