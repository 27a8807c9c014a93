/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks of a test in C that prints TAP, one line for each test. */
#ifndef _GTP_BLOB_TAP_H
#define _GTP_BLOB_TAP_H

#include "base/base.h"

/* tap_about - name what the following checks are about */
__printf(1, 2) void tap_about(const char *fmt, ...);

/* check, equal - the test fails if @right is false, or @have is not @want; @what is checked */
void check(bool right, const char *what);
void equal(u64 have, u64 want, const char *what);

/* tap_result - end a test; tap_end - end all tests, and return the status for exit() */
void tap_result(const char *name);
int tap_end(void);

#endif /* _GTP_BLOB_TAP_H */
