/* SPDX-License-Identifier: GPL-2.0-only */
/* Errors while the files have to be brought to a good end all the same. */
#ifndef _DRAIN_TROUBLE_H
#define _DRAIN_TROUBLE_H

#include "run/fail.h"

/* trouble - note a sentence for the user; what follows from the first one is not kept */
__printf(1, 2) void trouble(const char *format, ...);

/* trouble_first - the sentence, or NULL */
const char *trouble_first(void);

#endif /* _DRAIN_TROUBLE_H */
