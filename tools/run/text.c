// SPDX-License-Identifier: GPL-2.0-only
/* Escape text for a terminal; base/visible.c finds the characters that must be escaped. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* vasprintf */
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/visible.h"
#include "text.h"

static void put_escaped(FILE *to, u8 c)
{
	static const char letters[] = "abtnvfr"; /* the escapes of the characters 7 to 13 */

	if (c >= 7 && c <= 13)
		fprintf(to, "\\%c", letters[c - 7]);
	else
		fprintf(to, "\\%03o", c);
}

void text_put(FILE *to, const char *text, size_t len)
{
	size_t n;

	while (len) {
		n = gtp_visible_length(text, len);
		if (n)
			fwrite(text, 1, n, to);
		else
			put_escaped(to, (u8)*text);
		n += !n;
		text += n;
		len -= n;
	}
}

void text_line(FILE *to, const char *text)
{
	text_put(to, text, strlen(text));
	fputc('\n', to);
}

static bool is_plain(const char *text)
{
	while ((*text >= ' ' && *text < 0x7f) || *text == '\n' || *text == '\t')
		text++;
	return !*text;
}

/* Write text that needs no escapes with one call: the listing of a kernel has millions of lines. */
static void put_kept(FILE *to, const char *text)
{
	size_t n;

	if (is_plain(text)) {
		fputs(text, to);
		return;
	}
	for (; *text; text += n + !!text[n]) {
		n = strcspn(text, "\n\t");
		text_put(to, text, n);
		if (text[n])
			fputc(text[n], to);
	}
}

static void print(FILE *to, const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0) {
		fputs("out of memory\n", stderr);
		exit(2);
	}
	put_kept(to, text);
	free(text);
}

void text_printf(FILE *to, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(to, format, args);
	va_end(args);
}

void text_errx(int status, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	print(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}
