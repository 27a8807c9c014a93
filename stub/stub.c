// SPDX-License-Identifier: GPL-2.0-only
/* A connection: its buffers, what it says on GDB's console, and the wait of a continue. */
#include "stub/packets.h"

/* O packets carry hex; pieces of this size need no buffer worth mentioning. */
enum { CONSOLE_PIECE = 100 };

static void heard(struct gtp_stub *s)
{
	s->quiet_since_ms = s->ops->now_ms(s->ctx);
}

void gtp_stub_console(struct gtp_stub *s, const char *text, u32 len)
{
	char piece[1 + 2 * CONSOLE_PIECE];

	while (len) {
		u32 n = len < CONSOLE_PIECE ? len : CONSOLE_PIECE;

		piece[0] = 'O';
		gtp_rsp_reply(&s->rsp, piece, 1 + (u32)gtp_hex_encode(piece + 1, text, n));
		text += n;
		len -= n;
		heard(s);
	}
}

void gtp_stub_flush_notice(struct gtp_stub *s)
{
	static const char cut[] = "gdbtp: there was more to say than could be kept\n";
	u32 len = s->notice_len;

	s->notice_len = 0;
	gtp_stub_console(s, s->notice, len);
	if (s->notice_cut)
		gtp_stub_console(s, cut, sizeof(cut) - 1);
	s->notice_cut = false;
}

static void keep(struct gtp_stub *s, const char *text, u32 len)
{
	u32 room = GTP_NOTICE_MAX - s->notice_len;

	/*
	 * Whole messages only: half a line misleads more than the note that something is missing.
	 */
	if (len > room || s->notice_cut) {
		s->notice_cut = true;
		return;
	}
	memcpy(s->notice + s->notice_len, text, len);
	s->notice_len += len;
}

void gtp_stub_print(struct gtp_stub *s, const char *text)
{
	u32 len = (u32)strlen(text);

	if (s->waiting || s->noisy)
		gtp_stub_console(s, text, len);
	else
		keep(s, text, len);
}

void gtp_stub_printf(struct gtp_stub *s, const char *fmt, ...)
{
	char line[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	gtp_stub_print(s, line);
}

void gtp_stub_progress(struct gtp_stub *s, const char *what, u32 done, u32 total)
{
	if (s->noisy && s->ops->now_ms(s->ctx) - s->quiet_since_ms >= GTP_KEEP_ALIVE_MS)
		gtp_stub_printf(s, "gdbtp: %s: %u of %u\n", what, done, total);
}

void gtp_stub_stop_reply(struct gtp_stub *s, const char *reply)
{
	s->waiting = false;
	gtp_rsp_reply(&s->rsp, reply, (u32)strlen(reply));
	heard(s);
}

void gtp_stub_trace_ended(struct gtp_stub *s)
{
	if (!s->waiting)
		return;
	gtp_stub_flush_notice(s);
	gtp_monitor_ended(s);
	gtp_stub_stop_reply(s, "S05");
}

static void packet(void *ctx, char *data, u32 len)
{
	struct gtp_stub *s = ctx;

	heard(s);
	/*
	 * A hit may have ended the run since the last packet: no handler may take it for running.
	 */
	if (gtp_trace_settle(s->trace))
		gtp_stub_trace_ended(s);
	gtp_packets_handle(s, data, len);
}

static void interrupt(void *ctx)
{
	struct gtp_stub *s = ctx;

	/* The kernel goes on, and so does the run; only the wait is over. */
	if (s->waiting)
		gtp_stub_stop_reply(s, "S02");
}

static void forward(void *ctx, const void *bytes, u32 len)
{
	struct gtp_stub *s = ctx;

	s->send(s->ctx, bytes, len);
}

static const struct gtp_rsp_ops rsp_ops = { packet, interrupt, forward };

static void free_buffers(struct gtp_stub *s)
{
	const struct gtp_mem *mem = &s->trace->mem;

	mem->free(mem->ctx, s->reply.buf);
	mem->free(mem->ctx, s->last);
	mem->free(mem->ctx, s->in);
	s->reply.buf = NULL;
	s->last = NULL;
	s->in = NULL;
}

int gtp_stub_init(struct gtp_stub *s, struct gtp_trace *trace, const struct gtp_stub_ops *ops,
		  void (*send)(void *ctx, const void *bytes, u32 len), void *ctx)
{
	const struct gtp_mem *mem = &trace->mem;
	char *reply;

	s->trace = trace;
	s->ops = ops;
	s->send = send;
	s->ctx = ctx;
	s->frame = -1;
	s->in = mem->alloc(mem->ctx, GTP_PACKET_MAX + 1);
	s->last = mem->alloc(mem->ctx, GTP_RSP_FRAME_MAX);
	reply = mem->alloc(mem->ctx, GTP_PACKET_MAX + 1);
	s->reply.buf = reply;
	if (!s->in || !s->last || !reply) {
		free_buffers(s);
		return -ENOMEM;
	}
	gtp_out_init(&s->reply, reply, GTP_PACKET_MAX + 1);
	gtp_rsp_init(&s->rsp, &rsp_ops, s, s->in, s->last);
	return 0;
}

void gtp_stub_feed(struct gtp_stub *s, const u8 *bytes, u32 len)
{
	gtp_rsp_feed(&s->rsp, bytes, len);
}

void gtp_stub_exit(struct gtp_stub *s)
{
	struct gtp_why why;

	s->waiting = false;
	gtp_trace_settle(s->trace);
	/* GDB may leave right after a definition; a run that goes on has to have it. */
	gtp_pkt_finish_install(s, &why);
	if (gtp_trace_running(s->trace) && !s->trace->disconnected)
		gtp_trace_stop(s->trace, GTP_STOP_DISCONNECTED);
	free_buffers(s);
}
