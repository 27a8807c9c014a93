/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets and replies on a connection without acknowledgments, where each packet has one reply.
 *
 * If the user presses ^C during a long tstart, GDB prints Quit and stops waiting for the reply.
 * Later it would mistake console text or the reply for the reply to its next packet, and every
 * further reply would be for the wrong packet. But GDB never has two packets in flight. So when
 * another packet comes, GDB has stopped waiting for the reply to the previous one. That reply is
 * then dropped, and the module's work is interrupted if possible. A reply that was already sent to
 * GDB cannot be dropped any more.
 */
#ifndef _GTP_CONNECT_TURNS_H
#define _GTP_CONNECT_TURNS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * struct packets - the parser of one direction: @len bytes of the current packet, the first bytes
 * in @head
 */
struct packets {
	enum { PACKETS_BETWEEN, PACKETS_INSIDE, PACKETS_SUM, PACKETS_LAST } where;
	size_t len;
	char head[5];
};

/**
 * struct turns - the state of the connection
 * @asked: number of GDB's packets, except those that were dropped because GDB stopped waiting
 *	before any part of them was written to the module
 * @started: number of these packets whose writing to the module has begun
 * @answered: number of these packets that the module has answered
 * @slow: true if the packet that is being written is one that ^C interrupts
 * @writing: true while a thread writes bytes to the module
 * @interrupting: true if turns_asked() has requested a ^C; no packet is begun until the ^C is
 *	written
 * @text: true if console text may come before the reply to the newest packet
 * @passes: true if the module's current packet is passed to GDB; known after its third byte
 * @gdb, @module: the parsers of what GDB and the module send
 * @queue: the @queued bytes for the module, in memory of @room bytes. If @asked > @started, the
 *	bytes from @unstarted on are a packet that is not begun yet
 */
struct turns {
	unsigned long asked, started, answered;
	bool slow, writing, interrupting, text, passes;
	struct packets gdb, module;
	char *queue;
	size_t queued, room, unstarted;
};

/*
 * turns_asked - handle GDB's next bytes; return false if memory runs out. If @interrupting is true
 * afterwards, the caller must write a ^C at once, even while another write is in progress, and then
 * set @interrupting to false
 */
bool turns_asked(struct turns *t, const char *bytes, size_t len);

/*
 * turns_raw - queue bytes for the module without parsing packets; return false if there is no
 * memory
 */
bool turns_raw(struct turns *t, const char *bytes, size_t len);

/*
 * turns_take - move the bytes that may be written to the module now, at most @size, to @out; return
 * their number
 */
size_t turns_take(struct turns *t, char *out, size_t size);

/*
 * turns_waits - true if GDB waits for the reply to a packet whose writing has not begun; the caller
 * must then keep GDB waiting
 */
bool turns_waits(const struct turns *t);

/*
 * turns_left - true if bytes must still be written before the program ends; false while a packet
 * that ^C interrupts is being written, because then the rest may be dropped
 */
bool turns_left(const struct turns *t);

/*
 * turns_answer - handle @len bytes from the module: copy those that GDB gets to @out, whose size is
 * at least @len + 3 bytes; return their number
 */
size_t turns_answer(struct turns *t, const char *bytes, size_t len, char *out);

#endif /* _GTP_CONNECT_TURNS_H */
