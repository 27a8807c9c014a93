/* SPDX-License-Identifier: GPL-2.0-only */
/* Text of files and of the target on its way to a terminal. */
#ifndef _RUN_TEXT_H
#define _RUN_TEXT_H

#include <stdio.h>
#include "base/base.h"

/**
 * text_put - write a text so that it cannot control a terminal
 * @to: the stream
 * @text: any bytes; a session, a kernel's release or a file's name may have escape sequences
 * @len: how many
 *
 * Control characters, those that change the order of others, and bytes that are not UTF-8 are
 * escaped as in C.
 */
void text_put(FILE *to, const char *text, size_t len);

/* text_line - the same of a string, and a newline */
void text_line(FILE *to, const char *text);

#endif /* _RUN_TEXT_H */
