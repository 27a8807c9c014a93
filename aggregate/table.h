/* SPDX-License-Identifier: GPL-2.0-only */
/* One CPU's values of an aggregation: a table by key with one writer, over memory it is given. */
#ifndef _GTP_AGGREGATE_TABLE_H
#define _GTP_AGGREGATE_TABLE_H

#include "aggregate/shape.h"

/**
 * struct gtp_aggr_table - entries by key, in the order in which the keys came
 * @shape: of the aggregation; owned by the caller
 * @index: numbers of entries by hash, 0: none; @mask + 1 of them, at least twice as many as keys
 * @used: entries in use, the first included
 * @most: entries in all
 * @mask, @shift: from a hash to an index
 * @words, @values, @key_words, @kind: of @shape, where updates need them
 * @key: where the first word of the keys is
 * @entry: @most times @words; the first word of each is how many values it has
 *
 * The first entry is the only one where there are no keys. Where there are, it takes what finds no
 * room: the table is full, or too many keys have the same hash.
 *
 * Written by its own CPU only, and never by two contexts of it at once: hits do not nest. It is
 * read when its CPU does not write it any more: each CPU has two, and takes the other one when it
 * is told to, between two hits.
 */
struct gtp_aggr_table {
	const struct gtp_aggr_shape *shape;
	u32 *index;
	u32 used;
	u32 most;
	u32 mask;
	u8 shift;
	u8 kind;
	u8 key_words;
	u16 words;
	u16 values;
	u16 key;
	u64 entry[];
};

/**
 * gtp_aggr_table_bytes() - memory that a table needs
 * @shape: of the aggregation
 * @keys: how many it is to have room for, at least 1; not looked at where there are none
 */
size_t gtp_aggr_table_bytes(const struct gtp_aggr_shape *shape, u32 keys);

/* gtp_aggr_table_init - an empty table over that many zeroed bytes */
struct gtp_aggr_table *gtp_aggr_table_init(void *mem, const struct gtp_aggr_shape *shape, u32 keys);

/**
 * gtp_aggr_update() - one more value
 * @t: this CPU's table, which it may write now
 * @own: this CPU's own words, where the keys are
 * @value: the value
 *
 * Context: a hit. Allocates nothing, takes no lock, touches nothing but @t; the time is bounded.
 */
void gtp_aggr_update(struct gtp_aggr_table *t, const u64 *own, s64 value);

/* gtp_aggr_merge - add all that is in @from, which is at rest; what finds no room is counted so */
void gtp_aggr_merge(struct gtp_aggr_table *to, const struct gtp_aggr_table *from);

/* gtp_aggr_clear - empty again */
void gtp_aggr_clear(struct gtp_aggr_table *t);

/* gtp_aggr_entry - number @i, below @used; its first word is 0 when it has no value */
static inline const u64 *gtp_aggr_entry(const struct gtp_aggr_table *t, u32 i)
{
	return t->entry + (size_t)i * t->words;
}

#endif /* _GTP_AGGREGATE_TABLE_H */
