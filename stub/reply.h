/* SPDX-License-Identifier: GPL-2.0-only */
/* The replies that packets share: OK, and errors in words. */
#ifndef _GTP_REPLY_H
#define _GTP_REPLY_H

#include "stub/connection.h"

/* gtp_reply_ok - the reply "OK"; returns 0, so that a handler can end with it */
int gtp_reply_ok(struct gtp_stub *s);

/**
 * gtp_reply_error() - "E." and words, instead of what the reply has so far
 * @s: the connection
 * @err: a negative errno
 * @words: for the user; "": those of @err; NULL: GDB reads no words in this error, so it is "E01"
 */
void gtp_reply_error(struct gtp_stub *s, int err, const char *words);

#endif /* _GTP_REPLY_H */
