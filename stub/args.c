// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse arguments that several packets have in common. Error messages name the column of the wrong
 * argument.
 */
#include "stub/args.h"

int gtp_args_bad(const struct gtp_in *in, struct gtp_why *why, const char *expected)
{
	const char *name = in->start - in->skipped;
	u32 n = in->skipped;

	while (n > 1 && (name[n - 1] == ':' || name[n - 1] == ',' || name[n - 1] == '-'))
		n--;
	gtp_why(why, "%.*s: %s is expected at column %u", (int)n, name, expected,
		gtp_in_column(in));
	return -EINVAL;
}

int gtp_args_end(const struct gtp_in *in, struct gtp_why *why)
{
	return gtp_in_end(in) ? 0 : gtp_args_bad(in, why, "the end of the packet");
}

int gtp_args_hex_pair(struct gtp_in *in, char sep, u64 *a, u64 *b, struct gtp_why *why)
{
	char expected[] = "'?'";

	expected[1] = sep;
	if (!gtp_in_hex64(in, a))
		return gtp_args_bad(in, why, "a hex number");
	if (!gtp_in_char(in, sep))
		return gtp_args_bad(in, why, expected);
	if (!gtp_in_hex64(in, b))
		return gtp_args_bad(in, why, "a hex number");
	return gtp_args_end(in, why);
}
