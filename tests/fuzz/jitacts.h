/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a tracepoint's actions in the interpreter and as machine code, and compares the results of
 * the hits.
 */
#ifndef _GTP_JITACTS_H
#define _GTP_JITACTS_H

#include "tests/fuzz/jitdiff.h"

struct jitacts;

/*
 * struct jitacts_stats - how many tracepoints had which property. The counts show, for example,
 * that not all actions failed
 */
struct jitacts_stats {
	u64 tracepoints, whole, hits, frames, partial, full, blocks, entries, pairs, adds;
};

extern struct jitacts_stats jitacts_stats;

/* jitacts_size - return how many zeroed bytes the caller must allocate for jitacts() */
size_t jitacts_size(void);

/**
 * jitacts() - make a random tracepoint, and hit it with interpreted and with compiled actions
 * @m: jitacts_size() bytes of memory, zeroed
 * @w: the environment; @w->request compiles actions
 * @g: the generator, which makes all choices
 *
 * The tracepoint goes through gtp_hit() and real trace buffers, which may be small or circular.
 * Both ways must agree in the blocks of each frame, how the run ends and at which action, the
 * counters, the variables, and what was printed.
 * Return: 0; -EPROTO: the two ways differ, and @w->complain() has reported where; or
 * @w->request()'s error.
 */
int jitacts(struct jitacts *m, const struct jitdiff_world *w, struct axgen *g);

#endif /* _GTP_JITACTS_H */
