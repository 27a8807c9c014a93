// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pipe to /proc/gtp, for a GDB on another machine:
 *	(gdb) target remote | ssh root@host gdbtp-connect
 *
 * Usage: gdbtp-connect [FILE]		copies stdin to FILE (/proc/gtp) and FILE to stdout
 * Exit: 0 when GDB has closed its end, 1 when FILE cannot be opened or fails.
 *
 * While ssh still shakes hands, GDB gets no acknowledgment and sends its first packet again every
 * two seconds. All copies arrive at once then, each would have its answer, and GDB would take the
 * second for that of its next packet. So what GDB repeats is left out on the way to FILE.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 16384, PACKET_MAX = 32768 };

/**
 * struct filter - what GDB says until it needs no more acknowledgments
 * @off: it needs none, and says nothing twice
 * @acked: GDB has had the answer to @last
 * @hash: where in @packet its checksum is; 0: still to come
 * @len: of @packet, which is on its way; 0: none is
 * @last_len: of @last, the packet before it
 */
struct filter {
	bool off, acked;
	size_t hash, len, last_len;
	char packet[PACKET_MAX], last[PACKET_MAX];
};

/* struct pipe - one direction; GDB's has a filter */
struct pipe {
	int from, to;
	const char *from_name, *to_name;
	struct filter *filter;
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

/*
 * packet_end - the packet to @out, unless GDB repeats it: it acknowledges each answer before the
 * next packet, so one that is the same without that is one that it has not been answered yet
 */
static size_t packet_end(struct filter *f, char *out)
{
	size_t len = f->len;

	f->len = 0;
	if (!f->acked && len == f->last_len && !memcmp(f->packet, f->last, len))
		return 0;
	memcpy(out, f->packet, len);
	memcpy(f->last, f->packet, len);
	f->last_len = len;
	f->acked = false;
	return len;
}

static size_t packet_byte(struct filter *f, char c, char *out)
{
	f->packet[f->len++] = c;
	if (c == '#' && !f->hash)
		f->hash = f->len;
	if (f->hash && f->len == f->hash + 2)
		return packet_end(f, out);
	if (f->len < PACKET_MAX)
		return 0;
	/* The module refuses what is that long. */
	memcpy(out, f->packet, f->len);
	f->off = true;
	return f->len;
}

/* between_packets - acknowledgments, ^C; a '-' asks again for what a pipe loses never */
static size_t between_packets(struct filter *f, char c, char *out)
{
	static const char no_acks[] = "$QStartNoAckMode#b0";

	if (c == '$') {
		f->hash = 0;
		f->packet[0] = c;
		f->len = 1;
		return 0;
	}
	if (c == '-')
		return 0;
	if (c == '+') {
		f->acked = true;
		f->off = f->last_len == sizeof(no_acks) - 1 &&
			 !memcmp(f->last, no_acks, f->last_len);
	}
	*out = c;
	return 1;
}

/* filter - GDB's bytes to @out, which takes PACKET_MAX more; how many these are */
static size_t filter(struct filter *f, const char *in, size_t len, char *out)
{
	size_t i, n = 0;

	for (i = 0; i < len && !f->off; i++)
		n += f->len ? packet_byte(f, in[i], out + n) : between_packets(f, in[i], out + n);
	memcpy(out + n, in + i, len - i);
	return n + len - i;
}

/* Until the end of the input: 0, or 1 after having said what failed. */
static int copy(const struct pipe *p)
{
	char buf[CHUNK], filtered[CHUNK + PACKET_MAX];

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
		if (p->filter)
			n = filter(p->filter, buf, n, filtered);
		if (write_all(p->to, p->filter ? filtered : buf, n)) {
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
	static struct filter gdb;
	struct pipe in = { .from = STDIN_FILENO,
			   .from_name = "standard input",
			   .to_name = path,
			   .filter = &gdb };
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
