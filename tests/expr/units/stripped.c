// SPDX-License-Identifier: GPL-2.0-only
/* Job: a library that is stripped of all symbols except exported ones; its debug file has all. */
#include "units.h"

static alone int only_in_debug_file(int n)
{
	return n + 1;
}

int only_exported(int n);

int only_exported(int n)
{
	return only_in_debug_file(n) * 3;
}
