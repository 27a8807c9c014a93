// SPDX-License-Identifier: GPL-2.0-only
/* Removes the compiler's suffixes from names of functions. */
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
