// SPDX-License-Identifier: GPL-2.0-only
/* RSP framing. Handles $...#cc, escapes, checksums and acks, one byte at a time. */
#include "transport/rsp.h"

#include "base/parse.h"

/*
 * Malformed input and its handling:
 *   wrong checksum, acks on    '-': the packet is dropped, and the peer sends it again
 *   wrong checksum, acks off   the packet is dropped; the reply E.text ends the peer's wait
 *   packet that is too long    skipped up to its checksum; the reply is E.text
 *   '$' inside a packet        starts a new packet: the peer has abandoned the previous one
 *   "}" before '#'             the "}" is dropped: '#' always ends a packet
 *   bytes between packets      ignored, except acks and ^C
 */
enum { IDLE, DATA, SUM_HIGH, SUM_LOW };

static const char hex_digit[] = "0123456789abcdef";

static void send(struct gtp_rsp *r, const void *bytes, u32 len)
{
	r->ops->send(r->ctx, bytes, len);
}

static void begin_packet(struct gtp_rsp *r)
{
	/* A new packet proves that the reply to QStartNoAckMode arrived, even without its ack. */
	if (r->no_ack_next) {
		r->no_ack_next = false;
		r->no_ack = true;
	}
	r->state = DATA;
	r->in_len = 0;
	r->sum = 0;
	r->escape = false;
	r->too_long = false;
}

static void resend(struct gtp_rsp *r)
{
	if (!r->no_ack && r->last_len)
		send(r, r->last, r->last_len);
}

static void acked(struct gtp_rsp *r)
{
	if (r->no_ack_next) {
		r->no_ack_next = false;
		r->no_ack = true;
	}
}

static void idle_byte(struct gtp_rsp *r, u8 c)
{
	switch (c) {
	case '$':
		begin_packet(r);
		break;
	case '+':
		acked(r);
		break;
	case '-':
		resend(r);
		break;
	case 0x03:
		r->ops->interrupt(r->ctx);
		break;
	}
}

static void store(struct gtp_rsp *r, u8 c)
{
	if (r->in_len < GTP_PACKET_MAX)
		r->in[r->in_len++] = (char)c;
	else
		r->too_long = true;
}

static void data_byte(struct gtp_rsp *r, u8 c)
{
	if (c == '$') {
		begin_packet(r);
		return;
	}
	if (c == '#') {
		r->state = SUM_HIGH;
		return;
	}
	r->sum += c;
	if (r->escape) {
		r->escape = false;
		store(r, c ^ 0x20);
	} else if (c == '}') {
		r->escape = true;
	} else {
		store(r, c);
	}
}

static void bad_sum(struct gtp_rsp *r)
{
	static const char text[] = "E.packet with a wrong checksum; nothing was done";

	r->bad_sums++;
	if (r->no_ack)
		gtp_rsp_reply(r, text, sizeof(text) - 1);
	else
		send(r, "-", 1);
}

static void end_packet(struct gtp_rsp *r)
{
	static const char text[] = "E.packet longer than 16384 bytes";

	static_assert(GTP_PACKET_MAX == 16384, "the text above names the size");
	if (!r->no_ack)
		send(r, "+", 1);
	if (r->too_long) {
		r->overlong++;
		gtp_rsp_reply(r, text, sizeof(text) - 1);
		return;
	}
	r->in[r->in_len] = '\0';
	r->ops->packet(r->ctx, r->in, r->in_len);
}

static void sum_byte(struct gtp_rsp *r, u8 c)
{
	int v = gtp_hex_digit((char)c);

	if (c == '$') {
		begin_packet(r);
		return;
	}
	if (v >= 0 && r->state == SUM_HIGH) {
		r->want_sum = (u8)(v << 4);
		r->state = SUM_LOW;
		return;
	}
	/* Become IDLE before the callback, which must not find half a packet in @r. */
	r->state = IDLE;
	if (v < 0 || (r->want_sum | v) != r->sum)
		bad_sum(r);
	else
		end_packet(r);
}

/**
 * gtp_rsp_init() - prepare for a new connection
 * @r: filled in
 * @ops: the functions that receive the packets and send the bytes
 * @ctx: passed to @ops
 * @in: GTP_PACKET_MAX + 1 bytes, which belong to the caller
 * @last: GTP_RSP_FRAME_MAX bytes, which belong to the caller
 */
void gtp_rsp_init(struct gtp_rsp *r, const struct gtp_rsp_ops *ops, void *ctx, char *in, u8 *last)
{
	memset(r, 0, sizeof(*r));
	r->ops = ops;
	r->ctx = ctx;
	r->in = in;
	r->last = last;
	r->state = IDLE;
}

void gtp_rsp_feed(struct gtp_rsp *r, const u8 *bytes, u32 len)
{
	for (; len--; bytes++) {
		if (r->state == IDLE)
			idle_byte(r, *bytes);
		else if (r->state == DATA)
			data_byte(r, *bytes);
		else
			sum_byte(r, *bytes);
	}
}

/*
 * True for a byte that must be escaped: '*' starts a run-length encoding, '#' ends a packet, '$'
 * starts one, and '}' escapes a byte.
 */
static bool needs_escape(u8 c)
{
	return c == '$' || c == '#' || c == '}' || c == '*';
}

static u32 frame(u8 *out, const u8 *data, u32 len)
{
	u8 *p = out;
	u8 sum = 0;

	*p++ = '$';
	for (; len--; data++) {
		u8 c = *data;

		if (needs_escape(c)) {
			*p++ = '}';
			sum += '}';
			c ^= 0x20;
		}
		*p++ = c;
		sum += c;
	}
	*p++ = '#';
	*p++ = (u8)hex_digit[sum >> 4];
	*p++ = (u8)hex_digit[sum & 15];
	return (u32)(p - out);
}

void gtp_rsp_reply(struct gtp_rsp *r, const void *data, u32 len)
{
	if (len > GTP_PACKET_MAX)
		len = GTP_PACKET_MAX; /* GTP_RSP_FRAME_MAX has no room for more */
	r->last_len = frame(r->last, data, len);
	send(r, r->last, r->last_len);
}

void gtp_rsp_start_no_ack(struct gtp_rsp *r)
{
	r->no_ack_next = true;
}
