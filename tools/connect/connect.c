// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pipe to /proc/gtp, for a GDB on another machine:
 *	(gdb) target remote | ssh root@host gdbtp-connect
 *
 * Usage: gdbtp-connect [FILE]		copies stdin to FILE (/proc/gtp) and FILE to stdout
 * Exit: 0 when GDB has closed its end, 1 when FILE cannot be opened or fails.
 *
 * A packet that GDB repeats while it uses acknowledgments is passed on once, see acks.h. A reply
 * for which GDB no longer waits is not passed on, see turns.h.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "acks.h"
#include "complain.h"
#include "target.h"
#include "turns.h"

enum {
	CHUNK = 16384,
	NUDGE_MS = 500,
};

/*
 * The connection. @turns may be accessed only under the lock. @turns_on is true if GDB has stopped
 * using acknowledgments; from then on, @turns parses packets and replies.
 */
static struct {
	int target;
	const char *path;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool turns_on;
	struct turns turns;
} line = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

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

/*
 * End the connection when one direction has ended. The exit closes the file, so the module notices
 * that the connection has ended.
 */
static void end(int status)
{
	_exit(status);
}

/*
 * Report a failed read or write and exit. If GDB has exited, report nothing: that is the usual end.
 */
static void failed(const char *doing, const char *what)
{
	if (errno == EPIPE)
		end(0);
	complain("%s %s: %s", doing, what, strerror(errno));
	end(1);
}

/* read_some - read bytes and return their number; 0 at the end of the input */
static size_t read_some(int fd, const char *name, char *buf)
{
	ssize_t n;

	do
		n = read(fd, buf, CHUNK);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		failed("reading", name);
	return n;
}

/* Queue GDB's bytes for the module. */
static void asked(const char *bytes, size_t len, bool raw)
{
	bool interrupt, room;

	pthread_mutex_lock(&line.lock);
	if (raw) {
		room = turns_raw(&line.turns, bytes, len);
	} else {
		line.turns_on = true;
		room = turns_asked(&line.turns, bytes, len);
	}
	interrupt = line.turns.interrupting;
	pthread_cond_broadcast(&line.changed);
	pthread_mutex_unlock(&line.lock);
	if (!room) {
		complain("no memory");
		end(1);
	}
	if (!interrupt)
		return;
	/* The module accepts ^C while another write is in progress. */
	if (write_all(line.target, "\x03", 1))
		failed("writing", line.path);
	pthread_mutex_lock(&line.lock);
	line.turns.interrupting = false;
	pthread_cond_broadcast(&line.changed);
	pthread_mutex_unlock(&line.lock);
}

/* Finish after GDB has closed its end: write its last bytes to the module first. */
static void finish(void)
{
	pthread_mutex_lock(&line.lock);
	while (turns_left(&line.turns))
		pthread_cond_wait(&line.changed, &line.lock);
	end(0);
}

static void *from_gdb(void *unused)
{
	static struct acks acks;
	char buf[CHUNK], filtered[CHUNK + ACKS_PACKET_MAX];
	size_t len, done, n;

	while ((len = read_some(STDIN_FILENO, "standard input", buf))) {
		done = 0;
		if (!acks.off) {
			done = acks_filter(&acks, buf, len, filtered, &n);
			asked(filtered, n, true);
		}
		if (acks.off)
			asked(buf + done, len - done, false);
	}
	finish();
	return NULL;
}

/*
 * The thread that writes to the module. A write may return only after the module has handled the
 * packet, or after replies have been read. So each of the three jobs has its own thread: reading
 * from GDB, writing to the module, reading from the module.
 */
static void *to_module(void *unused)
{
	char buf[CHUNK];
	size_t n;

	for (;;) {
		pthread_mutex_lock(&line.lock);
		line.turns.writing = false;
		pthread_cond_broadcast(&line.changed);
		while (!(n = turns_take(&line.turns, buf, sizeof(buf))))
			pthread_cond_wait(&line.changed, &line.lock);
		line.turns.writing = true;
		pthread_mutex_unlock(&line.lock);
		if (write_all(line.target, buf, n))
			failed("writing", line.path);
	}
	return NULL;
}

/*
 * GDB stops waiting for a reply after three waits of two seconds without a byte. A packet may have
 * to wait until the module has handled an earlier packet for which GDB no longer waits. Meanwhile
 * send acknowledgments to GDB, as the module does. GDB ignores them, but goes on waiting.
 */
static void wait_for_module(void)
{
	struct pollfd ready = { .fd = line.target, .events = POLLIN };
	bool waits;

	while (!poll(&ready, 1, NUDGE_MS)) {
		pthread_mutex_lock(&line.lock);
		waits = line.turns_on && turns_waits(&line.turns);
		pthread_mutex_unlock(&line.lock);
		if (waits && write_all(STDOUT_FILENO, "+", 1))
			failed("writing", "standard output");
	}
}

static void from_module(void)
{
	char buf[CHUNK], answers[CHUNK + 3];
	const char *out;
	size_t len, n;

	while (wait_for_module(), (len = read_some(line.target, line.path, buf))) {
		out = buf;
		n = len;
		pthread_mutex_lock(&line.lock);
		if (line.turns_on) {
			out = answers;
			n = turns_answer(&line.turns, buf, len, answers);
		}
		pthread_cond_broadcast(&line.changed);
		pthread_mutex_unlock(&line.lock);
		if (write_all(STDOUT_FILENO, out, n))
			failed("writing", "standard output");
	}
	end(0);
}

int main(int argc, char **argv)
{
	pthread_t gdb, module;

	line.path = argc > 1 ? argv[1] : MODULE_FILE;
	if (argc > 2 || line.path[0] == '-') {
		fputs("usage: gdbtp-connect [FILE]\n"
		      "In GDB: target remote | ssh root@HOST gdbtp-connect\n",
		      stderr);
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	line.target = open_target(line.path);
	if (line.target < 0)
		return 1;
	if (pthread_create(&gdb, NULL, from_gdb, NULL) ||
	    pthread_create(&module, NULL, to_module, NULL)) {
		complain("no thread: out of memory?");
		return 1;
	}
	from_module();
}
