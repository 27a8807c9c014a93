/* SPDX-License-Identifier: GPL-2.0-only */
/* The reason why a request is refused, in words for the user. */
#ifndef _GTP_WHY_H
#define _GTP_WHY_H

#include "base/base.h"

/*
 * struct gtp_why - why a request was refused, in words for the user; "" if there is no reason to
 * show
 *
 * The code that finds the fault fills in the struct, and GDB shows the text unchanged: what is
 * wrong, where, and what to do.
 */
struct gtp_why {
	char text[200];
};

/* gtp_why - format the text of a reason; text that does not fit is cut off */
__printf(2, 3) void gtp_why(struct gtp_why *why, const char *fmt, ...);

/* gtp_why_is_general - true if an error concerns the whole machine or the user, not one address */
static inline bool gtp_why_is_general(int err)
{
	return err == -ENOMEM || err == -EINTR;
}

#endif /* _GTP_WHY_H */
