// SPDX-License-Identifier: GPL-2.0-only
/* Find the last frame of a recording, by the number of frames or by a condition. */
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "condition.h"
#include "frames.h"
#include "run/fail.h"
#include "until.h"

enum { ANSWER = 1 << 16 }; /* bytes for GDB's answer, at first */

/* --- the GDB that knows the types and compiles conditions --- */

static void say_all(int fd, const u8 *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno != EINTR)
			break; /* hear_all() notices that GDB has exited */
		bytes += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	shutdown(fd, SHUT_WR);
}

/* hear_all - read the whole answer and return it, NUL-terminated; the caller frees it */
static char *hear_all(int fd, const struct pipe *p)
{
	struct pollfd fds[] = { { p->signals, POLLIN, 0 }, { fd, POLLIN, 0 } };
	size_t size = ANSWER, len = 0;
	char *text = must(malloc(size));
	ssize_t n = 1;

	while (n) {
		poll(fds, ARRAY_SIZE(fds), -1);
		if (fds[0].revents)
			fail(RUN_INTERRUPTED, "interrupted before it began; nothing is written");
		if (len + 1 == size)
			text = must(realloc(text, size *= 2));
		n = fds[1].revents ? read(fd, text + len, size - len - 1) : -1;
		if (n < 0 && fds[1].revents && errno != EINTR)
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	text[len] = '\0';
	return text;
}

static void add(struct until *u, const char *line)
{
	u->conditions = must(realloc(u->conditions, (u->count + 1) * sizeof(*u->conditions)));
	if (!condition_parse(&u->conditions[u->count++], line))
		fail(RUN_FAILED, "--until: no code for a condition: %.200s", line);
}

static void ask(struct until *u, const struct pipe *p, const u8 *header, size_t len)
{
	bool whole = false;
	char *text, *line, *rest;

	say_all(u->asks, header, len);
	text = hear_all(u->asks, p);
	rest = text;
	close(u->asks);
	while ((line = strsep(&rest, "\n"))) {
		whole |= *line == '.';
		if (*line == '=')
			add(u, line + 1);
		else if (*line == '-')
			inform("%s", line + 2);
		else if (*line == '!')
			fail(RUN_FAILED, "%s", line + 2);
	}
	if (!whole)
		fail(RUN_FAILED, "--until: what knows the kernel's types has ended without a word");
	free(text);
}

void until_begin(struct until *u, const struct pipe *p, const u8 *header, size_t len)
{
	const char *line = memmem(header, len, "\nR ", 3);

	char known[32];
	int n = snprintf(known, sizeof(known), "\ntp T%x:", u->tracepoint);

	if (u->tracepoint && !memmem(header, len, known, (size_t)n))
		fail(RUN_FAILED, "--until: the run has no tracepoint %u", u->tracepoint);
	u->register_bytes = line ? (u32)strtoul(line + 3, NULL, 16) : 0;
	if (u->asks >= 0)
		ask(u, p, header, len);
}

/* --- frames --- */

/*
 * place_of - return the condition for a frame. If its tracepoint has several addresses, choose by
 * the pc that the frame has collected
 */
static const struct condition *place_of(const struct until *u, u32 tracepoint, const u8 *frame,
					size_t len)
{
	const struct condition *c, *found = NULL;
	bool several = false;
	u64 pc;

	for (c = u->conditions; c < u->conditions + u->count; c++) {
		several |= c->tracepoint == tracepoint && found;
		if (c->tracepoint == tracepoint && !found)
			found = c;
	}
	if (!several)
		return found;
	pc = condition_pc(frame, len, u->register_bytes);
	for (c = u->conditions; c < u->conditions + u->count; c++)
		if (c->tracepoint == tracepoint && c->address == pc)
			return c;
	return NULL;
}

/* is_last - true if this whole frame is the last one of the recording */
static bool is_last(struct until *u, const u8 *frame, size_t size)
{
	u32 tracepoint = (u32)gtp_get_le(frame, FRAMES_NUMBER);
	const struct condition *c;

	if (tracepoint == FRAMES_MARK)
		return false;
	if (u->frames) {
		u->seen += !u->tracepoint || tracepoint == u->tracepoint;
		return u->seen == u->frames;
	}
	c = place_of(u, tracepoint, frame + FRAMES_HEAD, size - FRAMES_HEAD);
	if (!c)
		return false;
	switch (condition_says(c, frame + FRAMES_HEAD, size - FRAMES_HEAD, u->register_bytes)) {
	case CONDITION_YES:
		u->last = tracepoint;
		return true;
	case CONDITION_UNKNOWN:
		u->unknown++;
		return false;
	default:
		return false;
	}
}

size_t until_cut(struct until *u, const u8 *bytes, size_t len)
{
	size_t done = 0, size;

	if (!u->frames && !u->count)
		return len;
	while (!u->reached && (size = frames_first(bytes + done, len - done))) {
		u->reached = is_last(u, bytes + done, size);
		done += size;
	}
	return u->reached ? done : len;
}
