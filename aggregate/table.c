// SPDX-License-Identifier: GPL-2.0-only
/* Aggregations: update the entry of a key, and add up the tables of CPUs. */
#include "aggregate/table.h"

enum { PROBES = 64 }; /* entries that a look-up tries at most, to bound a hit's time */

static u32 slots_for(u32 keys)
{
	u32 n = 2;

	while (n < 2 * keys)
		n *= 2;
	return n;
}

static size_t entry_bytes(const struct gtp_aggr_shape *shape, u32 keys)
{
	return ((size_t)(shape->key_words ? keys : 0) + 1) * shape->words * sizeof(u64);
}

size_t gtp_aggr_table_bytes(const struct gtp_aggr_shape *shape, u32 keys)
{
	size_t slots = shape->key_words ? slots_for(keys) : 0;

	return sizeof(struct gtp_aggr_table) + entry_bytes(shape, keys) + slots * sizeof(u32);
}

struct gtp_aggr_table *gtp_aggr_table_init(void *mem, const struct gtp_aggr_shape *shape, u32 keys)
{
	struct gtp_aggr_table *t = mem;
	u32 slots = slots_for(keys);

	t->shape = shape;
	t->index = (u32 *)((char *)t->entry + entry_bytes(shape, keys));
	t->used = 1;
	t->most = shape->key_words ? keys + 1 : 1;
	t->mask = slots - 1;
	t->shift = (u8)(64 - __builtin_ctz(slots));
	t->kind = shape->kind;
	t->key_words = shape->key_words;
	t->words = shape->words;
	t->values = shape->values;
	t->key = shape->key[0];
	return t;
}

void gtp_aggr_clear(struct gtp_aggr_table *t)
{
	memset(t->entry, 0, (size_t)t->used * t->words * sizeof(u64));
	if (t->key_words)
		memset(t->index, 0, ((size_t)t->mask + 1) * sizeof(u32));
	t->used = 1;
}

/* --- looking up keys --- */

static __always_inline u64 hash(const u64 *key, u32 n)
{
	const u64 golden = 0x9e3779b97f4a7c15;
	u64 h = key[0] * golden;

	for (u32 i = 1; i < n; i++)
		h = (h ^ h >> 32 ^ key[i]) * golden;
	return h;
}

