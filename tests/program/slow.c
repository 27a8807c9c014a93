// SPDX-License-Identifier: GPL-2.0-only
/* A function compiled without optimisation: arguments and locals are on the stack. */
#include "program.h"

static long so_far[8];

long slow_sum(int n)
{
	long sum = 0;
	int i;

	for (i = 1; i <= n; i++) {
		sum += i;
		so_far[i & 7] = sum; /* line: step */
	}
	return sum;
}
