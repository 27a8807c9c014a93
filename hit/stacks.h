/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table of stacks, to which all CPUs add. Each different stack is stored once and has a number.
 */
#ifndef _GTP_STACKS_H
#define _GTP_STACKS_H

#include "base/base.h"
#include "hit/walk.h"

enum {
	GTP_STACKS_DEPTH = 127,			  /* most addresses stored of a stack */
	GTP_STACKS_TAKE = GTP_STACKS_DEPTH + 1,	  /* one more, to notice a deeper stack */
	GTP_STACKS_SCRATCH = 2 * GTP_STACKS_TAKE, /* the second half is the unwinder's */
	GTP_STACKS_LOST = 0, /* the last address of a stack that could not be followed to its end */
};

/**
 * struct gtp_stacks - a run's table of stacks
 * @slot: a hash table of @mask + 1 slots: hash << 32 | the number of a stack, or 0 if free
 * @word: the stacks: each has the number of its addresses, then the addresses, the innermost first.
 *	A stack's number is the index of its first word
 * @scratch: GTP_STACKS_SCRATCH words for each CPU, for a stack that is being looked up
 * @walk: the known unwinding steps, with which hits walk stacks
 * @mask: turns a hash into the index of a slot
 * @words: the number of entries in @word
 * @used: words of @word in use; the first belongs to no stack, so that no stack has the number 0
 * @count: the number of stacks in the table
 * @no_room: hits whose stack found no room
 * @cut: hits whose stack is deeper than GTP_STACKS_DEPTH, so that only its innermost part is kept
 *
 * Stacks are never removed. A stack is written before a slot names it, and a slot changes only
 * once. So CPUs and NMIs can add stacks concurrently without a lock, and looking up a known stack
 * writes no shared memory.
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
 * gtp_stacks_bytes() - return the memory that a table needs
 * @bytes: the size of stacks and slots together, from GTP_STACKS_BYTES_MIN to GTP_STACKS_BYTES_MAX
 * @ncpus: the CPUs that use the table have numbers less than this
 */
size_t gtp_stacks_bytes(u32 bytes, u32 ncpus);

enum {
	GTP_STACKS_BYTES_MIN = 4096,
	GTP_STACKS_BYTES_MAX = 1 << 30,
};

/* gtp_stacks_init - make an empty table in gtp_stacks_bytes() zeroed bytes */
struct gtp_stacks *gtp_stacks_init(void *mem, u32 bytes, u32 ncpus);

/* gtp_stacks_scratch - return the GTP_STACKS_SCRATCH words that CPU @cpu may write */
static inline u64 *gtp_stacks_scratch(const struct gtp_stacks *s, u32 cpu)
{
	return s->scratch + (size_t)cpu * GTP_STACKS_SCRATCH;
}

/**
 * gtp_stacks_put() - return the number of a stack, adding it if it is new
 * @s: the table
 * @pc: the addresses of the stack, the innermost first
 * @n: the number of addresses, 1 to GTP_STACKS_TAKE; if it is GTP_STACKS_TAKE, the last address is
 *     not stored
 *
 * Two stacks have the same number if and only if all their stored addresses are the same.
 *
 * Context: a hit. Allocates nothing, takes no lock; the time is bounded.
 * Return: the number, or 0 if there is no room.
 */
u32 gtp_stacks_put(struct gtp_stacks *s, const u64 *pc, u32 n);

/**
 * gtp_stacks_get() - find the addresses of a stack
 * @s: the table; CPUs may be adding to it
 * @id: any number
 * @n: receives the number of addresses
 *
 * Return: the addresses, the innermost first; NULL if no stack has that number.
 */
const u64 *gtp_stacks_get(const struct gtp_stacks *s, u32 id, u32 *n);

#endif /* _GTP_STACKS_H */
