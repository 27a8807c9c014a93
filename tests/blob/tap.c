// SPDX-License-Identifier: GPL-2.0-only
/* Prints TAP. */
#include "tests/blob/tap.h"

static char tap_what[128];
static u32 tap_wrong, tap_failed, tap_done;

void tap_about(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(tap_what, sizeof(tap_what), fmt, args);
	va_end(args);
}

void check(bool right, const char *what)
{
	if (right)
		return;
	if (tap_wrong++ < 10)
		printf("# wrong: %s (%s)\n", what, tap_what);
}

void equal(u64 have, u64 want, const char *what)
{
	if (have == want)
		return;
	if (tap_wrong++ < 10)
		printf("# wrong: %s is 0x%llx, not 0x%llx (%s)\n", what, have, want, tap_what);
}

void tap_result(const char *name)
{
	printf("%sok %u - %s\n", tap_wrong ? "not " : "", ++tap_done, name);
	fflush(stdout);
	tap_failed += !!tap_wrong;
	tap_wrong = 0;
}

int tap_end(void)
{
	printf("1..%u\n", tap_done);
	return !!tap_failed;
}
