/* SPDX-License-Identifier: GPL-2.0-only */
/* Packet transcripts: read the files in tests/sessions/ and play them to a stub. */
#ifndef _GTP_SESSION_H
#define _GTP_SESSION_H

#include <stdbool.h>
#include <stdio.h>

/*
 * A transcript has lines of these kinds, which are played in order:
 *
 *	# text		a comment
 *	> TEXT		send a packet: framing is added, and \xHH is that byte
 *	< TEXT		the next reply must be TEXT; O packets before it are kept for '~'
 *	~ TEXT		the console text since the last '>' must contain TEXT
 *	raw> TEXT	send these bytes as they are
 *	raw< TEXT	the next bytes that arrive must be these
 *	! call WHAT	the fixture makes a call: "add 3 4", "obj 1", "str TEXT", "leaf 7";
 *			"COUNT x WHAT" makes several
 *	! ^C		send ^C
 *	! reconnect	close the connection and open it again
 *
 * In TEXT, {name} stands for the address of a symbol of the fixture, or for captured digits;
 * {le:name} is the same as little-endian memory, {hex:text} is text in hex, {x:N} are N unknown
 * bytes. In a reply, '*' stands for any text, and {=name} captures hex digits. A transcript must
 * read every reply: an unread reply is a failure.
 */

/**
 * struct session_world - the target of a transcript
 * @send: send bytes to the stub; return 0, or -1 on failure
 * @receive: return the stub's next byte, or -1 if none comes; if @wait is false, do not wait
 * @call: let the fixture make the calls of a line "! call"; return 0, or -1 on failure
 * @reconnect: close the connection and open it again; return 0 or -1
 * @symbol: return the address of a symbol of the fixture; 0 if it is not known
 */
struct session_world {
	int (*send)(void *ctx, const void *bytes, size_t len);
	int (*receive)(void *ctx, bool wait);
	int (*call)(void *ctx, const char *what);
	int (*reconnect)(void *ctx);
	unsigned long long (*symbol)(void *ctx, const char *name);
	void *ctx;
};

/* session_play - play a file; return 0, or -1 with "FILE:LINE: what is wrong" on @report */
int session_play(const char *path, const struct session_world *world, FILE *report);

/*
 * session_play_wild - play @len arbitrary bytes; return 0, or -1 if nothing was played
 *
 * Compares no replies and ignores failures, so that a fuzzer can use transcripts as seeds.
 */
int session_play_wild(const void *text, size_t len, const struct session_world *world);

/*
 * session_packets - call @fn with every packet that the file sends; return 0, or -1 if there is no
 * file
 */
int session_packets(const char *path, void (*fn)(void *ctx, const char *text), void *ctx);

#endif /* _GTP_SESSION_H */
