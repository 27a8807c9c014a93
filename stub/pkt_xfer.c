// SPDX-License-Identifier: GPL-2.0-only
/* The packets qXfer, by which GDB reads texts in pieces, such as the target description. */
#include "base/process_xml.h"
#include "base/target_xml.h"
#include "session/aggregate.h"
#include "stub/args.h"
#include "stub/handlers.h"
#include "stub/selected.h"

/*
 * struct window - the requested part of a text
 *
 * Each request generates the text from its beginning and keeps only the part in the window, so the
 * whole text is never in memory.
 */
struct window {
	struct gtp_out *out;
	u64 from;
	u64 len;
	u64 pos;
	bool more;
};

static void put(struct window *w, const char *text, u32 n)
{
	u64 skip = w->from > w->pos ? w->from - w->pos : 0;

	w->pos += n;
	if (skip >= n)
		return;
	n -= (u32)skip;
	if (n > w->len) {
		n = (u32)w->len;
		w->more = true;
	}
	gtp_out_text(w->out, text + skip, n);
	w->len -= n;
}

/* Parse "OFFSET,LENGTH", which follows the annex and a ':'. */
static int open_window(struct gtp_stub *s, struct gtp_in *in, struct window *w, struct gtp_why *why)
{
	w->out = &s->reply;
	w->pos = 0;
	w->more = false;
	if (gtp_args_hex_pair(in, ',', &w->from, &w->len, why))
		return -EINVAL;
	if (w->len > GTP_PACKET_MAX - 1)
		w->len = GTP_PACKET_MAX - 1;
	gtp_out_text(&s->reply, "l", 1);
	return 0;
}

static int close_window(struct gtp_stub *s, const struct window *w)
{
	if (w->more)
		s->reply.buf[0] = 'm';
	return 0;
}

GTP_HANDLER(gtp_pkt_features)
{
	struct window w;

	if (!gtp_in_word(in, "target.xml:")) {
		gtp_why(why, "the only description is target.xml");
		return -ENOENT;
	}
	if (open_window(s, in, &w, why))
		return -EINVAL;
	put(&w, gtp_target_xml, sizeof(gtp_target_xml) - sizeof(gtp_process_xml_end));
	if (s->ops->process)
		put(&w, gtp_process_xml, sizeof(gtp_process_xml) - 1);
	put(&w, gtp_process_xml_end, sizeof(gtp_process_xml_end) - 1);
	return close_window(s, &w);
}

static void put_block(struct window *w, const struct gtp_block *b)
{
	char text[80];
	struct gtp_out line;

	gtp_out_init(&line, text, sizeof(text));
	if (b->type == GTP_BLOCK_MEM)
		gtp_out_printf(&line, "<memory start=\"0x%llx\" length=\"0x%x\"/>\n",
			       gtp_frame_mem_addr(b), b->len);
	else if (b->type == GTP_BLOCK_VAR)
		gtp_out_printf(&line, "<tvar id=\"%u\"/>\n", b->num);
	put(w, text, (u32)line.len);
}

/* Add the address range at which the frame's static data is readable (see trace/sdata.h). */
static void put_static(struct window *w, struct gtp_stub *s, const struct gtp_frame *f)
{
	u32 size = gtp_sdata_size(f, s->trace->formats);
	char text[80];
	struct gtp_out line;

	if (!size)
		return;
	gtp_out_init(&line, text, sizeof(text));
	gtp_out_printf(&line, "<memory start=\"0x%llx\" length=\"0x%x\"/>\n", GTP_SDATA_ADDR, size);
	put(w, text, (u32)line.len);
}

GTP_HANDLER(gtp_pkt_static_data)
{
	const struct gtp_frame *f = gtp_selected_frame(s);
	const struct gtp_block *b = f ? gtp_sdata_block(f) : NULL;
	struct window w;

	if (!gtp_in_char(in, ':'))
		return gtp_args_bad(in, why, "':'");
	if (open_window(s, in, &w, why))
		return -EINVAL;
	if (!b) {
		gtp_why(why, f ? "the frame holds no static data" : "no trace frame is selected");
		return -ENOENT;
	}
	put(&w, (const char *)(b + 1), b->len);
	return close_window(s, &w);
}

/* At offset 0, open the trace file, which generates its header. */
static int open_trace_file(struct gtp_stub *s, u64 from, struct gtp_why *why)
{
	if (from && s->trace_file.header)
		return 0;
	gtp_file_close(&s->trace_file);
	return gtp_file_open(&s->trace_file, s->trace, why);
}

