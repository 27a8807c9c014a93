/* SPDX-License-Identifier: GPL-2.0-only */
/* One CPU's values of an aggregation: a table by key, with one writer, in the caller's memory. */
#ifndef _GTP_AGGREGATE_TABLE_H
#define _GTP_AGGREGATE_TABLE_H

#include "aggregate/shape.h"

/**
 * struct gtp_aggr_table - entries by key, in the order in which the keys first occurred
 * @shape: the shape of the aggregation; owned by the caller
 * @index: numbers of entries by hash, 0: none; there are @mask + 1, at least twice as many as keys
 * @used: the number of entries in use, the first one included
 * @most: the number of all entries, used and free
 * @mask, @shift: turn a hash into an index
 * @words, @values, @key_words, @kind: copies from @shape, close to the rest for updates
 * @key: index of the first word of the keys
 * @entry: @most times @words; the first word of each entry is the number of its values
 *
 * Without keys the first entry is the only one. With keys the first entry has the values for which
 * there is no room, because the table is full or too many keys have the same hash.
 *
 * Only its own CPU writes it, and never two contexts at once, since hits do not nest. A reader
 * reads it only while its CPU does not write it: each CPU has two tables, and switches to the other
 * one on request, between two hits.
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
 * gtp_aggr_table_bytes() - return the memory that a table needs
 * @shape: the shape of the aggregation's entries
 * @keys: the number of keys that must fit, at least 1; ignored without keys
 */
size_t gtp_aggr_table_bytes(const struct gtp_aggr_shape *shape, u32 keys);

/* gtp_aggr_table_init - make an empty table in gtp_aggr_table_bytes() zeroed bytes */
struct gtp_aggr_table *gtp_aggr_table_init(void *mem, const struct gtp_aggr_shape *shape, u32 keys);

/**
 * gtp_aggr_update() - add one value
 * @t: the table of this CPU, which may write it now
 * @own: the CPU's own words, which contain the keys
 * @value: the value to add
 *
 * Generated code (jit/ops_call.c, update()) and the interpreter call it, after an action has stored
 * each key in @own: set_local() a number, gtp_hit_setv() a string.
 *
 * Context: a hit. Allocates nothing, takes no lock, touches nothing but @t; the time is bounded.
 */
void gtp_aggr_update(struct gtp_aggr_table *t, const u64 *own, s64 value);

/*
 * gtp_aggr_merge - add all values of @from, which no hit updates now; count the values that find no
 * room
 */
void gtp_aggr_merge(struct gtp_aggr_table *to, const struct gtp_aggr_table *from);

/* gtp_aggr_clear - make the table empty */
void gtp_aggr_clear(struct gtp_aggr_table *t);

/* gtp_aggr_entry - return entry number @i, below @used; its first word is 0 if it has no values */
static inline const u64 *gtp_aggr_entry(const struct gtp_aggr_table *t, u32 i)
{
	return t->entry + (size_t)i * t->words;
}

#endif /* _GTP_AGGREGATE_TABLE_H */
