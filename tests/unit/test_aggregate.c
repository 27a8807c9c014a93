// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the tables of aggregations: they are compared with a simple model, filled up, and merged
 * from all CPUs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "aggregate/text.h"

enum { KEYS = 50, VALUES = 20000 };

static struct gtp_aggr_table *new_table(const struct gtp_aggr_shape *shape, u32 keys)
{
	void *mem = calloc(1, gtp_aggr_table_bytes(shape, keys));

	assert_non_null(mem);
	return gtp_aggr_table_init(mem, shape, keys);
}

static struct gtp_aggr_shape shape_of(const char *name, u32 key_words)
{
	struct gtp_aggr_shape shape;

	assert_null(gtp_aggr_parse(name, &shape));
	for (u32 i = 0; i < key_words; i++)
		gtp_aggr_add_key(&shape, (u16)(2 * i + 1));
	return shape;
}

/* --- names --- */

static void names(void **state)
{
	static const struct {
		const char *name;
		enum gtp_aggr_kind kind;
		u32 nbuckets;
	} rows[] = {
		{ "count_a", GTP_AGGR_COUNT, 0 },
		{ "sum_a", GTP_AGGR_SUM, 0 },
		{ "min_a", GTP_AGGR_MIN, 0 },
		{ "max_a", GTP_AGGR_MAX, 0 },
		{ "stats_a", GTP_AGGR_STATS, 0 },
		{ "hist_a", GTP_AGGR_HIST, 65 },
		{ "lhist_a_0_100_10", GTP_AGGR_LHIST, 12 },
		{ "lhist_a_b_5_100_10", GTP_AGGR_LHIST, 12 },
		{ "lhist_a_0_1000_1", GTP_AGGR_LHIST, 1002 },
		{ "lhist_a_1700000000000000000_1800000000000000000_1000000000000000",
		  GTP_AGGR_LHIST, 102 },
		{ "lhist_a_0_9223372036854775807_9223372036854775807", GTP_AGGR_LHIST, 3 },
		{ "lhist_a_000000000000000000000000_10_05", GTP_AGGR_LHIST, 4 },
		{ "count", GTP_AGGR_NONE, 0 },
		{ "count_", GTP_AGGR_NONE, 0 },
		{ "counts_a", GTP_AGGR_NONE, 0 },
		{ "n", GTP_AGGR_NONE, 0 },
	};
	static const char *const wrong[] = {
		"lhist_a",
		"lhist_0_10_1",
		"lhist_a_1_2",
		"lhist_a_0_10_0",
		"lhist_a_10_10_1",
		"lhist_a_0_1001_1",
		"lhist_a_0_99999999999999999999_1",
		"lhist_a_0_9223372036854775808_9223372036854775807",
		"lhist_a_0_10_9223372036854775808",
		"lhist_a_18446744073709551617_10_1",
		"lhist_a_0_18446744073709551626_1",
		"lhist_a_0_10_",
	};
	struct gtp_aggr_shape shape;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_null(gtp_aggr_parse(rows[i].name, &shape));
		assert_int_equal(shape.kind, rows[i].kind);
		assert_int_equal(shape.nbuckets, rows[i].nbuckets);
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_non_null(gtp_aggr_parse(wrong[i], &shape));
}

/* --- buckets of histograms --- */

static u32 bucket_of(const char *name, s64 value)
{
	struct gtp_aggr_shape shape = shape_of(name, 0);
	struct gtp_aggr_table *t = new_table(&shape, 1);
	u32 found = ~0U;

	gtp_aggr_update(t, NULL, value);
	for (u32 i = 0; i < shape.nbuckets; i++) {
		u64 n = t->entry[t->values + 3 + i];

		assert_in_range(n, 0, 1);
		if (n)
			found = i;
	}
	free(t);
	return found;
}

