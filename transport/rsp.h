/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RSP framing. A state machine, which does no I/O itself, turns bytes into packets, and packets
 * into bytes.
 */
#ifndef _GTP_RSP_H
#define _GTP_RSP_H

#include "base/base.h"

enum {
	GTP_PACKET_MAX = 0x4000, /* the announced PacketSize: payload bytes after unescaping */
};

/**
 * struct gtp_rsp_ops - callbacks of the framing
 * @packet: handle a whole packet with a right checksum; @data is unescaped, terminated by a NUL
 *          that @len does not count, writable, and not valid after the call
 * @interrupt: handle a ^C between packets
 * @send: send all of the bytes to the peer; must not fail
 */
struct gtp_rsp_ops {
	void (*packet)(void *ctx, char *data, u32 len);
	void (*interrupt)(void *ctx);
	void (*send)(void *ctx, const void *bytes, u32 len);
};

/**
 * struct gtp_rsp - the state of one connection's framing
 * @in: GTP_PACKET_MAX + 1 bytes, owned by the caller
 * @last: the last reply, kept for a NAK: GTP_RSP_FRAME_MAX bytes, owned by the caller
 */
struct gtp_rsp {
	const struct gtp_rsp_ops *ops;
	void *ctx;
	char *in;
	u8 *last;
	u32 in_len;
	u32 last_len;
	u8 state;
	u8 sum;
	u8 want_sum;
	bool escape;
	bool too_long;
	bool no_ack;
	bool no_ack_next; /* QStartNoAckMode was answered: takes effect after the peer's ack */
	u64 bad_sums, overlong;
};

enum { GTP_RSP_FRAME_MAX = 2 * GTP_PACKET_MAX + 4 };

void gtp_rsp_init(struct gtp_rsp *r, const struct gtp_rsp_ops *ops, void *ctx, char *in, u8 *last);

/*
 * gtp_rsp_feed - handle bytes from the peer, split anywhere; call ->packet for each whole packet
 *
 * Answers broken and overlong packets itself. Context: that of ->packet and ->send.
 */
void gtp_rsp_feed(struct gtp_rsp *r, const u8 *bytes, u32 len);

/*
 * gtp_rsp_reply - send one packet; @len <= GTP_PACKET_MAX, any bytes (escaped as needed)
 *
 * The packet is kept until the next one: if the peer answers '-', it is sent again. GDB unescapes
 * only binary replies, so text for its user must not hold '#', '$', '}' or '*'.
 */
void gtp_rsp_reply(struct gtp_rsp *r, const void *data, u32 len);

/*
 * gtp_rsp_start_no_ack - use no acks, in either direction, starting with the reply after this one
 */
void gtp_rsp_start_no_ack(struct gtp_rsp *r);

#endif /* _GTP_RSP_H */
