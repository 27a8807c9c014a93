// SPDX-License-Identifier: GPL-2.0-only
/* Write an aggregation's table as lines of text. */
#include "aggregate/text.h"

enum {
	WORD_MAX = 24,	/* a number or a word, and a blank */
	BUCKET_MAX = 8, /* a bucket's number, and the "=" */
};

static const u64 *buckets_of(const struct gtp_aggr_table *t, const u64 *e)
{
	return e + t->values + gtp_aggr_summary(t->kind);
}

static u32 filled(const struct gtp_aggr_table *t, const u64 *e)
{
	const u64 *bucket = buckets_of(t, e);
	u32 n = 0;

	for (u32 i = 0; i < t->shape->nbuckets; i++)
		n += !!bucket[i];
	return n;
}

size_t gtp_aggr_text_bytes(const struct gtp_aggr_table *t)
{
	size_t bytes = 1;

	for (u32 i = 0; i < t->used; i++) {
		const u64 *e = gtp_aggr_entry(t, i);

		/*
		 * The 3 stand for "entry" or "noroom", the number of values, and the two colons
		 * with the newline.
		 */
		if (e[0])
			bytes += (3U + t->key_words + gtp_aggr_summary(t->kind)) * WORD_MAX +
				 filled(t, e) * (WORD_MAX + BUCKET_MAX);
	}
	return bytes;
}

static void put_entry(const struct gtp_aggr_table *t, const u64 *e, bool keys, struct gtp_out *out)
{
	const u64 *bucket = buckets_of(t, e);

	gtp_out_printf(out, "%s %llu", keys || !t->key_words ? "entry" : "noroom", e[0]);
	for (u32 i = 0; keys && i < t->key_words; i++)
		gtp_out_printf(out, " %llx", e[1 + i]);
	gtp_out_printf(out, " :");
	for (u32 i = 0; i < gtp_aggr_summary(t->kind); i++)
		gtp_out_printf(out, " %lld", (s64)e[t->values + i]);
	gtp_out_printf(out, " :");
	for (u32 i = 0; i < t->shape->nbuckets; i++)
		if (bucket[i])
			gtp_out_printf(out, " %u=%llu", i, bucket[i]);
	gtp_out_printf(out, "\n");
}

void gtp_aggr_text(const struct gtp_aggr_table *t, struct gtp_out *out)
{
	for (u32 i = 0; i < t->used; i++) {
		const u64 *e = gtp_aggr_entry(t, i);

		if (e[0])
			put_entry(t, e, i, out);
	}
}
