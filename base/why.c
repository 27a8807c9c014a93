// SPDX-License-Identifier: GPL-2.0-only
/* Format the reason of a refusal. */
#include "base/why.h"

void gtp_why(struct gtp_why *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, args);
	va_end(args);
}
