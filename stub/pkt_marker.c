// SPDX-License-Identifier: GPL-2.0-only
/* Packets that list kernel tracepoints as GDB's static tracepoint markers, many in each reply. */
#include "stub/args.h"
#include "stub/handlers.h"

enum {
	MARKER_TEXT = 4096, /* bytes for the id and fields of one marker; longer text is cut */
	MARKER_HEAD = 24,   /* bytes for ",ADDR:", and for ":" between id and fields */
};

/* Append "ADDR:HEXID:HEXEXTRA"; return false if the reply has no room for it. */
static bool put_marker(struct gtp_stub *s, const struct gtp_marker *m)
{
	size_t id = strlen(m->id), extra = strlen(m->extra);

	if (s->reply.size - s->reply.len <= MARKER_HEAD + 2 * (id + extra))
		return false;
	gtp_out_printf(&s->reply, "%c%llx:", s->reply.len ? ',' : 'm', m->addr);
	gtp_out_hex(&s->reply, m->id, id);
	gtp_out_printf(&s->reply, ":");
	gtp_out_hex(&s->reply, m->extra, extra);
	return true;
}

static int get_marker(struct gtp_stub *s, u32 n, struct gtp_marker *m)
{
	if (!s->ops->marker)
		return -ENOENT;
	/* The packet has been parsed: use its memory for the id and the fields. */
	return s->ops->marker(s->ctx, n, m, s->in, MARKER_TEXT);
}

/*
 * Reply with the next markers, or with "l" after the last. GDB accepts no comma after the last
 * marker and treats an empty "m" as an error, so the "l" is a separate reply.
 */
GTP_HANDLER(gtp_pkt_next_marker)
{
	struct gtp_marker m;

	while (!get_marker(s, s->upload_marker, &m) && put_marker(s, &m))
		s->upload_marker++;
	if (!s->reply.len)
		gtp_out_printf(&s->reply, "l");
	return 0;
}

GTP_HANDLER(gtp_pkt_first_marker)
{
	s->upload_marker = 0;
	return gtp_pkt_next_marker(s, in, why);
}

GTP_HANDLER(gtp_pkt_marker_at)
{
	struct gtp_marker m;
	u64 addr;
	int n;

	if (!gtp_in_hex64(in, &addr))
		return gtp_args_bad(in, why, "an address");
	if (gtp_args_end(in, why))
		return -EINVAL;
	n = s->ops->marker_at ? s->ops->marker_at(s->ctx, addr) : -ENOENT;
	if (n < 0 || get_marker(s, (u32)n, &m) || !put_marker(s, &m))
		gtp_out_printf(&s->reply, "l");
	return 0;
}
