// SPDX-License-Identifier: GPL-2.0-only
/* Reads an aggregation's kind and bounds from its name, and computes the layout of its entries. */
#include "aggregate/shape.h"

static const char *const prefix[] = {
	[GTP_AGGR_COUNT] = "count", [GTP_AGGR_SUM] = "sum",	[GTP_AGGR_MIN] = "min",
	[GTP_AGGR_MAX] = "max",	    [GTP_AGGR_STATS] = "stats", [GTP_AGGR_HIST] = "hist",
	[GTP_AGGR_LHIST] = "lhist",
};

const char *gtp_aggr_kind_name(enum gtp_aggr_kind kind)
{
	return prefix[kind];
}

u32 gtp_aggr_summary(enum gtp_aggr_kind kind)
{
	if (kind == GTP_AGGR_COUNT)
		return 0;
	return kind < GTP_AGGR_STATS ? 1 : 3;
}

static void settle(struct gtp_aggr_shape *s)
{
	s->values = 1 + s->key_words;
	s->words = (u16)(s->values + gtp_aggr_summary(s->kind) + s->nbuckets);
}

/*
 * Parse "_NUMBER" at the end of the first @len characters of @name. Return the number of characters
 * before it, or 0 if there is no number.
 */
static size_t take_number(const char *name, size_t len, s64 *value)
{
	size_t at = len, i;

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	*value = 0;
	for (i = at; i < len; i++) {
		s64 digit = name[i] - '0';

		/* A number of more than 63 bits becomes -1 and stays so; the caller refuses it. */
		*value = *value < 0 || *value > (S64_MAX - digit) / 10 ? -1 : *value * 10 + digit;
	}
	return at < len && at && name[at - 1] == '_' ? at - 1 : 0;
}

static const char *read_bounds(const char *name, struct gtp_aggr_shape *s)
{
	size_t len = take_number(name, strlen(name), &s->step);
	u64 n;

	len = take_number(name, len, &s->to);
	len = take_number(name, len, &s->from);
	if (!len)
		return "its name ends with its bounds: lhist_NAME_FROM_TO_STEP";
	if (s->from < 0 || s->to < 0 || s->step < 0)
		return "its bounds lhist_NAME_FROM_TO_STEP are numbers up to 2^63 - 1";
	if (!s->step || s->from >= s->to)
		return "its bounds lhist_NAME_FROM_TO_STEP are no range with steps";
	n = ((u64)(s->to - s->from) + (u64)s->step - 1) / (u64)s->step;
	if (n > GTP_AGGR_STEPS_MAX)
		return "its bounds lhist_NAME_FROM_TO_STEP have more than 1000 steps";
	s->nbuckets = (u16)(n + 2);
	return NULL;
}

const char *gtp_aggr_parse(const char *name, struct gtp_aggr_shape *shape)
{
	const char *why = NULL;
	u32 kind;

	memset(shape, 0, sizeof(*shape));
	for (kind = GTP_AGGR_COUNT; kind <= GTP_AGGR_LHIST; kind++) {
		size_t n = strlen(prefix[kind]);

		if (strncmp(name, prefix[kind], n) || name[n] != '_' || !name[n + 1])
			continue;
		shape->kind = (u8)kind;
		if (kind == GTP_AGGR_HIST)
			shape->nbuckets = GTP_AGGR_LOG_BUCKETS;
		else if (kind == GTP_AGGR_LHIST)
			why = read_bounds(name + n + 1, shape);
	}
	settle(shape);
	return why;
}

void gtp_aggr_add_key(struct gtp_aggr_shape *shape, u16 word)
{
	shape->key[shape->key_words++] = word;
	settle(shape);
}

bool gtp_aggr_same_keys(const struct gtp_aggr_shape *a, const struct gtp_aggr_shape *b)
{
	return a->key_words == b->key_words &&
	       !memcmp(a->key, b->key, a->key_words * sizeof(a->key[0]));
}
