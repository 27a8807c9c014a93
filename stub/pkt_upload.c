// SPDX-License-Identifier: GPL-2.0-only
/* Packets by which a GDB that connects reads the existing definitions, piece by piece. */
#include "stub/handlers.h"

/*
 * Return the tracepoint at position @upload_tp of the list. Any tracepoint can be removed between
 * two packets, so the position is an ordinal. Walk the list from its beginning only if a tracepoint
 * was removed since the last packet, or if the last tracepoint has been sent.
 */
static const struct gtp_tracepoint *at_cursor(struct gtp_stub *s)
{
	const struct gtp_tracepoints *list = &s->trace->tps;
	u32 n;

	if (s->upload_at && s->upload_removed == list->removed)
		return s->upload_at;
	s->upload_at = list->first;
	for (n = s->upload_tp; n && s->upload_at; n--)
		s->upload_at = s->upload_at->next;
	s->upload_removed = list->removed;
	return s->upload_at;
}

static int sent(struct gtp_stub *s, int n)
{
	s->reply.len = (size_t)n < s->reply.size ? (size_t)n : s->reply.size - 1;
	return 0;
}

GTP_HANDLER(gtp_pkt_next_tp)
{
	const struct gtp_tracepoint *tp;

	while ((tp = at_cursor(s))) {
		int n = gtp_tracepoint_piece(tp, s->upload_piece, s->reply.buf, s->reply.size);

		if (n > 0) {
			s->upload_piece++;
			return sent(s, n);
		}
		s->upload_tp++;
		s->upload_at = tp->next;
		s->upload_piece = 0;
	}
	gtp_out_printf(&s->reply, "l");
	return 0;
}

GTP_HANDLER(gtp_pkt_first_tp)
{
	s->upload_tp = 0;
	s->upload_at = NULL;
	s->upload_piece = 0;
	return gtp_pkt_next_tp(s, in, why);
}

GTP_HANDLER(gtp_pkt_next_tsv)
{
	int n = gtp_tsvs_piece(&s->trace->run.tsvs, s->upload_var, s->reply.buf, s->reply.size);

	if (n > 0) {
		s->upload_var++;
		return sent(s, n);
	}
	gtp_out_printf(&s->reply, "l");
	return 0;
}

GTP_HANDLER(gtp_pkt_first_tsv)
{
	s->upload_var = 0;
	return gtp_pkt_next_tsv(s, in, why);
}
