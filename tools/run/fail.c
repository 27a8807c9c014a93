// SPDX-License-Identifier: GPL-2.0-only
/* Messages of gtp-run and gtp-drain on standard error, and their last words. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "fail.h"

static void put_line(const char *format, va_list args)
{
	fflush(stdout);
	fprintf(stderr, "%s: ", program);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
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
