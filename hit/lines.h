/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings of lines of text, one for each CPU. Hits write the lines and a reader reads them, without a
 * lock.
 */
#ifndef _GTP_LINES_H
#define _GTP_LINES_H

#include "base/base.h"

enum { GTP_LINES_SIZE = 65536 }; /* size of each CPU's ring; a power of two */

/**
 * struct gtp_line - the head of a line in a ring, followed by the line's text
 * @bytes: size of the line in the ring, head and text, a multiple of 8
 * @len: bytes of the text that follows
 * @time: the time of the hit, in ns of the monotonic clock
 * @addr: the address of the dprintf
 * @cpu: the CPU of the hit
 * @pid: the id of the task that was hit
 * @failed: an expression has failed, and a struct ax_error follows instead of text
 */
struct gtp_line {
	u32 bytes;
	u32 len;
	u64 time;
	u64 addr;
	u32 cpu;
	s32 pid;
	u32 failed;
	u32 unused;
};

/**
 * struct gtp_lines - the ring of one CPU's lines
 * @head: bytes ever written; only hits on that CPU write it, and they do not nest
 * @tail: bytes ever read; only the reader writes it
 * @seen: the value of @head at the last gtp_lines_see(); only the reader uses it
 * @dropped: lines for which there was no room
 * @told: how many of @dropped gtp_lines_dropped() has already returned
 * @ring: the lines, each in one piece
 */
struct gtp_lines {
	u32 head, tail, seen;
	u64 dropped, told;
	u64 ring[GTP_LINES_SIZE / sizeof(u64)];
};

/**
 * gtp_lines_put() - add a line to this CPU's ring
 * @r: the ring of this CPU
 * @line: the line's head, without @bytes
 * @text: the line's text, @line->len bytes
 *
 * Context: a hit. Return: false if there is no room; the line is then counted as dropped.
 */
bool gtp_lines_put(struct gtp_lines *r, const struct gtp_line *line, const void *text);

/*
 * gtp_lines_first - return the ring's oldest line, followed by its text; NULL if there is none. The
 * line stays valid until gtp_lines_next(). One reader at a time
 */
const struct gtp_line *gtp_lines_first(struct gtp_lines *r);

/* gtp_lines_next - free the first line, which has been read. One reader at a time */
void gtp_lines_next(struct gtp_lines *r);

/*
 * gtp_lines_dropped - return how many lines were dropped since the last call. One reader at a time
 */
u64 gtp_lines_dropped(struct gtp_lines *r);

/**
 * gtp_lines_oldest() - find the line to read next
 * @all: the rings of all CPUs; entries may be NULL
 * @n: the number of rings
 * @before: a time; the lines of all hits that began earlier must be in the rings
 *
 * A line whose time is @before or later is not returned yet, because another CPU may still add an
 * earlier line. Lines that were in the ring at the last gtp_lines_see() are returned in any case,
 * so a clock that was set back cannot delay them any further.
 *
 * One reader at a time. Return: the ring whose first line is the oldest of those that may be read;
 * NULL: there is none.
 */
struct gtp_lines *gtp_lines_oldest(struct gtp_lines *const *all, u32 n, u64 before);

/* gtp_lines_see - let gtp_lines_oldest() return all lines now in the ring. One reader at a time */
void gtp_lines_see(struct gtp_lines *r);

/* gtp_lines_wait - true if a line is waiting in one of the rings. One reader at a time */
bool gtp_lines_wait(struct gtp_lines *const *all, u32 n);

#endif /* _GTP_LINES_H */