static __always_inline bool same(const u64 *a, const u64 *b, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/*
 * Add an entry for a new key. If there is no room, return the first entry, which counts the values
 * of all keys that have no entry.
 */
static noinline u64 *new_entry(struct gtp_aggr_table *t, u64 slot, const u64 *key, u32 n)
{
	u64 *e = t->entry + (size_t)t->used * t->words;

	if (t->used == t->most)
		return t->entry;
	t->index[slot] = t->used++;
	for (u32 i = 0; i < n; i++)
		e[1 + i] = key[i];
	return e;
}

static __always_inline u64 *find_entry(struct gtp_aggr_table *t, const u64 *key, u32 n)
{
	u64 slot = hash(key, n) >> t->shift;

	for (u32 tries = PROBES; tries; tries--) {
		u32 i = t->index[slot];
		u64 *e = t->entry + (size_t)i * t->words;

		if (unlikely(!i))
			return new_entry(t, slot, key, n);
		if (likely(same(e + 1, key, n)))
			return e;
		slot = (slot + 1) & t->mask;
	}
	return t->entry;
}

static u64 *find_any(struct gtp_aggr_table *t, const u64 *own)
{
	u64 key[GTP_AGGR_KEY_WORDS_MAX];

	if (!t->key_words)
		return t->entry;
	key[0] = own[t->shape->key[0]];
	for (u32 i = 1; i < t->key_words; i++)
		key[i] = own[t->shape->key[i]];
	return find_entry(t, key, t->key_words);
}

/* Find the entry of a one-word key, if it is in the first slot tried; otherwise return NULL. */
static __always_inline u64 *find_at_once(struct gtp_aggr_table *t, const u64 *own)
{
	u64 key = own[t->key];
	u32 i = t->index[hash(&key, 1) >> t->shift];
	u64 *e = t->entry + (size_t)i * t->words;

	return likely(i && e[1] == key) ? e : NULL;
}

/* --- adding values --- */

static u32 log_bucket(s64 value)
{
	if (value <= 0)
		return !value;
	return (u32)(2 + 63 - __builtin_clzll((u64)value));
}

static u32 step_bucket(const struct gtp_aggr_shape *s, s64 value)
{
	if (value < s->from)
		return 0;
	if (value >= s->to)
		return s->nbuckets - 1U;
	return (u32)(1 + (u64)(value - s->from) / (u64)s->step);
}

static __always_inline void lower(s64 *v, s64 value, bool first)
{
	if (value < *v || unlikely(first))
		*v = value;
}

static __always_inline void raise(s64 *v, s64 value, bool first)
{
	if (value > *v || unlikely(first))
		*v = value;
}

/*
 * Update sum, smallest and largest. The first value of an entry is both its smallest and its
 * largest.
 */
static __always_inline void summarise(s64 *v, s64 sum, s64 min, s64 max, bool first)
{
	v[0] = (s64)((u64)v[0] + (u64)sum);
	lower(&v[1], min, first);
	raise(&v[2], max, first);
}

static __always_inline void add(const struct gtp_aggr_table *t, u64 *e, s64 value)
{
	s64 *v;
	bool first;

	if (t->kind == GTP_AGGR_COUNT) {
		e[0]++;
		return;
	}
	first = !e[0]++;
	v = (s64 *)e + t->values;
	if (t->kind >= GTP_AGGR_STATS) {
		summarise(v, value, value, value, first);
		if (t->kind == GTP_AGGR_HIST)
			v[3 + log_bucket(value)]++;
		else if (t->kind == GTP_AGGR_LHIST)
			v[3 + step_bucket(t->shape, value)]++;
	} else if (t->kind == GTP_AGGR_SUM) {
		v[0] = (s64)((u64)v[0] + (u64)value);
	} else if (t->kind == GTP_AGGR_MIN) {
		lower(v, value, first);
	} else if (t->kind == GTP_AGGR_MAX) {
		raise(v, value, first);
	}
}

static noinline void update_any(struct gtp_aggr_table *t, const u64 *own, s64 value)
{
	add(t, find_any(t, own), value);
}

/*
 * Add one value. The common paths, with one word as key or no key, call no function, so no
 * registers are saved for them.
 */
void gtp_aggr_update(struct gtp_aggr_table *t, const u64 *own, s64 value)
{
	u64 *e = NULL;

	if (likely(t->key_words == 1))
		e = find_at_once(t, own);
	else if (!t->key_words)
		e = t->entry;
	if (unlikely(!e)) {
		update_any(t, own, value);
		return;
	}
	add(t, e, value);
}

/* --- adding up the tables of CPUs --- */

static void add_entry(const struct gtp_aggr_table *t, u64 *e, const u64 *from)
{
	s64 *v = (s64 *)e + t->values;
	const s64 *w = (const s64 *)from + t->values;
	bool first = !e[0];

	e[0] += from[0];
	if (t->kind >= GTP_AGGR_STATS)
		summarise(v, w[0], w[1], w[2], first);
	else if (t->kind == GTP_AGGR_SUM)
		v[0] = (s64)((u64)v[0] + (u64)w[0]);
	else if (t->kind == GTP_AGGR_MIN)
		lower(v, w[0], first);
	else if (t->kind == GTP_AGGR_MAX)
		raise(v, w[0], first);
	for (u32 i = 0; i < t->shape->nbuckets; i++)
		v[3 + i] += w[3 + i];
}

void gtp_aggr_merge(struct gtp_aggr_table *to, const struct gtp_aggr_table *from)
{
	for (u32 i = 0; i < from->used; i++) {
		const u64 *e = gtp_aggr_entry(from, i);

		if (e[0])
			add_entry(to, i ? find_entry(to, e + 1, to->key_words) : to->entry, e);
	}
}
