/* SPDX-License-Identifier: GPL-2.0-only */
/* Measures how many cycles a call takes on the host's processor. */
#ifndef _GTP_CYCLES_H
#define _GTP_CYCLES_H

#include "base/base.h"

enum {
	CYCLES_ROUNDS = 201,
	CYCLES_CALLS = 2000, /* calls in a round */
};

/* struct cycles_obj - the data that all measured functions read */
struct cycles_obj {
	int a, b;
};

typedef long (*cycles_fn)(struct cycles_obj *o, int n);

/* struct cycles - cycles of an independent call, and of one that waits for the previous result */
struct cycles {
	double alone, waiting;
};

/*
 * cycles_measure - measure the fastest round; @before and @after, if not NULL, are called with @ctx
 * before and after each round
 *
 * The same rounds measure the time of a cycle, by chains of dependent additions. The fastest chain
 * is used, because other load can only make a chain slower.
 */
struct cycles cycles_measure(cycles_fn fn, struct cycles_obj *o, void (*before)(const void *ctx),
			     void (*after)(const void *ctx), const void *ctx);

/* cycles_above - return the cycles of @c minus those of @what */
struct cycles cycles_above(struct cycles c, struct cycles what);

/* cycles_row - measure @fn, and print a line with its name and its cycles above those of @empty */
void cycles_row(const char *what, cycles_fn fn, struct cycles_obj *o, struct cycles empty);

#endif /* _GTP_CYCLES_H */
