/* SPDX-License-Identifier: GPL-2.0-only */
/* Stacks by number: each different one is kept once, in a table that all CPUs add to. */
#ifndef _GTP_STACKS_H
#define _GTP_STACKS_H

#include "base/base.h"
#include "hit/walk.h"

enum {
	GTP_STACKS_DEPTH = 127, /* addresses that are kept of a stack, the innermost */
	GTP_STACKS_TAKE = GTP_STACKS_DEPTH + 1,	  /* a stack that has more of them is known by it */
	GTP_STACKS_SCRATCH = 2 * GTP_STACKS_TAKE, /* the second half is for taking it */
	GTP_STACKS_LOST = 0, /* the last one of a stack that could not be followed to its end */
};

/**
 * struct gtp_stacks - the table
 * @slot: hash << 32 | number of a stack, 0: none; @mask + 1 of them
 * @word: the stacks: how many addresses, then these, the innermost first. A stack's number is where
 *	it begins
 * @scratch: GTP_STACKS_SCRATCH words for each CPU, for a stack that is being looked up
 * @walk: how stacks are followed, for the hits of this table
 * @mask: from a hash to a slot
 * @words: of @word
 * @used: of these; the first is nobody's, so that no stack has the number 0
 * @count: stacks
 * @no_room: hits whose stack found no room
 * @cut: hits whose stack is deeper than GTP_STACKS_DEPTH: they have its innermost part
 *
 * Nothing is ever removed. A stack is written before a slot leads to it, and a slot changes once.
 * So CPUs and NMIs add at once without a lock, and to look up a stack that has been seen writes to
 * nothing that is shared.
 */
struct gtp_stacks {
	u64 *slot;
	u64 *word;
	u64 *scratch;
	struct gtp_walk *walk;
	u32 mask;
	u32 words;
	u32 used;
	u32 count;
	u64 no_room;
	u64 cut;
};

/**
 * gtp_stacks_bytes() - memory that a table needs
 * @bytes: what stacks and slots may have, from GTP_STACKS_BYTES_MIN to GTP_STACKS_BYTES_MAX
 * @ncpus: CPUs that will use it are below it
 */
size_t gtp_stacks_bytes(u32 bytes, u32 ncpus);

enum {
	GTP_STACKS_BYTES_MIN = 4096,
	GTP_STACKS_BYTES_MAX = 1 << 30,
};

/* gtp_stacks_init - an empty table over that many zeroed bytes */
struct gtp_stacks *gtp_stacks_init(void *mem, u32 bytes, u32 ncpus);

/* gtp_stacks_scratch - where CPU @cpu may write GTP_STACKS_SCRATCH words */
static inline u64 *gtp_stacks_scratch(const struct gtp_stacks *s, u32 cpu)
{
	return s->scratch + (size_t)cpu * GTP_STACKS_SCRATCH;
}

/**
 * gtp_stacks_put() - the number of a stack
 * @s: the table
 * @pc: its addresses, the innermost first
 * @n: how many, 1 to GTP_STACKS_TAKE; of that many the last one is left out
 *
 * Two stacks have the same number if all their addresses are the same, and only then.
 *
 * Context: a hit. Allocates nothing, takes no lock; the time is bounded.
 * Return: the number, or 0: there is no room.
 */
u32 gtp_stacks_put(struct gtp_stacks *s, const u64 *pc, u32 n);

/**
 * gtp_stacks_get() - the addresses of a stack
 * @s: the table; CPUs may be adding to it
 * @id: any number
 * @n: receives how many
 *
 * Return: the innermost, the others behind it; NULL when no stack has that number.
 */
const u64 *gtp_stacks_get(const struct gtp_stacks *s, u32 id, u32 *n);

#endif /* _GTP_STACKS_H */
