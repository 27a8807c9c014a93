/* SPDX-License-Identifier: GPL-2.0-only */
/* The replies that packets share: OK, and errors in words. */
#ifndef _GTP_REPLY_H
#define _GTP_REPLY_H

#include "stub/connection.h"

/* gtp_reply_ok - the reply "OK"; returns 0, so that a handler can end with it */
int gtp_reply_ok(struct gtp_stub *s);

/**
 * gtp_reply_error() - replace the reply by "E." and words
 * @s: the connection
 * @err: a negative errno
 * @words: for the user; "": describe @err; NULL: send "E01", because GDB ignores words here
 */
void gtp_reply_error(struct gtp_stub *s, int err, const char *words);

#endif /* _GTP_REPLY_H */
