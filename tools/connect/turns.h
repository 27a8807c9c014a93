/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets and answers on a line without acknowledgments, where each packet has one answer.
 *
 * If the user presses ^C during a long tstart, GDB says Quit, and reads neither text nor answer. It
 * would mistake both for the answer to its next packet, and every later answer would be for the
 * wrong packet. But GDB never has two packets in flight: if another one comes, it has given up on
 * the answer to the previous one. That answer is then dropped, and the work interrupted if that is
 * possible. An answer that was already sent to GDB cannot be taken back.
 */
#ifndef _GTP_CONNECT_TURNS_H
#define _GTP_CONNECT_TURNS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * struct packets - the parser's state for one direction: @len bytes of a packet so far, the first
 * in
 * @head
 */
struct packets {
	enum { PACKETS_BETWEEN, PACKETS_INSIDE, PACKETS_SUM, PACKETS_LAST } where;
	size_t len;
	char head[5];
};

/**
 * struct turns - the state of the line
 * @asked: number of GDB's packets, except those on which it gave up before they were begun
 * @started: number of these packets that we have begun to write to the module
 * @answered: number of these packets that the module has answered
 * @slow: the packet that is being written is one that ^C interrupts
 * @writing: a thread is in that write
 * @interrupting: turns_asked() has asked for a ^C; until it is written, nothing else is begun
 * @text: console text may come before the answer to the newest packet
 * @passes: the module's packet that is being read goes to GDB; known from its third byte on
 * @gdb, @module: the parsers of what GDB and the module send
 * @queue: bytes for the module, @queued of @room; from @unstarted on they are a packet that is not
 *	begun yet, if @asked > @started
 */
struct turns {
	unsigned long asked, started, answered;
	bool slow, writing, interrupting, text, passes;
	struct packets gdb, module;
	char *queue;
	size_t queued, room, unstarted;
};

/*
 * turns_asked - handle GDB's next bytes; return false if there is no memory. If @interrupting is
 * set afterwards, the caller must write a ^C at once, even while another write is in progress, and
 * then clear it
 */
bool turns_asked(struct turns *t, const char *bytes, size_t len);

/* turns_raw - queue bytes for the module that are no packet; return false if there is no memory */
bool turns_raw(struct turns *t, const char *bytes, size_t len);

/*
 * turns_take - take the bytes that may be written to the module now, @size at most; return their
 * number
 */
size_t turns_take(struct turns *t, char *out, size_t size);

/*
 * turns_waits - true if GDB waits for the answer to a packet that is not begun, and so needs a sign
 * of life
 */
bool turns_waits(const struct turns *t);

/*
 * turns_left - true if bytes must be written before the program ends; those after a slow packet
 * need not
 */
bool turns_left(const struct turns *t);

/*
 * turns_answer - handle the module's bytes: copy those that GDB gets to @out, which has room for 3
 * more than @len; return their number
 */
size_t turns_answer(struct turns *t, const char *bytes, size_t len, char *out);

#endif /* _GTP_CONNECT_TURNS_H */
