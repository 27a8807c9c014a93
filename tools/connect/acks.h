/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Removes repeated packets from the bytes that GDB sends while it uses acknowledgments.
 *
 * Until ssh has connected, GDB gets no acknowledgment and sends its first packet again every two
 * seconds. All copies then arrive at once. Each would get a reply, and GDB would mistake the second
 * reply for the reply to its next packet. So repetitions are not passed on to the module.
 */
#ifndef _GTP_CONNECT_ACKS_H
#define _GTP_CONNECT_ACKS_H

#include <stdbool.h>
#include <stddef.h>

enum { ACKS_PACKET_MAX = 32768 };

/**
 * struct acks - the parser of GDB's bytes until GDB stops using acknowledgments
 * @off: true if GDB no longer uses acknowledgments, and repeats nothing
 * @plain: true if a packet was too long for @packet; from then on everything is passed on unchanged
 * @acked: true if GDB has acknowledged the reply to @last
 * @hash: the offset in @packet of the '#' before its checksum; 0: not received yet
 * @len: the number of bytes of @packet received so far; 0: no packet has begun
 * @last_len: the length of @last, the previous packet
 */
struct acks {
	bool off, plain, acked;
	size_t hash, len, last_len;
	char packet[ACKS_PACKET_MAX], last[ACKS_PACKET_MAX];
};

/*
 * acks_filter - copy GDB's @len bytes to @out, without repetitions. The caller must make @out at
 * least @len + ACKS_PACKET_MAX bytes long; *@n receives the number of bytes written. Return: the
 * number of bytes that were read; it is less than @len if GDB stops using acknowledgments, because
 * the following bytes need no filter
 */
size_t acks_filter(struct acks *f, const char *in, size_t len, char *out, size_t *n);

#endif /* _GTP_CONNECT_ACKS_H */
