// SPDX-License-Identifier: GPL-2.0-only
/* Removes repeated packets from the bytes that GDB sends while it uses acknowledgments. */
#include <string.h>

#include "acks.h"

/*
 * packet_end - write the packet to @out unless it is a repetition. GDB acknowledges each reply
 * before it sends the next packet. So if a packet equals the previous one and GDB has sent no
 * acknowledgment in between, the packet is a repetition
 */
static size_t packet_end(struct acks *f, char *out)
{
	size_t len = f->len;

	f->len = 0;
	if (!f->acked && len == f->last_len && !memcmp(f->packet, f->last, len))
		return 0;
	memcpy(out, f->packet, len);
	memcpy(f->last, f->packet, len);
	f->last_len = len;
	f->acked = false;
	return len;
}

static size_t packet_byte(struct acks *f, char c, char *out)
{
	f->packet[f->len++] = c;
	if (c == '#' && !f->hash)
		f->hash = f->len;
	if (f->hash && f->len == f->hash + 2)
		return packet_end(f, out);
	if (f->len < ACKS_PACKET_MAX)
		return 0;
	/* Pass on a packet that is too long: the module refuses it. */
	memcpy(out, f->packet, f->len);
	f->plain = true;
	return f->len;
}

/*
 * between_packets - handle acknowledgments and ^C; drop '-', a request to repeat a reply: a pipe
 * loses nothing
 */
static size_t between_packets(struct acks *f, char c, char *out)
{
	static const char no_acks[] = "$QStartNoAckMode#b0";

	if (c == '$') {
		f->hash = 0;
		f->packet[0] = c;
		f->len = 1;
		return 0;
	}
	if (c == '-')
		return 0;
	if (c == '+') {
		f->acked = true;
		f->off = f->last_len == sizeof(no_acks) - 1 &&
			 !memcmp(f->last, no_acks, f->last_len);
	}
	*out = c;
	return 1;
}

size_t acks_filter(struct acks *f, const char *in, size_t len, char *out, size_t *n)
{
	size_t i;

	*n = 0;
	for (i = 0; i < len && !f->off && !f->plain; i++)
		*n += f->len ? packet_byte(f, in[i], out + *n) :
			       between_packets(f, in[i], out + *n);
	if (!f->plain)
		return i;
	memcpy(out + *n, in + i, len - i);
	*n += len - i;
	return len;
}
