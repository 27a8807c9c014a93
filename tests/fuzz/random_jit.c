// SPDX-License-Identifier: GPL-2.0-only
/* Compares interpreter and compiler on any number of random programs, at full speed. */
#include <stdlib.h>
#include "tests/fuzz/jitacts.h"
#include "tests/fuzz/jitworld.h"

/* Mix the bits of a seed, so that consecutive seeds make unrelated programs. */
static u64 mix(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (x ^ x >> 31) | 1;
}

static void print_stats(void)
{
	const struct jitdiff_stats *s = &jitdiff_stats;

	printf("# %llu programs, %llu runs: %llu values, %llu full buffers\n", s->programs, s->runs,
	       s->values, s->full);
	for (u32 i = 1; i < AX_NR_ERRORS; i++)
		if (s->errors[i])
			printf("# %llu %s\n", s->errors[i], ax_error_name(i));
	printf("# %.1f bytes of bytecode, %.1f of code a program\n",
	       (double)s->bytecode / (double)s->programs,
	       (double)s->machine_code / (double)s->programs);
}

static void print_acts(void)
{
	const struct jitacts_stats *s = &jitacts_stats;

	printf("# %llu tracepoints, %llu of them one snippet, %llu hits, %llu blocks\n",
	       s->tracepoints, s->whole, s->hits, s->blocks);
	printf("# %llu entries of aggregations, %llu ends of pairs\n", s->entries, s->pairs);
	printf("# %llu expressions that add in one step\n", s->adds);
	printf("# of the hits %llu frames, %llu cut short, %llu full buffers\n", s->frames,
	       s->partial, s->full);
}

/*
 * Run one program. Every other number makes a tracepoint with actions, the others make an
 * expression.
 */
static int run_one(const struct jitdiff_world *w, struct axgen *g, u64 n)
{
	static struct jitacts *acts;

	if (!acts)
		acts = calloc(1, jitacts_size());
	g->rng = mix(n);
	if (n & 1)
		return jitacts(acts, w, g);
	g->tsv = JITDIFF_FIRST_TSV;
	axgen_make(g, 5 + axgen_pick(g, axgen_pick(g, 8) ? 40 : 250));
	return jitdiff(w, g->code, g->len, g);
}

int main(int argc, char **argv)
{
	u64 count = argc > 1 ? strtoull(argv[1], NULL, 0) : 100000;
	u64 first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	static struct axgen g;
	const struct jitdiff_world *w = jitworld(&g);

	for (u64 n = first; n < first + count; n++) {
		int err = run_one(w, &g, n);

		if (err) {
			printf("not ok - program %llu: %d (%d: refused by the verifier)\n", n, err,
			       -EINVAL);
			return 1;
		}
	}
	print_stats();
	print_acts();
	printf("ok - interpreter and compiler agree on %llu programs from %llu on\n", count, first);
	return 0;
}
