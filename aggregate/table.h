/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU's table of an aggregation. It has an entry for each key and a single writer, and is in
 * the caller's memory.
 */
#ifndef _GTP_AGGREGATE_TABLE_H
#define _GTP_AGGREGATE_TABLE_H

#include "aggregate/shape.h"

/**
 * struct gtp_aggr_table - entries by key, in the order in which the keys first occurred
 * @shape: the shape of the aggregation; owned by the caller
 * @index: hash table of entry numbers, 0 if free; it has @mask + 1 slots, at least two for each key
 * @used: the number of entries in use, including the first entry
 * @most: the number of entries for which there is memory
 * @mask, @shift: turn a hash into an index
 * @words, @values, @key_words, @kind: copied from @shape, close to the other members that an update
 *	uses
 * @key: index of the first word of the keys in a CPU's own variables
 * @entry: @most entries of @words words; the first word of each is the number of its values
 *
 * A table without keys has only the first entry. In a table with keys the first entry counts the
 * values whose key found no room, because the table is full or too many keys have the same hash.
 *
 * Only hits on one CPU write a table, one at a time, since hits do not nest. A table is read only
 * while no hit writes it: each CPU has two tables, and switches to the other one on request,
 * between two hits.
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
 * @t: the table that hits on this CPU write at present
 * @own: the CPU's own variables, which contain the keys
 * @value: the value to add
 *
 * Generated code (update() in jit/ops_call.c) and the interpreter call this function after an
 * action has stored each key in @own. set_local() stores a number, gtp_hit_setv() a string.
 *
 * Context: a hit. Allocates nothing, takes no lock, touches nothing but @t; the time is bounded.
 */
void gtp_aggr_update(struct gtp_aggr_table *t, const u64 *own, s64 value);

/*
 * gtp_aggr_merge - add all values of @from to @to; no hit may update @from meanwhile. If @to has no
 * room for a key, the key's values are added to the first entry of @to
 */
void gtp_aggr_merge(struct gtp_aggr_table *to, const struct gtp_aggr_table *from);

/* gtp_aggr_clear - make the table empty */
void gtp_aggr_clear(struct gtp_aggr_table *t);

/*
 * gtp_aggr_entry - return entry number @i, which must be less than @used; the entry's first word is
 * 0 if it has no values
 */
static inline const u64 *gtp_aggr_entry(const struct gtp_aggr_table *t, u32 i)
{
	return t->entry + (size_t)i * t->words;
}

#endif /* _GTP_AGGREGATE_TABLE_H */
