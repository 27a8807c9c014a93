/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random agent expressions that the verifier accepts. All choices come from an array of bytes or
 * from random numbers.
 */
#ifndef _GTP_AXGEN_H
#define _GTP_AXGEN_H

#include "agentexpr/ax.h"

enum {
	AXGEN_LABELS = 16,
	AXGEN_CODE_MAX = 4096,
	AXGEN_PAGES = 5,
};

/**
 * struct axgen - a generator and what it has made
 * @in: bytes by which all choices are made, up to @end; after them @rng makes the choices
 * @rng: state of the random numbers; 0: there are none, the expression ends at the end of the bytes
 * @page: addresses of the pages that expressions mostly read; pages 1 and 4 are not mapped, and
 *	page 3 follows page 2
 * @tsv: expressions use four variables with consecutive numbers, of which this is the first; if
 *	@plain is set, two starting here, and two starting at @plain
 * @builtin: number of the first of @nbuiltin further variables, which expressions only read
 * @own: number of the first of two per-CPU variables; three aggregations, which can only be set,
 * follow them; 0: there are none
 * @added: number of a variable that CPUs add to atomically; 0: there is none
 * @straight: make only code that can be part of a snippet of actions: without jumps, strings and
 * computed lengths; of the variables, set only those of @own
 * @alias: XORed into some of the addresses in @page, to make addresses of another kind
 */
struct axgen {
	const u8 *in, *end;
	u64 rng;
	u64 page[AXGEN_PAGES];
	u64 alias;
	u32 tsv, plain;
	u32 builtin, nbuiltin;
	u32 own;
	u32 added;
	bool straight;
	u32 depth;
	bool alive;
	u32 nlabels;
	struct {
		u32 at; /* offset of the two bytes of the jump's target */
		u32 depth;
	} label[AXGEN_LABELS];
	u32 len;
	u8 code[AXGEN_CODE_MAX];
};

/* axgen_make - make an expression of about @steps instructions, in @g->code */
void axgen_make(struct axgen *g, u32 steps);

/*
 * axgen_make_add - make an expression that adds to @g->added, and that rarely uses it in another
 * way
 */
void axgen_make_add(struct axgen *g, u32 steps);

/*
 * axgen_pick - return a number below @n; axgen_value - return any number, often one of those that
 * have caused bugs before
 */
u32 axgen_pick(struct axgen *g, u32 n);
u64 axgen_value(struct axgen *g);

/* axgen_addr - return an address in, or close to the ends of, @g->page, or an alias of it */
u64 axgen_addr(struct axgen *g);

#endif /* _GTP_AXGEN_H */
