// SPDX-License-Identifier: GPL-2.0-only
/* Ends the wait of GDB's `continue`, and writes the text that says why the run ended. */
#include "session/dprintf.h"
#include "stub/console.h"
#include "stub/reply.h"
#include "stub/wait.h"

void gtp_wait_describe_run(const struct gtp_trace *t, struct gtp_out *out)
{
	char text[160];

	switch (t->stop) {
	case GTP_STOP_NEVER_RUN:
		gtp_out_printf(out, "no trace has run yet");
		return;
	case GTP_STOP_RUNNING:
		gtp_out_printf(out, "the trace is running");
		return;
	case GTP_STOP_USER:
		gtp_out_printf(out, "the trace was stopped by tstop");
		return;
	case GTP_STOP_FULL:
		gtp_out_printf(out, "the trace stopped because its buffer is full");
		return;
	case GTP_STOP_DISCONNECTED:
		gtp_out_printf(out, "the trace stopped because GDB disconnected");
		return;
	case GTP_STOP_PASSCOUNT:
		gtp_out_printf(out, "the trace stopped: tracepoint %u reached its pass count",
			       t->run.stop_tp);
		return;
	case GTP_STOP_ERROR:
		gtp_failure_text(&t->run.failure, text, sizeof(text));
		gtp_out_printf(out, "the trace stopped by an error: tracepoint %u, %s",
			       t->run.failure.tp, text);
		return;
	case GTP_STOP_OOPS:
		gtp_out_printf(out, "the trace stopped by an error: %s", gtp_oops_text);
		return;
	}
}

void gtp_wait_print_busy(struct gtp_stub *s, const char *head)
{
	struct gtp_totals sum;

	gtp_trace_totals(s->trace, &sum);
	if (sum.busy)
		gtp_stub_printf(
			s,
			"%s%llu hits were missed: another CPU held the variables' lock for too long\n",
			head, sum.busy);
}

void gtp_wait_print_failed(struct gtp_stub *s, const char *head)
{
	const struct gtp_run *run = &s->trace->run;
	struct gtp_totals sum;
	char text[200];

	gtp_trace_totals(s->trace, &sum);
	if (!sum.failed || gtp_acquire(&run->failing) != GTP_ENDING_WRITTEN)
		return;
	gtp_failure_text(&run->failure, text, sizeof(text));
	gtp_stub_printf(s, "%s%llu; the first: tracepoint %u, %s\n", head, sum.failed,
			run->failure.tp, text);
}

void gtp_wait_print_clock(struct gtp_stub *s, const char *head)
{
	char text[sizeof(struct gtp_why) + 40];

	if (!*s->trace->clock_wrong.text)
		return;
	snprintf(text, sizeof(text), "%s%s\n", head, s->trace->clock_wrong.text);
	gtp_stub_print(s, text);
	s->trace->clock_told = true;
}

void gtp_wait_print_lost_stacks(struct gtp_stub *s, const char *head)
{
	const struct gtp_stacks *stacks = s->trace->run.stacks;

	if (stacks && READ_ONCE(stacks->no_room))
		gtp_stub_printf(
			s,
			"%s%llu hits whose stack found no room in the table: module parameter stacks_kb\n",
			head, READ_ONCE(stacks->no_room));
	if (stacks && READ_ONCE(stacks->cut))
		gtp_stub_printf(
			s,
			"%s%llu hits whose stack is deeper than %u addresses: the innermost are kept\n",
			head, READ_ONCE(stacks->cut), GTP_STACKS_DEPTH);
}

void gtp_wait_print_end(struct gtp_stub *s)
{
	char text[240];
	struct gtp_out out;

	gtp_out_init(&out, text, sizeof(text));
	gtp_wait_describe_run(s->trace, &out);
	gtp_stub_printf(s, "gdbtp: %s\n", text);
	gtp_wait_print_failed(s, "gdbtp: errors: ");
	gtp_wait_print_busy(s, "gdbtp: ");
	gtp_wait_print_clock(s, "gdbtp: ");
	gtp_wait_print_lost_stacks(s, "gdbtp: $kstack: ");
	s->trace->end_untold = false;
}

static void end_wait(struct gtp_stub *s, const char *reply)
{
	s->waiting = false;
	gtp_rsp_reply(&s->rsp, reply, (u32)strlen(reply));
	gtp_stub_heard(s);
}

void gtp_wait_stop(struct gtp_stub *s, enum gtp_signal n)
{
	char text[48];
	struct gtp_out out;

	gtp_out_init(&out, text, sizeof(text));
	gtp_reply_stop(s, &out, n);
	end_wait(s, text);
}

/*
 * Print the waiting lines of dprintfs before the stop is reported: normally lines are printed some
 * time after their hits.
 */
static void print_lines(struct gtp_stub *s)
{
	if (s->ops->lines)
		s->ops->lines(s->ctx);
}

void gtp_stub_trace_ended(struct gtp_stub *s)
{
	if (!s->waiting)
		return;
	gtp_stub_flush_notice(s);
	print_lines(s);
	gtp_wait_print_end(s);
	gtp_wait_stop(s, GTP_SIGNAL_TRAP);
}

void gtp_stub_libraries(struct gtp_stub *s)
{
	char text[64];
	struct gtp_out out;

	if (!s->waiting)
		return;
	gtp_out_init(&out, text, sizeof(text));
	gtp_reply_stop(s, &out, GTP_SIGNAL_TRAP);
	gtp_out_printf(&out, "library:;");
	end_wait(s, text);
}

void gtp_stub_gone(struct gtp_stub *s, const struct gtp_why *why)
{
	char text[32];
	struct gtp_out out;

	if (!s->waiting)
		return;
	gtp_stub_printf(s, "gdbtp: %s\n", why->text);
	gtp_out_init(&out, text, sizeof(text));
	gtp_out_printf(&out, "W00;process:%x", s->ops->process->pid(s->ctx));
	end_wait(s, text);
}

void gtp_stub_dprintfs_gone(struct gtp_stub *s)
{
	if (!s->waiting || gtp_trace_running(s->trace) || gtp_dprintf_any(s->trace))
		return;
	print_lines(s);
	gtp_stub_print(s, "gdbtp: no dprintf is left that continue could wait for\n");
	gtp_wait_stop(s, GTP_SIGNAL_TRAP);
}
