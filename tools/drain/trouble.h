/* SPDX-License-Identifier: GPL-2.0-only */
/* What goes wrong while the files have to be brought to a good end all the same. */
#ifndef _DRAIN_TROUBLE_H
#define _DRAIN_TROUBLE_H

/* The exit status; docs/man/gtp-drain.1 has the list, and gtp-run has the same. */
enum { DRAIN_OK, DRAIN_FAILED, DRAIN_USAGE, DRAIN_BUSY = 4, DRAIN_INTERRUPTED = 130 };

#include "base/base.h"

/* trouble - note a sentence for the user; what follows from the first one is not kept */
__printf(1, 2) void trouble(const char *format, ...);

/* trouble_first - the sentence, or NULL */
const char *trouble_first(void);

/* drain_tell - a line to standard error, with the program's name */
__printf(1, 2) void drain_tell(const char *format, ...);

/* fail - tell it and exit; nothing has been recorded yet */
__printf(2, 3) _Noreturn void fail(int status, const char *format, ...);

/* must - memory that was asked for, or the end */
void *must(void *memory);

#endif /* _DRAIN_TROUBLE_H */
