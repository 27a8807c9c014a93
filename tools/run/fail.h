/* SPDX-License-Identifier: GPL-2.0-only */
/* How gtp-run ends when it cannot go on. */
#ifndef _RUN_FAIL_H
#define _RUN_FAIL_H

/* The exit status; docs/man/gtp-run.1 has the list. */
enum { RUN_OK, RUN_FAILED, RUN_USAGE, RUN_WRONG_FILE, RUN_BUSY, RUN_INTERRUPTED = 130 };

#include "base/base.h"

/* fail - say why on standard error and exit; the connection's end takes out every probe */
__printf(2, 3) _Noreturn void fail(int status, const char *format, ...);

/* must - memory that was asked for, or the end */
void *must(void *memory);

#endif /* _RUN_FAIL_H */
