/* SPDX-License-Identifier: GPL-2.0-only */
/* One GDB session: packets in, replies out, over a trace session that outlives it. */
#ifndef _GTP_STUB_H
#define _GTP_STUB_H

#include "stub/connection.h"
#include "stub/console.h"
#include "stub/wait.h"

/**
 * gtp_stub_init() - a new connection
 * @s: zeroed
 * @trace: the trace session
 * @ops: what the connection needs from where it runs
 * @send: bytes for GDB; must not fail
 * @ctx: handed to @ops and @send
 *
 * Allocates its packet buffers from @trace->mem. Context: may sleep.
 * Return: 0 or -ENOMEM; then nothing has to be undone.
 */
int gtp_stub_init(struct gtp_stub *s, struct gtp_trace *trace, const struct gtp_stub_ops *ops,
		  void (*send)(void *ctx, const void *bytes, u32 len), void *ctx);

/*
 * gtp_stub_feed - bytes from GDB, any split; calls ->send with the replies, except a continue's,
 * which comes when the wait ends
 */
void gtp_stub_feed(struct gtp_stub *s, const u8 *bytes, u32 len);

/* gtp_stub_has_frame - does GDB look at a frame, and not at the live kernel? */
static inline bool gtp_stub_has_frame(const struct gtp_stub *s)
{
	return s->frame >= 0;
}

/*
 * gtp_stub_unread - the answer to the last packet has been dropped, as GDB did not read it: a frame
 * that the packet selected is none that GDB knows of, so the one before is selected again
 */
void gtp_stub_unread(struct gtp_stub *s);

/* gtp_stub_exit - GDB is gone: stops the run unless QTDisconnected:1, frees the buffers */
void gtp_stub_exit(struct gtp_stub *s);

#endif /* _GTP_STUB_H */
