// SPDX-License-Identifier: GPL-2.0-only
/* The definitions, piece by piece, for a GDB that connects to a session that has some. */
#include "stub/packets.h"

/*
 * The cursors count, and every piece is looked up from the first tracepoint: between two packets
 * any tracepoint can go away.
 */
static const struct gtp_tracepoint *nth(const struct gtp_trace *t, u32 n)
{
	const struct gtp_tracepoint *tp = t->tps.first;

	while (tp && n--)
		tp = tp->next;
	return tp;
}

static int sent(struct gtp_stub *s, int n)
{
	s->reply.len = (size_t)n < s->reply.size ? (size_t)n : s->reply.size - 1;
	return 0;
}

GTP_HANDLER(gtp_pkt_next_tp)
{
	const struct gtp_tracepoint *tp;

	while ((tp = nth(s->trace, s->upload_tp))) {
		int n = gtp_tracepoint_piece(tp, s->upload_piece, s->reply.buf, s->reply.size);

		if (n > 0) {
			s->upload_piece++;
			return sent(s, n);
		}
		s->upload_tp++;
		s->upload_piece = 0;
	}
	gtp_out_printf(&s->reply, "l");
	return 0;
}

GTP_HANDLER(gtp_pkt_first_tp)
{
	s->upload_tp = 0;
	s->upload_piece = 0;
	return gtp_pkt_next_tp(s, in, why);
}

GTP_HANDLER(gtp_pkt_next_tsv)
{
	int n = gtp_tsvs_piece(&s->trace->tsvs, s->upload_var, s->reply.buf, s->reply.size);

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
