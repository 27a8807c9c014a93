/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes replies that many packets share: OK, stop replies, and errors in words. */
#ifndef _GTP_REPLY_H
#define _GTP_REPLY_H

#include "stub/connection.h"

/* gtp_reply_ok - reply "OK"; return 0, so that a handler can return the result of this call */
int gtp_reply_ok(struct gtp_stub *s);

/* gtp_reply_stop - put the stop reply for signal @n into @out, for a process with its thread */
void gtp_reply_stop(const struct gtp_stub *s, struct gtp_out *out, u32 n);

/**
 * gtp_reply_error() - replace the reply by "E." and words
 * @s: the connection
 * @err: the error, a negative errno
 * @words: the error in words; "": describe @err; NULL: send "E01", for packets where GDB ignores
 *	words
 */
void gtp_reply_error(struct gtp_stub *s, int err, const char *words);

#endif /* _GTP_REPLY_H */
