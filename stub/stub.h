/* SPDX-License-Identifier: GPL-2.0-only */
/* One connection to GDB. Its packets act on a trace session, which outlives the connection. */
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
 * gtp_stub_feed - handle bytes from GDB, any part of a packet or several packets. Passes the
 * replies to ->send, except the reply to a continue, which is sent when the wait ends
 */
void gtp_stub_feed(struct gtp_stub *s, const u8 *bytes, u32 len);

/* gtp_stub_has_frame - true if GDB has selected a frame; otherwise GDB reads the live kernel */
static inline bool gtp_stub_has_frame(const struct gtp_stub *s)
{
	return s->frame >= 0;
}

/*
 * gtp_stub_unread - undo the selection of a frame by the last packet: its reply was dropped, so GDB
 * does not know that the frame is selected
 */
void gtp_stub_unread(struct gtp_stub *s);

/* gtp_stub_exit - end a connection: stop the run unless QTDisconnected:1, free the buffers */
void gtp_stub_exit(struct gtp_stub *s);

#endif /* _GTP_STUB_H */
