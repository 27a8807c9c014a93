/* SPDX-License-Identifier: GPL-2.0-only */
/* The reason why a request is refused, in words for the user. */
#ifndef _GTP_WHY_H
#define _GTP_WHY_H

#include "base/base.h"

/*
 * struct gtp_why - why a request was refused, in words for the user; "" when there is nothing to
 * say
 *
 * The code that finds the fault fills it in, and GDB shows it unchanged: what is wrong, where, and
 * what to do.
 */
struct gtp_why {
	char text[200];
};

/* gtp_why - format the words of a reason; what does not fit is cut off */
__printf(2, 3) void gtp_why(struct gtp_why *why, const char *fmt, ...);

/* gtp_why_is_general - true if an error concerns the machine or the user, not only one place */
static inline bool gtp_why_is_general(int err)
{
	return err == -ENOMEM || err == -EINTR;
}

#endif /* _GTP_WHY_H */
