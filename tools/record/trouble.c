// SPDX-License-Identifier: GPL-2.0-only
/* The first error of a recording, kept for the user until the files are complete. */
#include <stdlib.h>
#include "trouble.h"

/* Set by the first error in either of the two threads. */
static int claimed;
static char *text;

void trouble(const char *format, ...)
{
	va_list args;
	char *words;

	if (!gtp_claim(&claimed))
		return;
	va_start(args, format);
	if (vasprintf(&words, format, args) < 0)
		words = (char *)"out of memory";
	va_end(args);
	gtp_publish(&text, words);
}

const char *trouble_first(void)
{
	return gtp_acquire(&text);
}
