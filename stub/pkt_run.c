// SPDX-License-Identifier: GPL-2.0-only
/* Packets about the run: settings, start, stop, status. */
#include "session/cpus.h"
#include "stub/args.h"
#include "stub/console.h"
#include "stub/handlers.h"
#include "stub/reply.h"
#include "stub/selected.h"
#include "stub/wait.h"

enum { NOTE_MAX = 4000 }; /* hex digits of one of the three notes in qTStatus */

GTP_HANDLER(gtp_pkt_start)
{
	int err = gtp_trace_start(s->trace, why);

	s->frame = -1;
	return err ? err : gtp_reply_ok(s);
}

GTP_HANDLER(gtp_pkt_stop)
{
	bool running = gtp_trace_running(s->trace);

	gtp_trace_stop(s->trace, GTP_STOP_USER);
	if (running) {
		gtp_wait_print_failed(s, "gdbtp: errors: ");
		gtp_wait_print_busy(s, "gdbtp: ");
		gtp_wait_print_clock(s, "gdbtp: ");
		gtp_wait_print_lost_stacks(s, "gdbtp: $kstack: ");
	}
	return gtp_reply_ok(s);
}

static int read_flag(struct gtp_in *in, bool *on, struct gtp_why *why)
{
	char c = gtp_in_peek(in);

	if (!gtp_in_char(in, '0') && !gtp_in_char(in, '1'))
		return gtp_args_bad(in, why, "0 or 1");
	*on = c == '1';
	return gtp_args_end(in, why);
}

GTP_HANDLER(gtp_pkt_disconnected)
{
	if (read_flag(in, &s->trace->disconnected, why))
		return -EINVAL;
	return gtp_reply_ok(s);
}

/*
 * Refuse to change the buffer's settings during a run. A run keeps its buffer until it ends, so
 * qTStatus would report settings that do not apply to the buffer.
 */
static int refuse_while_running(struct gtp_stub *s, struct gtp_why *why, const char *what)
{
	if (!gtp_trace_running(s->trace))
		return 0;
	gtp_why(why, "the trace buffer's %s cannot change while the trace is running; tstop first",
		what);
	return -EBUSY;
}

GTP_HANDLER(gtp_pkt_circular)
{
	bool on;

	if (read_flag(in, &on, why))
		return -EINVAL;
	if (on != s->trace->circular && refuse_while_running(s, why, "form"))
		return -EBUSY;
	s->trace->circular = on;
	return gtp_reply_ok(s);
}

GTP_HANDLER(gtp_pkt_size)
{
	u64 bytes = 0;

	if (!gtp_in_word(in, "-1") && !gtp_in_hex64(in, &bytes))
		return gtp_args_bad(in, why, "-1 or a number of bytes in hex");
	if (gtp_args_end(in, why))
		return -EINVAL;
	if (bytes != s->trace->buffer_bytes && refuse_while_running(s, why, "size"))
		return -EBUSY;
	s->trace->buffer_bytes = bytes;
	return gtp_reply_ok(s);
}

static char **which_note(struct gtp_trace *t, struct gtp_in *in)
{
	if (gtp_in_word(in, "user:"))
		return &t->user_hex;
	if (gtp_in_word(in, "notes:"))
		return &t->notes_hex;
	if (gtp_in_word(in, "tstop:"))
		return &t->stop_notes_hex;
	return NULL;
}

static int set_note(struct gtp_trace *t, char **note, const char *hex, size_t len)
{
	char *copy = t->mem.alloc(t->mem.ctx, len + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, hex, len);
	copy[len] = '\0';
	t->mem.free(t->mem.ctx, *note);
	*note = copy;
	return 0;
}

