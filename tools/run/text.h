/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints text from files and from the target so that it cannot control a terminal. */
#ifndef _RUN_TEXT_H
#define _RUN_TEXT_H

#include <stdio.h>
#include "base/base.h"

/**
 * text_put - write a text so that it cannot control a terminal
 * @to: the stream
 * @text: any bytes: a session, a kernel's release or a file's name may contain escape sequences
 * @len: the number of bytes
 *
 * Escapes the following in C syntax: control characters, characters that change the direction of
 * text, and bytes that are not UTF-8.
 */
void text_put(FILE *to, const char *text, size_t len);

/* text_line - write a string like text_put(), and a newline */
void text_line(FILE *to, const char *text);

/**
 * text_printf - print like printf, with a result that cannot control a terminal
 * @to: the stream
 * @format: the text, as for printf; newlines and tabs are not escaped, even in arguments
 */
__printf(2, 3) void text_printf(FILE *to, const char *format, ...);

/*
 * text_errx - like errx, with text that cannot control a terminal: print the program's name, the
 * text and a newline to stderr, and exit
 */
__printf(2, 3) _Noreturn void text_errx(int status, const char *format, ...);

#endif /* _RUN_TEXT_H */