/* Return a part of the trace file, /proc/gtpframe. GDB does not have this packet. */
GTP_HANDLER(gtp_pkt_trace_file)
{
	u64 from, len;
	s64 n;
	int err;

	if (!gtp_in_char(in, ':'))
		return gtp_args_bad(in, why, "':'");
	if (gtp_args_hex_pair(in, ',', &from, &len, why))
		return -EINVAL;
	err = open_trace_file(s, from, why);
	if (err)
		return err;
	if (len > GTP_PACKET_MAX - 1)
		len = GTP_PACKET_MAX - 1;
	n = gtp_file_read(&s->trace_file, from, (u8 *)s->in, (u32)len);
	if (n < 0) {
		gtp_file_close(&s->trace_file);
		gtp_why(why, "the frames are gone: another run began; read again from 0");
		return (int)n;
	}
	gtp_out_text(&s->reply, from + (u64)n < gtp_file_size(&s->trace_file) ? "m" : "l", 1);
	gtp_out_text(&s->reply, s->in, (size_t)n);
	return 0;
}

/*
 * Return a part of the text of the aggregations, also during a run. GDB does not have this packet.
 * A read from offset 0 collects the current values; reads at other offsets return pieces of the
 * same text.
 */
GTP_HANDLER(gtp_pkt_aggregates)
{
	struct gtp_trace *t = s->trace;
	bool clear = gtp_in_word(in, "clear:");
	struct window w;
	int err;

	if (!clear && !gtp_in_word(in, "show:")) {
		gtp_why(why, "qXfer:gtpaggregates: read show, or clear, which starts from zero");
		return -ENOENT;
	}
	if (open_window(s, in, &w, why))
		return -EINVAL;
	err = w.from && t->aggregate_text ? 0 : gtp_aggregates_read(t, clear && !w.from, why);
	if (err)
		return err;
	put(&w, t->aggregate_text, (u32)t->aggregate_bytes);
	return close_window(s, &w);
}

/* Put all stacks: the words of the table. Refused during a run, when hits may add stacks. */
static int put_all_stacks(struct gtp_stub *s, struct gtp_in *in, struct gtp_why *why)
{
	const struct gtp_stacks *stacks = s->trace->run.stacks;
	struct window w;

	if (gtp_trace_running(s->trace)) {
		gtp_why(why, "the run is going on; all stacks are read when it has ended");
		return -EBUSY;
	}
	if (open_window(s, in, &w, why))
		return -EINVAL;
	if (stacks)
		put(&w, (const char *)stacks->word, stacks->used * (u32)sizeof(*stacks->word));
	return close_window(s, &w);
}

/*
 * Return a stack as words in hex, the innermost address first, also during a run. GDB does not have
 * this packet.
 */
GTP_HANDLER(gtp_pkt_stacks)
{
	const struct gtp_stacks *stacks = s->trace->run.stacks;
	const u64 *pc = NULL;
	struct window w;
	u32 id, n = 0, i;
	char text[20];

	if (gtp_in_word(in, "all:"))
		return put_all_stacks(s, in, why);
	if (!gtp_in_hex32(in, &id) || !gtp_in_char(in, ':'))
		return gtp_args_bad(in, why, "the number of a stack and ':'");
	if (open_window(s, in, &w, why))
		return -EINVAL;
	if (stacks)
		pc = gtp_stacks_get(stacks, id, &n);
	if (!pc) {
		gtp_why(why, "no stack has the number %u", id);
		return -ENOENT;
	}
	for (i = 0; i < n; i++)
		put(&w, text, (u32)snprintf(text, sizeof(text), "%llx\n", pc[i]));
	return close_window(s, &w);
}

GTP_HANDLER(gtp_pkt_traceframe_info)
{
	static const char head[] = "<traceframe-info>\n", tail[] = "</traceframe-info>\n";
	const struct gtp_frame *f = gtp_selected_frame(s);
	const struct gtp_block *b = NULL;
	struct window w;

	if (!gtp_in_char(in, ':'))
		return gtp_args_bad(in, why, "':'");
	if (open_window(s, in, &w, why))
		return -EINVAL;
	if (!f) {
		gtp_why(why, "no trace frame is selected");
		return -ENOENT;
	}
	put(&w, head, sizeof(head) - 1);
	while (!w.more) {
		b = gtp_frame_next_block(f, b);
		if (!b)
			break;
		put_block(&w, b);
	}
	put_static(&w, s, f);
	put(&w, tail, sizeof(tail) - 1);
	return close_window(s, &w);
}
