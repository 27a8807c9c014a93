/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters the bytes that GDB sends while it uses acknowledgments.
 *
 * While ssh still shakes hands, GDB gets no acknowledgment and sends its first packet again every
 * two seconds. All copies then arrive at once, each would get an answer, and GDB would mistake the
 * second answer for the answer to its next packet. So repetitions are not passed on to the module.
 */
#ifndef _GTP_CONNECT_ACKS_H
#define _GTP_CONNECT_ACKS_H

#include <stdbool.h>
#include <stddef.h>

enum { ACKS_PACKET_MAX = 32768 };

/**
 * struct acks - the state of GDB's bytes until it stops using acknowledgments
 * @off: GDB no longer uses acknowledgments, and repeats nothing
 * @plain: a packet was too long to be kept: now everything is passed on unchanged
 * @acked: GDB has received the answer to @last
 * @hash: the offset in @packet of its checksum; 0: it has not come yet
 * @len: the number of bytes of @packet that have come so far; 0: no packet has begun
 * @last_len: the length of @last, the previous packet
 */
struct acks {
	bool off, plain, acked;
	size_t hash, len, last_len;
	char packet[ACKS_PACKET_MAX], last[ACKS_PACKET_MAX];
};

/*
 * acks_filter - copy GDB's bytes to @out, without repetitions; @out has room for ACKS_PACKET_MAX
 * more than @len, and *@n receives their number. Return: the number of the @len bytes that were
 * used: all, unless GDB stops using acknowledgments after them
 */
size_t acks_filter(struct acks *f, const char *in, size_t len, char *out, size_t *n);

#endif /* _GTP_CONNECT_ACKS_H */
