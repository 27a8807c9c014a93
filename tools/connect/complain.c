// SPDX-License-Identifier: GPL-2.0-only
/* Messages of gdbtp-connect to its user. */
#include <stdarg.h>
#include <stdio.h>

#include "complain.h"

void complain(const char *format, ...)
{
	va_list args;

	fputs("gdbtp-connect: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}
