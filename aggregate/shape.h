/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kind of an aggregation, which follows from the variable's name, and the layout of its
 * entries.
 */
#ifndef _GTP_SHAPE_H
#define _GTP_SHAPE_H

#include "base/base.h"

/*
 * enum gtp_aggr_kind - the prefix of the variable's name: count_NAME, ..., lhist_NAME_FROM_TO_STEP
 */
enum gtp_aggr_kind {
	GTP_AGGR_NONE,
	GTP_AGGR_COUNT, /* the number of updates */
	GTP_AGGR_SUM,	/* the sum of the values, modulo 2^64 */
	GTP_AGGR_MIN,
	GTP_AGGR_MAX,
	GTP_AGGR_STATS, /* the sum, the smallest and the largest value */
	GTP_AGGR_HIST,	/* like STATS, plus the number of values from each power of 2 to the next */
	GTP_AGGR_LHIST, /* like STATS, plus the number of values in each step between two bounds */
};

enum {
	GTP_AGGR_KEYS_MAX = 4,
	GTP_AGGR_STRING = 16, /* bytes of a string key: enough for a task's name */
	GTP_AGGR_KEY_WORDS_MAX = GTP_AGGR_KEYS_MAX * GTP_AGGR_STRING / 8,
	GTP_AGGR_LOG_BUCKETS = 65, /* one for values < 0, one for 0, one from each power of 2 */
	GTP_AGGR_STEPS_MAX = 1000,
};

/**
 * struct gtp_aggr_shape - the form of an aggregation's entries
 * @kind: enum gtp_aggr_kind
 * @key_words: the number of words of the keys; 0: the aggregation has no keys
 * @words: the number of words in an entry: the count of values, the keys, then the values that
 *	@kind keeps
 * @values: index of the values in an entry
 * @nbuckets: for a histogram: the number of buckets. An LHIST has one bucket for values less than
 *	      @from, one for each step, and one for the rest
 * @from, @to, @step: for an LHIST; not negative
 * @key: for each word of the keys, its index in a CPU's own variables (@local of struct gtp_cpu)
 *
 * SUM, MIN and MAX keep one s64. STATS keeps three: the sum, the smallest and the largest value.
 * HIST and LHIST keep these three and then the buckets, a u64 each.
 */
struct gtp_aggr_shape {
	u8 kind;
	u8 key_words;
	u16 words;
	u16 values;
	u16 nbuckets;
	s64 from, to, step;
	u16 key[GTP_AGGR_KEY_WORDS_MAX];
};

/**
 * gtp_aggr_parse() - parse the name of an aggregation
 * @name: the name of a variable, NUL-terminated
 * @shape: receives the kind and the bounds, without keys; the kind is GTP_AGGR_NONE if @name is not
 *	an aggregation's
 *
 * Return: NULL; or, if the bounds in the name are wrong, a description of the fault.
 */
const char *gtp_aggr_parse(const char *name, struct gtp_aggr_shape *shape);

/*
 * gtp_aggr_add_key - add a word to the keys; call it only while they have fewer than
 * GTP_AGGR_KEY_WORDS_MAX words
 */
void gtp_aggr_add_key(struct gtp_aggr_shape *shape, u16 word);

/* gtp_aggr_same_keys - true if both shapes have the same words as keys */
bool gtp_aggr_same_keys(const struct gtp_aggr_shape *a, const struct gtp_aggr_shape *b);

/* gtp_aggr_kind_name - return the name of a kind: "count", ... */
const char *gtp_aggr_kind_name(enum gtp_aggr_kind kind);

/* gtp_aggr_summary - return the number of words of an entry's values before the buckets */
u32 gtp_aggr_summary(enum gtp_aggr_kind kind);

#endif /* _GTP_SHAPE_H */
