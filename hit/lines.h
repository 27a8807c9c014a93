/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of text on their way from hits to a reader: one ring for each CPU, without a lock. */
#ifndef _GTP_LINES_H
#define _GTP_LINES_H

#include "base/base.h"

enum { GTP_LINES_SIZE = 65536 }; /* bytes of lines that may wait on one CPU; a power of two */

/**
 * struct gtp_line - what a hit has to say, in front of it
 * @bytes: of all of it in the ring, a multiple of 8
 * @len: bytes of text that follow
 * @time: ns of the monotonic clock
 * @addr: of the dprintf
 * @cpu: where
 * @pid: of the task
 * @failed: what follows is a struct ax_error, for an expression has failed
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
 * struct gtp_lines - the lines of one CPU
 * @head: bytes ever written; only hits on that CPU write it, and they do not nest
 * @tail: bytes ever read; only the reader writes it
 * @dropped: lines for which there was no room
 * @told: how many of those gtp_lines_dropped() has returned
 * @ring: the lines, each in one piece
 */
struct gtp_lines {
	u32 head, tail;
	u64 dropped, told;
	u64 ring[GTP_LINES_SIZE / sizeof(u64)];
};

/**
 * gtp_lines_put() - the writer's side
 * @r: this CPU's
 * @line: its head, without @bytes
 * @text: @line->len bytes
 *
 * Context: a hit. Return: false when there is no room; it is counted then.
 */
bool gtp_lines_put(struct gtp_lines *r, const struct gtp_line *line, const void *text);

/*
 * gtp_lines_first - the line that has waited longest, its text behind it; NULL: there is none. It
 * stays as it is until gtp_lines_next(). One reader at a time
 */
const struct gtp_line *gtp_lines_first(struct gtp_lines *r);

/* gtp_lines_next - the first one has been read. One reader at a time */
void gtp_lines_next(struct gtp_lines *r);

/* gtp_lines_dropped - lines dropped since the last call. One reader at a time */
u64 gtp_lines_dropped(struct gtp_lines *r);

/*
 * gtp_lines_oldest - of the rings of all CPUs (entries may be NULL) the one whose first line is the
 * oldest; NULL: nothing waits anywhere
 */
struct gtp_lines *gtp_lines_oldest(struct gtp_lines *const *all, u32 n);

#endif /* _GTP_LINES_H */
