/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of packets, with the function that handles each. */
#ifndef _GTP_PACKETS_H
#define _GTP_PACKETS_H

#include "stub/connection.h"

enum {
	GTP_PKT_PREFIX = 1 << 0,  /* arguments may follow the packet's name */
	GTP_PKT_NOISY = 1 << 1,	  /* GDB accepts O packets before the reply */
	GTP_PKT_NUMERIC = 1 << 2, /* GDB ignores words in errors of this packet: send E01 */
	GTP_PKT_PROCESS = 1 << 3, /* only for a process: its handler uses ops->process */
};

/**
 * struct gtp_packet - one row of the packet table
 * @name: the bytes with which the packet begins
 * @flags: GTP_PKT_*
 * @handle: the function that answers the packet, see GTP_HANDLER() in stub/handlers.h
 * @doc: the packet's arguments and purpose
 */
struct gtp_packet {
	const char *name;
	u8 flags;
	int (*handle)(struct gtp_stub *s, struct gtp_in *in, struct gtp_why *why);
	const char *doc;
};

extern const struct gtp_packet gtp_packets[];
extern const u32 gtp_packets_count;

/* gtp_packets_find - find the row of a packet; return NULL if there is none */
const struct gtp_packet *gtp_packets_find(const char *data, u32 len);

/*
 * gtp_packets_handle - find a packet's row, handle the packet, send the reply; a NUL follows @data
 */
void gtp_packets_handle(struct gtp_stub *s, char *data, u32 len);

#endif /* _GTP_PACKETS_H */
