// SPDX-License-Identifier: GPL-2.0-only
/* Packets about the connection and about execution, for a kernel that never stops. */
#include "session/dprintf.h"
#include "stub/console.h"
#include "stub/handlers.h"
#include "stub/reply.h"
#include "stub/wait.h"

/* Send an empty reply, which means "not supported". */
GTP_HANDLER(gtp_pkt_none)
{
	return 0;
}

GTP_HANDLER(gtp_pkt_ok)
{
	return gtp_reply_ok(s);
}

/*
 * Reply with the list of the stub's features; ignore GDB's list. GDB does not use other features.
 */
GTP_HANDLER(gtp_pkt_supported)
{
	if (s->ops->process)
		gtp_out_printf(&s->reply, "multiprocess+;qXfer:auxv:read+;qXfer:exec-file:read+;"
					  "qXfer:libraries-svr4:read+;qXfer:threads:read+;");
	gtp_out_printf(&s->reply, "PacketSize=%x;", GTP_PACKET_MAX);
	gtp_out_printf(&s->reply, "QStartNoAckMode+;ConditionalTracepoints+;TracepointSource+;"
				  "ConditionalBreakpoints+;BreakpointCommands+;"
				  "DisconnectedTracing+;InstallInTrace+;EnableDisableTracepoints+;"
				  "TraceStateVariables+;QTBuffer:size+;tracenz+;"
				  "FastTracepoints+;StaticTracepoints+;binary-upload+;"
				  "qXfer:statictrace:read+;"
				  "qXfer:traceframe-info:read+;qXfer:features:read+");
	return 0;
}

/*
 * Reply that a fast tracepoint may be on an instruction of any length, because a jump displaces as
 * many instructions as its 5 bytes cover.
 */
GTP_HANDLER(gtp_pkt_min_fast)
{
	gtp_out_printf(&s->reply, "1");
	return 0;
}

GTP_HANDLER(gtp_pkt_no_ack)
{
	gtp_rsp_start_no_ack(&s->rsp);
	return gtp_reply_ok(s);
}

GTP_HANDLER(gtp_pkt_stop_reason)
{
	gtp_reply_stop(s, &s->reply, GTP_SIGNAL_TRAP);
	return 0;
}

GTP_HANDLER(gtp_pkt_attached)
{
	gtp_out_printf(&s->reply, "1");
	return 0;
}

/*
 * Reply with TextSeg, by which GDB moves every segment of vmlinux. Text, Data and Bss would not
 * move .rodata and .init.
 */
GTP_HANDLER(gtp_pkt_offsets)
{
	if (s->trace->text_start && !s->ops->process)
		gtp_out_printf(&s->reply, "TextSeg=%llx", s->trace->text_start);
	return 0;
}

GTP_HANDLER(gtp_pkt_kill)
{
	s->no_reply = true;
	return 0;
}

static int stop_at_once(struct gtp_stub *s, const char *words)
{
	gtp_stub_printf(s, "gdbtp: %s\n", words);
	gtp_reply_stop(s, &s->reply, GTP_SIGNAL_TRAP);
	return 0;
}

/*
 * True if a continue has nothing to wait for. Without a run, a continue waits for lines of
 * dprintfs. If a run has ended before the continue, the continue reports that at once, so that a
 * script with tstart, continue and tfind works.
 */
static bool nothing_to_wait_for(const struct gtp_stub *s)
{
	const struct gtp_trace *t = s->trace;

	/* The continue waits: the process may still load libraries or end. */
	if (s->ops->process && !t->end_untold)
		return false;
	return !gtp_trace_running(t) && (t->end_untold || !gtp_dprintf_any(t));
}

/*
 * Handle a continue. Never reply with an error, after which GDB would assume that the target runs:
 * report a stop instead.
 */
GTP_HANDLER(gtp_pkt_continue)
{
	if (s->ops->process && s->ops->process->is_gone(s->ctx, why)) {
		s->waiting = true;
		s->no_reply = true;
		gtp_stub_gone(s, why);
		return 0;
	}
	if (nothing_to_wait_for(s)) {
		if (s->trace->stop == GTP_STOP_NEVER_RUN)
			return stop_at_once(s, "no trace is running that continue could wait for");
		/* Print the end of the run, as the wait would have done. */
		gtp_wait_print_end(s);
		gtp_reply_stop(s, &s->reply, GTP_SIGNAL_TRAP);
		return 0;
	}
	s->waiting = true;
	s->no_reply = true;
	if (s->ops->lines)
		s->ops->lines(s->ctx);
	return 0;
}

GTP_HANDLER(gtp_pkt_step)
{
	char words[80];

	snprintf(words, sizeof(words),
		 "the %s cannot be stepped; trace, tstart, tstop, tfind do it", gtp_stub_target(s));
	return stop_at_once(s, words);
}

GTP_HANDLER(gtp_pkt_vcont)
{
	char action = gtp_in_peek(in);

	if (action == 'c' || action == 'C')
		return gtp_pkt_continue(s, in, why);
	return gtp_pkt_step(s, in, why);
}
