// SPDX-License-Identifier: GPL-2.0-only
/* The last words of gtp-run. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "fail.h"

void fail(int status, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("gtp-run: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

void *must(void *memory)
{
	if (!memory)
		fail(RUN_FAILED, "out of memory");
	return memory;
}
