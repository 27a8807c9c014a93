// SPDX-License-Identifier: GPL-2.0-only
/* Messages of gtp-run and gtp-drain on standard error, and their exit on errors. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fail.h"
#include "text.h"

static void put_line(const char *format, va_list args)
{
	char text[4096], *line, *rest = text;

	fflush(stdout);
	vsnprintf(text, sizeof(text), format, args);
	fprintf(stderr, "%s: ", program);
	/* A newline in the format begins a new line; a newline in an argument is escaped. */
	if (strchr(format, '\n'))
		while ((line = strsep(&rest, "\n")))
			text_line(stderr, line);
	else
		text_line(stderr, text);
}

void inform(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line(format, args);
	va_end(args);
}

void fail(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line(format, args);
	va_end(args);
	exit(status);
}

void *must(void *memory)
{
	if (!memory)
		fail(RUN_FAILED, "out of memory");
	return memory;
}
