// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the frequency of this machine's time-stamp counter, in kHz, for a guest that uses the same
 * counter.
 *
 * On a busy host, a guest's own calibration is wrong, sometimes by a factor of ten, and then all
 * its timeouts expire early. This program recognises a reading that was interrupted, and repeats
 * it.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct reading {
	unsigned long long tsc, ns, spread;
};

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/*
 * Read the clock between two reads of the counter; of many attempts, take the one whose two reads
 * are closest.
 */
static struct reading read_both(void)
{
	struct reading best = { .spread = ~0ULL };

	for (int i = 0; i < 100; i++) {
		unsigned long long before = __rdtsc(), ns = now_ns(), after = __rdtsc();

		if (after - before < best.spread)
			best = (struct reading){ .tsc = before + (after - before) / 2,
						 .ns = ns,
						 .spread = after - before };
	}
	return best;
}

int main(void)
{
	struct reading a = read_both(), b;
	struct timespec pause = { .tv_nsec = 50000000 };

	nanosleep(&pause, NULL);
	b = read_both();
	printf("%llu\n", (b.tsc - a.tsc) * 1000000 / (b.ns - a.ns));
	return 0;
}