static void buckets(void **state)
{
	static const struct {
		s64 value;
		u32 log, linear;
	} rows[] = {
		{ S64_MIN, 0, 0 },     { -1, 0, 0 },	    { 0, 1, 0 },      { 1, 2, 0 },
		{ 2, 3, 0 },	       { 3, 3, 0 },	    { 4, 4, 0 },      { 9, 5, 0 },
		{ 10, 5, 1 },	       { 19, 6, 1 },	    { 20, 6, 2 },     { 94, 8, 9 },
		{ 95, 8, 10 },	       { 96, 8, 10 },	    { 1023, 11, 10 }, { 1024, 12, 10 },
		{ 1LL << 62, 64, 10 }, { S64_MAX, 64, 10 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(bucket_of("hist_a", rows[i].value), rows[i].log);
		/* The last step is shorter: 90 to 94. */
		assert_int_equal(bucket_of("lhist_a_10_95_10", rows[i].value), rows[i].linear);
	}
}

/* Bounds may have 19 digits, as times of day in nanoseconds do. */
static void far_buckets(void **state)
{
	static const struct {
		s64 value;
		u32 bucket;
	} rows[] = {
		{ S64_MIN, 0 },
		{ 9223372036854775787, 0 },
		{ 9223372036854775797, 1 },
		{ 9223372036854775806, 1 },
		{ S64_MAX, 2 },
	};
	static const char name[] = "lhist_a_9223372036854775797_9223372036854775807_15";

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(bucket_of(name, rows[i].value), rows[i].bucket);
	assert_int_equal(bucket_of("lhist_a_0_9223372036854775807_1000000000000000000",
				   1700000000123456789),
			 2);
}

/* --- comparison with a model --- */

struct model {
	u64 key[GTP_AGGR_KEY_WORDS_MAX];
	u64 n;
	s64 sum, min, max;
};

static u64 rng = 1;

static u64 any(void)
{
	rng = rng * 6364136223846793005 + 1442695040888963407;
	return rng >> 20;
}

static void model_add(struct model *m, s64 value)
{
	m->min = !m->n || value < m->min ? value : m->min;
	m->max = !m->n || value > m->max ? value : m->max;
	m->sum = (s64)((u64)m->sum + (u64)value);
	m->n++;
}

static const u64 *entry_of(const struct gtp_aggr_table *t, const struct model *m)
{
	const u64 *found = NULL;

	for (u32 i = t->key_words ? 1 : 0; i < t->used; i++) {
		const u64 *e = gtp_aggr_entry(t, i);

		if (memcmp(e + 1, m->key, t->key_words * sizeof(u64)))
			continue;
		assert_null(found);
		found = e;
	}
	return found;
}

static void compare(const struct gtp_aggr_table *t, const struct model *m)
{
	const u64 *e = entry_of(t, m);
	const s64 *v = (const s64 *)e + t->values;
	u64 in_buckets = 0;

	assert_non_null(e);
	assert_int_equal(e[0], m->n);
	if (t->kind == GTP_AGGR_SUM || t->kind >= GTP_AGGR_STATS)
		assert_true(v[0] == m->sum);
	if (t->kind == GTP_AGGR_MIN)
		assert_true(v[0] == m->min);
	if (t->kind == GTP_AGGR_MAX)
		assert_true(v[0] == m->max);
	if (t->kind >= GTP_AGGR_STATS)
		assert_true(v[1] == m->min && v[2] == m->max);
	for (u32 i = 0; i < t->shape->nbuckets; i++)
		in_buckets += (u64)v[3 + i];
	if (t->shape->nbuckets)
		assert_int_equal(in_buckets, m->n);
}

/* Compare the tables of three CPUs with the model; merge them in the middle and at the end. */
static void as_the_model(const char *name, u32 key_words)
{
	struct gtp_aggr_shape shape = shape_of(name, key_words);
	struct gtp_aggr_table *cpu[3], *all = new_table(&shape, KEYS);
	struct model model[KEYS] = { 0 };
	u64 own[2 * GTP_AGGR_KEY_WORDS_MAX] = { 0 };
	u32 keys = key_words ? KEYS : 1, i, k;

	for (i = 0; i < 3; i++)
		cpu[i] = new_table(&shape, KEYS);
	for (i = 0; i < keys; i++)
		for (k = 0; k < key_words; k++)
			model[i].key[k] = k ? any() % 3 : (u64)i << (i % 48);
	for (i = 0; i < VALUES; i++) {
		struct model *m = &model[any() % keys];
		s64 value = (s64)(any() << any() % 20) - 500;

		for (k = 0; k < key_words; k++)
			own[2 * k + 1] = m->key[k];
		gtp_aggr_update(cpu[any() % 3], own, value);
		model_add(m, value);
		if (i == VALUES / 2) {
			gtp_aggr_merge(all, cpu[1]);
			gtp_aggr_clear(cpu[1]);
		}
	}
	for (i = 0; i < 3; i++) {
		gtp_aggr_merge(all, cpu[i]);
		free(cpu[i]);
	}
	for (i = 0; i < keys; i++)
		compare(all, &model[i]);
	if (key_words) {
		assert_int_equal(all->used, KEYS + 1);
		assert_int_equal(all->entry[0], 0);
	}
	free(all);
}

static void model(void **state)
{
	static const char *const name[] = { "count_a", "sum_a",	 "min_a",	    "max_a",
					    "stats_a", "hist_a", "lhist_a_0_1000_7" };

	for (size_t i = 0; i < ARRAY_SIZE(name); i++)
		for (u32 words = 0; words <= GTP_AGGR_KEY_WORDS_MAX; words++)
			as_the_model(name[i], words);
}

/* --- tables that are full --- */

static void full(void **state)
{
	struct gtp_aggr_shape shape = shape_of("hist_a", 1);
	struct gtp_aggr_table *t = new_table(&shape, 4), *all = new_table(&shape, 2);
	u64 own[2];
	u32 i, n = 0;

	for (i = 0; i < 100; i++) {
		own[1] = 1000 + i % 10;
		gtp_aggr_update(t, own, 1);
	}
	assert_int_equal(t->used, 5);
	assert_int_equal(t->entry[0], 60);
	for (i = 0; i < t->used; i++)
		n += (u32)gtp_aggr_entry(t, i)[0];
	assert_int_equal(n, 100);
	/* There is room for two of the keys. The count of hits without room is merged, too. */
	gtp_aggr_merge(all, t);
	assert_int_equal(all->used, 3);
	assert_int_equal(all->entry[0], 80);
	assert_int_equal(gtp_aggr_entry(all, 1)[0] + gtp_aggr_entry(all, 2)[0], 20);
	/* After gtp_aggr_clear() the table has room again. */
	gtp_aggr_clear(t);
	gtp_aggr_update(t, own, 1);
	assert_int_equal(t->used, 2);
	assert_int_equal(t->entry[0], 0);
	free(t);
	free(all);
}

static u64 hash_slot(u64 key, const struct gtp_aggr_table *t)
{
	return key * 0x9e3779b97f4a7c15 >> t->shift;
}

/* If all keys have the same hash, a hit still searches only a limited number of entries. */
static void one_hash(void **state)
{
	struct gtp_aggr_shape shape = shape_of("count_a", 1);
	struct gtp_aggr_table *t = new_table(&shape, 100);
	u64 own[2] = { 0 }, made = 0;

	while (made < 100) {
		own[1]++;
		if (hash_slot(own[1], t))
			continue;
		gtp_aggr_update(t, own, 1);
		made++;
	}
	assert_in_range(t->used, 2, 100);
	assert_int_equal(t->entry[0], 100 - (t->used - 1));
	free(t);
}

/* --- the table as text --- */

static void text(void **state)
{
	struct gtp_aggr_shape shape = shape_of("hist_a", 2);
	struct gtp_aggr_table *t = new_table(&shape, 1);
	u64 own[4] = { 0, 5, 0, ~0ULL };
	struct gtp_out out;
	char buf[512];

	gtp_aggr_update(t, own, -7);
	gtp_aggr_update(t, own, 9);
	own[1] = 6;
	gtp_aggr_update(t, own, 3);
	gtp_out_init(&out, buf, sizeof(buf));
	gtp_aggr_text(t, &out);
	assert_string_equal(buf, "noroom 1 : 3 3 3 : 3=1\n"
				 "entry 2 5 ffffffffffffffff : 2 -7 9 : 0=1 5=1\n");
	assert_true(gtp_aggr_text_bytes(t) > strlen(buf));
	free(t);
}

/* The longest possible line of a table is no longer than the declared maximum. */
static void text_room(void **state)
{
	struct gtp_aggr_shape shape = shape_of("lhist_a_0_1000_1", GTP_AGGR_KEY_WORDS_MAX);
	struct gtp_aggr_table *t = new_table(&shape, 2);
	u64 own[2 * GTP_AGGR_KEY_WORDS_MAX];
	struct gtp_out out;
	size_t bytes;
	char *buf;

	memset(own, 0xff, sizeof(own));
	gtp_aggr_update(t, own, 1);
	memset(t->entry, 0xff, 2UL * t->words * sizeof(u64));
	bytes = gtp_aggr_text_bytes(t);
	buf = malloc(bytes);
	gtp_out_init(&out, buf, bytes);
	gtp_aggr_text(t, &out);
	assert_false(out.cut);
	free(buf);
	free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names), cmocka_unit_test(buckets),   cmocka_unit_test(far_buckets),
		cmocka_unit_test(model), cmocka_unit_test(full),      cmocka_unit_test(one_hash),
		cmocka_unit_test(text),	 cmocka_unit_test(text_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
