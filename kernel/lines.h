/* SPDX-License-Identifier: GPL-2.0-only */
/* Hands the lines of dprintfs from all CPUs to GDB's console, the kernel's trace or its log. */
#ifndef _GTP_KERNEL_LINES_H
#define _GTP_KERNEL_LINES_H

#include "hit/lines.h"
#include "session/trace.h"
#include "stub/stub.h"

/*
 * gtp_lines_get - implement lines_get of struct gtp_target_ops; the memory stays until
 * gtp_lines_exit()
 */
int gtp_lines_get(void *ctx, struct gtp_why *why);

/* gtp_lines_exit - free the rings of lines; no hit runs any more */
void gtp_lines_exit(void);

/*
 * gtp_lines_hit - put a line into this CPU's ring; return false if there is no room. Context: a hit
 */
bool gtp_lines_hit(const struct gtp_line *line, const void *text);

enum gtp_lines_left {
	GTP_LINES_NONE,
	GTP_LINES_FRESH, /* only lines of hits that began during the call: too early to sort them */
	GTP_LINES_MORE,	 /* also older lines; or GDB's queue is full */
};

/**
 * gtp_lines_drain() - hand waiting lines to the console, the trace or the log
 * @t: the session
 * @stub: the connection to GDB, or NULL
 * @has_room: false while GDB does not read what is queued for it
 *
 * Lines for GDB's console wait until GDB is in a continue. Each call hands over a limited number of
 * lines.
 * Context: process, under gtp_lock. Return: the kind of lines that are left for another call.
 */
enum gtp_lines_left gtp_lines_drain(struct gtp_trace *t, struct gtp_stub *stub,
				    bool (*has_room)(struct gtp_stub *stub));

/*
 * gtp_lines_forget - drop waiting lines, because the GDB for which they wait has left. Context:
 * process, gtp_lock
 */
void gtp_lines_forget(struct gtp_trace *t);

#endif /* _GTP_KERNEL_LINES_H */
