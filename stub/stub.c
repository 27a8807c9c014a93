// SPDX-License-Identifier: GPL-2.0-only
/* A connection to GDB: allocates its buffers, feeds it packets, and ends the wait of a continue. */
#include "session/dprintf.h"
#include "session/install.h"
#include "stub/console.h"
#include "stub/packets.h"
#include "stub/stub.h"
#include "stub/wait.h"

static void packet(void *ctx, char *data, u32 len)
{
	struct gtp_stub *s = ctx;

	gtp_stub_heard(s);
	/*
	 * A hit may have ended the run since the last packet. Finish the run first, so that no
	 * handler takes it for active.
	 */
	if (gtp_trace_settle(s->trace))
		gtp_stub_trace_ended(s);
	s->frame_before = s->frame;
	gtp_packets_handle(s, data, len);
}

static void interrupt(void *ctx)
{
	struct gtp_stub *s = ctx;

	/* ^C ends only the wait of the continue; the kernel and the run go on. */
	if (!s->waiting)
		return;
	if (s->ops->lines)
		s->ops->lines(s->ctx);
	gtp_wait_stop(s, GTP_SIGNAL_INT);
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
	s->frame_before = -1;
	s->trace_file.t = trace;
	s->thread = ops->process ? ops->process->pid(ctx) : 0;
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

void gtp_stub_unread(struct gtp_stub *s)
{
	s->frame = s->frame_before;
}

void gtp_stub_exit(struct gtp_stub *s)
{
	struct gtp_why why;

	s->waiting = false;
	gtp_trace_settle(s->trace);
	/*
	 * GDB may disconnect right after a definition: complete it, because the run may continue.
	 */
	gtp_install_finish(s->trace, &why);
	/* Remove dprintfs that print to GDB's console, which does not exist any more. */
	gtp_dprintf_clear(s->trace, s->trace->dprintfs.to == GTP_DPRINTF_CONSOLE);
	if (gtp_trace_running(s->trace) && !s->trace->disconnected)
		gtp_trace_stop(s->trace, GTP_STOP_DISCONNECTED);
	gtp_file_close(&s->trace_file);
	free_buffers(s);
}
