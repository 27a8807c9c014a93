// SPDX-License-Identifier: GPL-2.0-only
/*
 * A static program at a fixed address, with one thread. For each line of input it prints its
 * counter.
 */
#include <stdio.h>
#include <unistd.h>

long plain_counter = 100;

int main(void)
{
	char line[64];

	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		printf("%ld\n", ++plain_counter);
		fflush(stdout);
	}
	return 0;
}
