// SPDX-License-Identifier: GPL-2.0-only
/*
 * gtp-attach: for `target remote | gtp attach PID` in GDB, which inspects a process while it runs.
 *
 * Reads GDB's packets from standard input, and writes the replies to standard output. Before the
 * first tstart it does not stop, trace or change the process; then agent.h takes over.
 */
#define _GNU_SOURCE
#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "host.h"
#include "tools/connect/acks.h"

enum { LOOK_MS = 100, CHUNK = 4096 };

static const char usage[] = "usage: gdb -ex 'target remote | gtp-attach PID'\n"
			    "       shows a process to GDB without stopping it: gtp-attach(1)\n";

/*
 * take - pass GDB's bytes to the stub; return false at the end of the input
 *
 * Drop a repetition of the first packet: on a busy machine this program may begin so late that GDB
 * has sent that packet again.
 */
static bool take(struct host *h)
{
	static char bytes[CHUNK], filtered[CHUNK + ACKS_PACKET_MAX];
	static struct acks acks;
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));
	size_t done, len;

	if (n < 0)
		return errno == EINTR;
	done = acks_filter(&acks, bytes, (size_t)n, filtered, &len);
	gtp_stub_feed(&h->stub, (const u8 *)filtered, (u32)len);
	gtp_stub_feed(&h->stub, (const u8 *)bytes + done, (u32)((size_t)n - done));
	return n;
}

static void serve(struct host *h)
{
	struct pollfd line[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = h->process.pidfd, .events = POLLIN },
	};

	while (!h->broken) {
		/*
		 * Poll the pidfd only while GDB waits for the process: after the process has ended,
		 * poll() would always return at once.
		 */
		line[1].fd = h->stub.waiting ? h->process.pidfd : -1;
		if (poll(line, ARRAY_SIZE(line), host_looks(h) ? LOOK_MS : -1) < 0 &&
		    errno != EINTR)
			err(1, "poll");
		if (line[0].revents && !take(h))
			return;
		host_look(h);
	}
}

static u32 parse_pid(const char *text)
{
	char *end;
	unsigned long pid = strtoul(text, &end, 10);

	if (*text < '1' || *text > '9' || *end || pid > INT_MAX)
		errx(2, "%s is no number of a process", text);
	return (u32)pid;
}

int main(int argc, char **argv)
{
	static struct host host;
	struct gtp_why why = { "" };

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc != 2) {
		fputs(usage, stderr);
		return 2;
	}
	/* ^C in the terminal is meant for GDB, which sends a byte for it. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (host_init(&host, parse_pid(argv[1]), &why))
		errx(1, "%s", why.text);
	serve(&host);
	host_exit(&host);
	return 0;
}
