/* SPDX-License-Identifier: GPL-2.0-only */
/* One GDB session: packets in, replies out, over a trace session that outlives it. */
#ifndef _GTP_STUB_H
#define _GTP_STUB_H

#include "stub/connection.h"
#include "stub/console.h"
#include "stub/wait.h"

/**
 * gtp_stub_init() - make a new connection
 * @s: the connection; zeroed
 * @trace: the trace session
 * @ops: the host's functions for the connection
 * @send: sends bytes to GDB; it must not fail
 * @ctx: passed to @ops and @send
 *
 * Allocates its packet buffers from @trace->mem. Context: may sleep.
 * Return: 0, or -ENOMEM with nothing to undo.
 */
int gtp_stub_init(struct gtp_stub *s, struct gtp_trace *trace, const struct gtp_stub_ops *ops,
		  void (*send)(void *ctx, const void *bytes, u32 len), void *ctx);

/*
 * gtp_stub_feed - handle bytes from GDB, split anywhere; calls ->send with the replies, except a
 * continue's, which is sent when its wait ends
 */
void gtp_stub_feed(struct gtp_stub *s, const u8 *bytes, u32 len);

/* gtp_stub_has_frame - true if GDB has a frame selected; otherwise it sees the live kernel */
static inline bool gtp_stub_has_frame(const struct gtp_stub *s)
{
	return s->frame >= 0;
}

/*
 * gtp_stub_unread - undo the last packet's selection of a frame: GDB did not read the reply, which
 * was dropped, so it does not know of that frame
 */
void gtp_stub_unread(struct gtp_stub *s);

/* gtp_stub_exit - end a connection: stop the run unless QTDisconnected:1, free the buffers */
void gtp_stub_exit(struct gtp_stub *s);

#endif /* _GTP_STUB_H */
