/* SPDX-License-Identifier: GPL-2.0-only */
/* The first error of a recording, kept for the user until the files are complete. */
#ifndef _DRAIN_TROUBLE_H
#define _DRAIN_TROUBLE_H

#include "run/fail.h"

/* trouble - store a message for the user; only the first message is kept */
__printf(1, 2) void trouble(const char *format, ...);

/* trouble_first - return the first message, or NULL */
const char *trouble_first(void);

#endif /* _DRAIN_TROUBLE_H */
