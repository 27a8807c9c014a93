// SPDX-License-Identifier: GPL-2.0-only
/* Names of functions as in the source, without the compiler's suffixes. */
#include "probe/policy/symbol_name.h"

void gtp_symbol_plain(char *buf, size_t size, const char *symbol)
{
	const char *end = strchr(symbol, '+');
	size_t at = 0;

	for (; *symbol && at + 1 < size; symbol++) {
		if (end && symbol < end && *symbol == '.')
			symbol = end;
		buf[at++] = *symbol;
	}
	buf[at] = '\0';
}
