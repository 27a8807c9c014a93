/* SPDX-License-Identifier: GPL-2.0-only */
/* Read a compiled session into memory. */
#ifndef _RUN_LOAD_H
#define _RUN_LOAD_H

#include "gtpd.h"

/*
 * load_session - read and check the session at @path, which may be a file, a pipe, or "-" for
 * standard input; call fail() if it is not a session. The memory of the session is never freed
 */
void load_session(struct gtpd *g, const char *path);

/* load_name - return the name that messages use for the session at @path */
const char *load_name(const char *path);

/* load_spare - call fail() if the output file or its temporary file is the file of the session */
void load_spare(const char *path, const char *out);

#endif /* _RUN_LOAD_H */
