// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares interpreter and compiler on the fuzzer's input. The bytes of the input are an
 * expression, or they choose how to make a random expression or the actions of a tracepoint.
 */
#include <stdlib.h>
#include "tests/fuzz/jitacts.h"
#include "tests/fuzz/jitworld.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

enum { WORLD_BYTES = 64 };

static void check_actions(const struct jitdiff_world *w, struct axgen *g)
{
	static struct jitacts *acts;

	if (!acts)
		acts = calloc(1, jitacts_size());
	if (!jitacts(acts, w, g))
		return;
	fprintf(stderr, "the generator made what the verifier refuses\n");
	abort();
}

/*
 * The first byte of an input says which of three forms follows: bytecode, and bytes that choose the
 * environment; bytes that choose a tracepoint's actions; or bytes that choose an expression and its
 * environment.
 */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct axgen g;
	const struct jitdiff_world *w = jitworld(&g);
	size_t len;

	if (size <= 1 + WORLD_BYTES)
		return 0;
	g.end = data + size;
	g.rng = 0;
	g.tsv = JITDIFF_FIRST_TSV;
	if (data[0] & 1) {
		len = size - 1 - WORLD_BYTES;
		g.in = data + 1 + len;
		if (len <= AX_MAX_LEN)
			jitdiff(w, data + 1, (u32)len, &g);
		return 0;
	}
	g.in = data + 1;
	if (data[0] & 2) {
		check_actions(w, &g);
		return 0;
	}
	axgen_make(&g, 400);
	g.in = data + 1; /* the same bytes choose the environment */
	if (jitdiff(w, g.code, g.len, &g)) {
		fprintf(stderr, "the generator made what the verifier refuses\n");
		abort();
	}
	return 0;
}
