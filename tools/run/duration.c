// SPDX-License-Identifier: GPL-2.0-only
/* Parse the argument of --for, like gdbscripts/gtp/shell/options.py. */
#include <stdlib.h>
#include "duration.h"

/*
 * Return the length of the number (such as 5 or 0.5) at the beginning of @text; accept the same
 * forms as gtp.
 */
static size_t number(const char *text)
{
	static const char digits[] = "0123456789";
	size_t whole = strspn(text, digits), part = 0;

	if (whole && text[whole] == '.')
		part = strspn(text + whole + 1, digits);
	return part ? whole + 1 + part : whole;
}

u64 duration(struct argp_state *state, const char *text)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = { { "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };
	size_t len = number(text);
	double n = len ? strtod(text, NULL) : 0;
	u32 i;

	/* Refuse 0, because the caller uses 0 for no limit. */
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(text + len, units[i].unit) && n > 0 && n * units[i].ms < 1e15)
			return n * units[i].ms < 1 ? 1 : (u64)(n * units[i].ms);
	argp_error(state, "'%s' is no time; write 5s, 500ms, 2m or 1h", text);
	return 0;
}
