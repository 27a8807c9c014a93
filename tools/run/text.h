/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints text from files and from the target so that it cannot control a terminal. */
#ifndef _RUN_TEXT_H
#define _RUN_TEXT_H

#include <stdio.h>
#include "base/base.h"

/**
 * text_put - write a text so that it cannot control a terminal
 * @to: the stream
 * @text: any bytes; a session, a kernel's release or a file's name may have escape sequences
 * @len: the number of bytes
 *
 * Control characters, those that change the order of others, and bytes that are not UTF-8 are
 * escaped as in C.
 */
void text_put(FILE *to, const char *text, size_t len);

/* text_line - write a string as text_put() does, and a newline */
void text_line(FILE *to, const char *text);

/**
 * text_printf - print like printf, with a result that cannot control a terminal
 * @to: the stream
 * @format: the text, as for printf; newlines and tabs, also those of arguments, are kept
 */
__printf(2, 3) void text_printf(FILE *to, const char *format, ...);

/*
 * text_errx - report like errx, with text that cannot control a terminal: the program's name, the
 * text, a newline on stderr; exit
 */
__printf(2, 3) _Noreturn void text_errx(int status, const char *format, ...);

#endif /* _RUN_TEXT_H */
