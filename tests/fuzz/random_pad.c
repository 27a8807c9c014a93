// SPDX-License-Identifier: GPL-2.0-only
/* Compares any number of random jump pads with the code that they displace. */
#include <stdlib.h>
#include "tests/fuzz/paddiff.h"
#include "tests/fuzz/padframe.h"

/* Mix the bits of a seed, so that consecutive seeds make unrelated cases. */
static u64 mix(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (x ^ x >> 31) | 1;
}

static void print_stats(void)
{
	const struct paddiff_stats *s = &paddiff_stats;
	const struct padframe_stats *f = &padframe_stats;

	printf("# %llu pads of %.1f bytes (%llu refused), %llu without a condition\n", s->pads,
	       (double)s->bytes / (double)s->pads, s->refused, s->without);
	printf("# %llu held, %llu did not, %llu were left to C\n", s->held, s->not_held, s->punted);
	printf("# %llu with dead flags, %llu of them kept: undefined ones are read\n",
	       s->dead_flags, s->kept_flags);
	printf("# %llu called, %llu with joins, %llu with variables of tasks\n", s->called,
	       s->joined, s->tasks);
	printf("# %llu were to write frames (%llu refused)\n", f->asked, f->refused);
	printf("# %llu frames with %llu blocks, %llu of them with a string, %llu left to C\n",
	       f->written, f->blocks, f->strings, f->left);
	printf("# displaced, by kind:");
	for (u32 i = 0; i < 9; i++)
		printf(" %llu", s->insns[i]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	u64 count = argc > 1 ? strtoull(argv[1], NULL, 0) : 100000;
	u64 first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	static struct axgen g;

	for (u64 n = first; n < first + count; n++) {
		g.rng = mix(n);
		paddiff(&g);
	}
	print_stats();
	printf("ok - %llu pads from %llu on do what they displace\n", count, first);
	return 0;
}
