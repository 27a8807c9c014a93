/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parse arguments that several packets have in common. Error messages name the column of the wrong
 * argument.
 */
#ifndef _GTP_ARGS_H
#define _GTP_ARGS_H

#include "base/parse.h"
#include "base/why.h"

/* gtp_args_bad - refuse the argument: put packet, column and @expected into @why; return -EINVAL */
int gtp_args_bad(const struct gtp_in *in, struct gtp_why *why, const char *expected);

/* gtp_args_end - return 0 if the whole packet has been read, otherwise -EINVAL */
int gtp_args_end(const struct gtp_in *in, struct gtp_why *why);

/* gtp_args_hex_pair - read "HEX<sep>HEX" up to the packet's end; return 0 or -EINVAL */
int gtp_args_hex_pair(struct gtp_in *in, char sep, u64 *a, u64 *b, struct gtp_why *why);

#endif /* _GTP_ARGS_H */
