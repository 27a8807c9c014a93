/* SPDX-License-Identifier: GPL-2.0-only */
/* A compiled session into memory. */
#ifndef _RUN_LOAD_H
#define _RUN_LOAD_H

#include "gtpd.h"

/*
 * load_session - all of a file, of a pipe or, as "-", of standard input, checked; fail() when it is
 * no session. Its memory stays until the end
 */
void load_session(struct gtpd *g, const char *path);

/* load_name - what a message calls it */
const char *load_name(const char *path);

/* load_spare - fail() when this file, or its part, which would be replaced, is the session */
void load_spare(const char *path, const char *out);

#endif /* _RUN_LOAD_H */
