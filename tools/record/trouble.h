/* SPDX-License-Identifier: GPL-2.0-only */
/* Errors after which the files must still be completed. */
#ifndef _DRAIN_TROUBLE_H
#define _DRAIN_TROUBLE_H

#include "run/fail.h"

/* trouble - record a message for the user; only the first one is kept */
__printf(1, 2) void trouble(const char *format, ...);

/* trouble_first - return the message, or NULL */
const char *trouble_first(void);

#endif /* _DRAIN_TROUBLE_H */
