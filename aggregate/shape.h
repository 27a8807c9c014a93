/* SPDX-License-Identifier: GPL-2.0-only */
/* Aggregations: what a variable's name makes of what it is set to, and how that lies in memory. */
#ifndef _GTP_SHAPE_H
#define _GTP_SHAPE_H

#include "base/base.h"

/* enum gtp_aggr_kind - by the prefix of the name: count_NAME, ..., lhist_NAME_FROM_TO_STEP */
enum gtp_aggr_kind {
	GTP_AGGR_NONE,
	GTP_AGGR_COUNT, /* how often it was set */
	GTP_AGGR_SUM,	/* modulo 2^64 */
	GTP_AGGR_MIN,
	GTP_AGGR_MAX,
	GTP_AGGR_STATS, /* the sum, the smallest and the largest */
	GTP_AGGR_HIST,	/* the same, and how many in each power of two */
	GTP_AGGR_LHIST, /* the same, and how many in each step between two bounds */
};

enum {
	GTP_AGGR_KEYS_MAX = 4,
	GTP_AGGR_STRING = 16, /* bytes of a string that is a key, as long as a task's name */
	GTP_AGGR_KEY_WORDS_MAX = GTP_AGGR_KEYS_MAX * GTP_AGGR_STRING / 8,
	GTP_AGGR_LOG_BUCKETS = 65, /* negative; 0; from 1; from 2; from 4; ... from 2^62 */
	GTP_AGGR_STEPS_MAX = 1000,
};

/**
 * struct gtp_aggr_shape - an aggregation
 * @kind: what is kept of the values
 * @key_words: words of its keys, 0: there are none
 * @words: of an entry: how many values, the keys, then what @kind keeps
 * @values: where in an entry that is
 * @nbuckets: of a histogram; those of an LHIST are: less than @from, its steps, the rest
 * @from, @to, @step: of an LHIST; not negative
 * @key: where each word of the keys is among a CPU's own words
 *
 * A kind keeps one s64 for SUM, MIN and MAX, three for STATS (sum, min, max), and after these three
 * the buckets, an u64 each.
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
 * gtp_aggr_parse() - is that the name of an aggregation?
 * @name: of a variable, terminated
 * @shape: receives its kind and bounds; it has no keys; GTP_AGGR_NONE when it is none
 *
 * Return: NULL, or what is wrong with the bounds in the name.
 */
const char *gtp_aggr_parse(const char *name, struct gtp_aggr_shape *shape);

/* gtp_aggr_add_key - one more word of the keys; there are less than GTP_AGGR_KEY_WORDS_MAX */
void gtp_aggr_add_key(struct gtp_aggr_shape *shape, u16 word);

/* gtp_aggr_same_keys - do both take the same words? */
bool gtp_aggr_same_keys(const struct gtp_aggr_shape *a, const struct gtp_aggr_shape *b);

/* gtp_aggr_kind_name - "count", ... */
const char *gtp_aggr_kind_name(enum gtp_aggr_kind kind);

/* gtp_aggr_summary - words in front of the buckets: what is kept besides */
u32 gtp_aggr_summary(enum gtp_aggr_kind kind);

#endif /* _GTP_SHAPE_H */
