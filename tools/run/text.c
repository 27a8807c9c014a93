// SPDX-License-Identifier: GPL-2.0-only
/*
 * Escape text for a terminal: escape sequences, newlines in names, characters that change the
 * direction of others.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* vasprintf */
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "text.h"

/*
 * True for code points without a glyph: C1 controls, soft hyphen, zero width, directions, tags, ...
 */
static bool is_unseen(u32 c)
{
	static const struct {
		u32 first, last;
	} unseen[] = {
		{ 0x80, 0xa0 },	       { 0xad, 0xad },	   { 0x61c, 0x61c },   { 0x180e, 0x180e },
		{ 0x2000, 0x200f },    { 0x2028, 0x202f }, { 0x205f, 0x206f }, { 0x3000, 0x3000 },
		{ 0xd800, 0xf8ff },    { 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0xfffe, 0xffff },
		{ 0xe0000, 0x10ffff },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(unseen); i++)
		if (c >= unseen[i].first && c <= unseen[i].last)
			return true;
	return false;
}

/* glyph - return the number of bytes of the character at @text if it can be seen, otherwise 0 */
static size_t glyph(const u8 *text, size_t left)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : 4, i;
	u32 c;

	if (len == 1)
		return text[0] >= ' ' && text[0] < 0x7f;
	if (len > left || text[0] < 0xc0 || text[0] >= 0xf8)
		return 0;
	c = text[0] & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if (text[i] >> 6 != 2)
			return 0;
		c = c << 6 | (text[i] & 0x3f);
	}
	return c < least[len] || c > 0x10ffff || is_unseen(c) ? 0 : len;
}

static void put_escaped(FILE *to, u8 c)
{
	static const char letters[] = "abtnvfr"; /* of 7 to 13 */

	if (c >= 7 && c <= 13)
		fprintf(to, "\\%c", letters[c - 7]);
	else
		fprintf(to, "\\%03o", c);
}

void text_put(FILE *to, const char *text, size_t len)
{
	const u8 *at = (const u8 *)text;
	size_t n;

	while (len) {
		n = glyph(at, len);
		if (n)
			fwrite(at, 1, n, to);
		else
			put_escaped(to, *at);
		n += !n;
		at += n;
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

/* Write text without special characters at once: a kernel's instructions are millions of lines. */
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
