/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages of gtp-run and gtp-drain on standard error, and their exit on errors. */
#ifndef _RUN_FAIL_H
#define _RUN_FAIL_H

/* The exit statuses; docs/man/gtp-run.1 and gtp-drain.1 list them. */
enum { RUN_OK, RUN_FAILED, RUN_USAGE, RUN_WRONG_FILE, RUN_BUSY, RUN_INTERRUPTED = 130 };

#include "base/base.h"

/* The program's name, which precedes its messages. */
extern const char *const program;

/* inform - print a line to standard error */
__printf(1, 2) void inform(const char *format, ...);

/*
 * fail - print a line to standard error and exit. The exit of gtp-run closes its connection, and
 * the module then removes every probe
 */
__printf(2, 3) _Noreturn void fail(int status, const char *format, ...);

/* must - return allocated memory, or exit if it is NULL */
void *must(void *memory);

#endif /* _RUN_FAIL_H */
