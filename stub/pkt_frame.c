// SPDX-License-Identifier: GPL-2.0-only
/* Packets about the frames of the stopped run: select a frame, or read all for a trace file. */
#include "trace/tfile.h"
#include "stub/args.h"
#include "stub/handlers.h"
#include "stub/reply.h"

/* struct question - the search for a frame that a QTFrame packet asks for */
struct question {
	enum gtp_find how;
	u64 a, b;
};

static int read_range(struct gtp_in *in, struct question *q, enum gtp_find how, struct gtp_why *why)
{
	q->how = how;
	return gtp_args_hex_pair(in, ':', &q->a, &q->b, why);
}

static int read_question(struct gtp_in *in, struct question *q, struct gtp_why *why)
{
	if (gtp_in_word(in, "range:"))
		return read_range(in, q, GTP_FIND_RANGE, why);
	if (gtp_in_word(in, "outside:"))
		return read_range(in, q, GTP_FIND_OUTSIDE, why);
	q->b = 0;
	if (gtp_in_word(in, "pc:"))
		q->how = GTP_FIND_PC;
	else if (gtp_in_word(in, "tdp:"))
		q->how = GTP_FIND_TP;
	else
		q->how = GTP_FIND_NUMBER;
	if (!gtp_in_hex64(in, &q->a))
		return gtp_args_bad(in, why, "a hex number, pc:, tdp:, range: or outside:");
	return gtp_args_end(in, why);
}

static int leave(struct gtp_stub *s)
{
	s->frame = -1;
	gtp_out_printf(&s->reply, "F-1");
	return 0;
}

GTP_HANDLER(gtp_pkt_frame)
{
	const struct gtp_index *ix;
	struct question q;
	s64 found;

	if (read_question(in, &q, why))
		return -EINVAL;
	/* U32_MAX is -1: "tfind none". GDB sends that before tstart, so allow it during a run. */
	if (q.how == GTP_FIND_NUMBER && q.a == U32_MAX)
		return leave(s);
	ix = gtp_trace_index(s->trace, why);
	if (!ix)
		return gtp_trace_running(s->trace) ? -EBUSY : -ENOMEM;
	s->trace->end_untold = false;
	found = gtp_index_find(ix, q.how, q.a, q.b, (u32)(s->frame + 1));
	if (found < 0) {
		/* If no frame is found, keep the selected frame, as GDB does. */
		gtp_out_printf(&s->reply, "F-1");
		return 0;
	}
	s->frame = found;
	gtp_out_printf(&s->reply, "F%llxT%x", (u64)found, gtp_index_at(ix, (u32)found)->frame->tp);
	return 0;
}

/*
 * Check the name of a trace file. GDB may not choose the file's folder: see @save of struct
 * gtp_stub_ops.
 */
static int check_name(const char *name, size_t len, struct gtp_why *why)
{
	if (strlen(name) != len)
		gtp_why(why, "the file name contains a NUL");
	else if (len > GTP_SAVE_NAME_MAX)
		gtp_why(why, "the file name is longer than %u characters", GTP_SAVE_NAME_MAX);
	else if (strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
		gtp_why(why,
			"tsave -r takes a plain name, without '/': the file goes into the folder that the module parameter save_dir names");
	else
		return 0;
	return -EINVAL;
}

GTP_HANDLER(gtp_pkt_save)
{
	char *name = s->in;
	int n, err;

	n = gtp_hex_decode((u8 *)name, GTP_PACKET_MAX, in->p, gtp_in_left(in));
	if (n <= 0)
		return gtp_args_bad(in, why, "a file name in hex");
	name[n] = '\0';
	err = check_name(name, (size_t)n, why);
	if (!err)
		err = s->ops->save(s->ctx, name, why);
	return err ? err : gtp_reply_ok(s);
}

GTP_HANDLER(gtp_pkt_buffer)
{
	const struct gtp_index *ix;
	u8 *bytes = (u8 *)s->in;
	u64 offset, len;

	if (gtp_args_hex_pair(in, ',', &offset, &len, why))
		return -EINVAL;
	ix = gtp_trace_index(s->trace, why);
	if (!ix)
		return gtp_trace_running(s->trace) ? -EBUSY : -ENOMEM;
	if (!offset)
		s->raw_epoch = s->trace->epoch;
	if (s->raw_epoch != s->trace->epoch) {
		gtp_why(why,
			"the frames are gone: a new run, or a reader of /proc/gtpframe_pipe, has taken them");
		return -ESTALE;
	}
	if (len > GTP_PACKET_MAX / 2)
		len = GTP_PACKET_MAX / 2;
	len = gtp_index_read(ix, offset, bytes, (u32)len);
	if (len)
		gtp_out_hex(&s->reply, bytes, len);
	else
		gtp_out_printf(&s->reply, "l");
	return 0;
}