static int read_note(struct gtp_trace *t, struct gtp_in *in, struct gtp_why *why)
{
	char **note = which_note(t, in);
	const char *hex;
	size_t len;

	if (!note)
		return gtp_args_bad(in, why, "user:, notes: or tstop:");
	len = gtp_in_until(in, ';', &hex);
	if (!gtp_hex_is(hex, len))
		return gtp_args_bad(in, why, "text in hex in front of what");
	if (len > NOTE_MAX) {
		gtp_why(why, "a note of %u characters is too long; %u are the most", (u32)len / 2,
			NOTE_MAX / 2);
		return -E2BIG;
	}
	return set_note(t, note, hex, len);
}

GTP_HANDLER(gtp_pkt_notes)
{
	while (!gtp_in_end(in)) {
		int err = read_note(s->trace, in, why);

		if (err)
			return err;
		if (!gtp_in_char(in, ';'))
			break;
	}
	return gtp_reply_ok(s);
}

/*
 * Print the number of locations without a probe. The reply to qTStatus has no item for it; GDB
 * shows the text above the output of tstatus.
 */
static void tell_refused(struct gtp_stub *s)
{
	struct gtp_totals sum;

	gtp_trace_totals(s->trace, &sum);
	if (gtp_trace_running(s->trace) && sum.refused)
		gtp_stub_printf(s, "gdbtp: places not armed: %u; monitor probes says why\n",
				sum.refused);
}

GTP_HANDLER(gtp_pkt_status)
{
	int n = gtp_trace_status(s->trace, s->reply.buf, s->reply.size);

	tell_refused(s);
	gtp_trace_check_clock(s->trace);
	/* Report a fault of the clock only once, because GDB sends this packet repeatedly. */
	if (!s->trace->clock_told)
		gtp_wait_print_clock(s, "gdbtp: ");
	s->reply.len = (size_t)n < s->reply.size ? (size_t)n : s->reply.size - 1;
	return 0;
}

/*
 * Reply with a tracepoint's counters. The reply is empty for an unknown tracepoint: GDB also asks
 * for tracepoints that it has not sent yet.
 */
GTP_HANDLER(gtp_pkt_tp_status)
{
	const struct gtp_tracepoint *tp;
	struct gtp_tp_stat sum;
	u64 num, addr;

	if (gtp_args_hex_pair(in, ':', &num, &addr, why))
		return -EINVAL;
	if (num > U32_MAX)
		return 0;
	tp = gtp_tracepoint_find(&s->trace->tps, (u32)num, addr);
	if (!tp)
		return 0;
	sum = gtp_trace_hits(s->trace, tp);
	gtp_out_printf(&s->reply, "V%llx:%llx", sum.hits, sum.usage);
	return 0;
}

/*
 * Find a variable's value. If a frame is selected, it is the recorded value. Otherwise built-in
 * variables have no value, because they exist only during a hit. Neither does an aggregation, which
 * is more than one number, nor a key or a variable of a pair, which each hit sets again, nor a
 * variable of tasks, which has a value for each.
 */
static bool tsv_value(struct gtp_stub *s, u32 num, s64 *value)
{
	const struct gtp_frame *f = gtp_selected_frame(s);
	const struct gtp_tsv *tsv;
	u8 way;

	if (num >= GTP_TSV_MAX)
		return false;
	if (f)
		return gtp_frame_get_var(f, (u16)num, value);
	tsv = s->trace->run.tsvs.slot[num];
	way = s->trace->run.tsvs.ways[num];
	if (!tsv || tsv->builtin || tsv->key_words || tsv->pair || way >= AX_TSV_TASK)
		return false;
	if (way == AX_TSV_LOCAL)
		*value = gtp_cpus_sum_local(s->trace, tsv);
	else
		*value = READ_ONCE(tsv->value);
	return true;
}

GTP_HANDLER(gtp_pkt_tsv_value)
{
	s64 value;
	u32 num;

	if (!gtp_in_hex32(in, &num))
		return gtp_args_bad(in, why, "a number");
	if (gtp_args_end(in, why))
		return -EINVAL;
	if (tsv_value(s, num, &value))
		gtp_out_printf(&s->reply, "V%llx", (u64)value);
	else
		gtp_out_printf(&s->reply, "U");
	return 0;
}
