// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pairs: store the start of a key, and find it at its end, on any CPU and without a lock.
 *
 * A key belongs to one bucket of seven slots. The bucket's state has two bits for each slot, and a
 * version that every change of the state increments. All changes are atomic operations on this one
 * word, so all starts and ends in a bucket have one order:
 *
 *	start	1. free -> busy: reserves a slot. No other CPU touches a busy slot.
 *		2. writes the key, the time and the values into the slot.
 *		3. busy -> full. If another slot is full with the same key, the same cmpxchg makes
 *		   that slot free.
 *	end	1. finds the full slot with the key, and reads its values.
 *		2. full -> free. If the state has changed since 1, the cmpxchg fails because of the
 *		   version, and the end begins again.
 *
 * So there are never two full slots with the same key, and an end takes a start exactly once. If a
 * CPU dies between two steps, one slot stays busy for ever, and no other CPU waits for it.
 *
 * jit/ops_table.c has the same steps in machine code, for the common cases: a start in an empty
 * bucket, and an end whose start is in slot 0.
 *
 * A failed cmpxchg means that another CPU has changed the same bucket. TRIES bounds the time of a
 * hit; a hit that gives up is counted. The version has 50 bits: a CPU would have to be halted for
 * months, inside a hit, for a version to come back.
 */
#include "aggregate/pair.h"
#include "base/cpu.h"

enum { TRIES = 256 };

enum { NO_SLOT = GTP_PAIR_SLOTS };

#define LOW_BITS (GTP_PAIR_ALL_SLOTS / 3) /* the low bit of each slot */

static_assert(offsetof(struct gtp_pair_bucket, time) == 64, "a look-up reads one cache line");
static_assert(sizeof(struct gtp_pair_bucket) == 128, "a bucket is two cache lines");
static_assert(sizeof(struct gtp_pair_counts) == 64, "no two CPUs count in one cache line");

/* --- the memory of a table --- */

static u32 buckets_for(u32 entries)
{
	u32 n = 2;

	while (n < entries)
		n *= 2;
	return n;
}

size_t gtp_pair_bytes(u32 entries, u32 nkept, u32 ncpus)
{
	size_t n = buckets_for(entries);

	/* One bucket more, to align the buckets. */
	return sizeof(struct gtp_pair) + (n + 1) * sizeof(struct gtp_pair_bucket) +
	       ncpus * sizeof(struct gtp_pair_counts) + n * GTP_PAIR_SLOTS * nkept * sizeof(u64);
}

struct gtp_pair *gtp_pair_init(void *mem, u32 entries, u32 nkept, u32 ncpus)
{
	const unsigned long align = sizeof(struct gtp_pair_bucket) - 1;
	struct gtp_pair *p = mem;
	u64 *value;

	p->nkept = (u8)nkept;
	p->nbuckets = buckets_for(entries);
	p->shift = (u8)(64 - __builtin_ctz(p->nbuckets));
	p->bucket = (struct gtp_pair_bucket *)(((unsigned long)(p + 1) + align) & ~align);
	p->counts = (struct gtp_pair_counts *)(p->bucket + p->nbuckets);
	value = (u64 *)(p->counts + ncpus);
	for (u32 nr = 0; nkept && nr < p->nbuckets; nr++)
		p->bucket[nr].value = value + (size_t)nr * GTP_PAIR_SLOTS * nkept;
	return p;
}

static struct gtp_pair_bucket *bucket_of(const struct gtp_pair *p, u64 key)
{
	u64 h = key * GTP_PAIR_FACTOR;

	/* The keys are often addresses with equal distances, which one product may not spread. */
	h = (h ^ h >> 32) * GTP_PAIR_FACTOR;
	return &p->bucket[h >> p->shift];
}

static __always_inline u64 *values(const struct gtp_pair *p, const struct gtp_pair_bucket *b,
				   u32 slot)
{
	return b->value + slot * p->nkept;
}

/* --- the state of a bucket --- */

static __always_inline u64 in_slot(u32 slot, enum gtp_pair_slot state)
{
	return (u64)state << (2 * slot);
}

/* Change the state by @by and to the next version. Return false if it is no longer @was. */
static __always_inline bool change(struct gtp_pair_bucket *b, u64 was, u64 by)
{
	return likely(gtp_replace(&b->state, was, was + by + GTP_PAIR_VERSION) == was);
}

/* True if nothing in the bucket has changed since the state was @was. */
static __always_inline bool unchanged(const struct gtp_pair_bucket *b, u64 was)
{
	gtp_order_loads();
	return READ_ONCE(b->state) == was;
}

/* Return the low bits of the full slots. */
static __always_inline u64 full_slots(u64 state)
{
	return state >> 1 & LOW_BITS;
}

/* Return the first free slot, or NO_SLOT. */
static __always_inline u32 free_slot(u64 state)
{
	u64 room = ~(state | state >> 1) & LOW_BITS;

	return likely(room) ? (u32)__builtin_ctzll(room) / 2 : NO_SLOT;
}

/*
 * Return the slot that is full with @key, or NO_SLOT. The result is right if the state is still
 * @state afterwards.
 */
static __always_inline u32 find_slot(const struct gtp_pair_bucket *b, u64 state, u64 key)
{
	for (u64 full = full_slots(state); full; full &= full - 1) {
		u32 slot = (u32)__builtin_ctzll(full) / 2;

		if (READ_ONCE(b->key[slot]) == key)
			return slot;
	}
	return NO_SLOT;
}

/* --- starts --- */

/*
 * There is no free slot. Forget an older start of the same key: the next end must not mistake it
 * for this start. Return false if the bucket has changed meanwhile.
 */
static noinline bool give_no_room(struct gtp_pair_bucket *b, u64 was, u64 key,
				  struct gtp_pair_counts *c)
{
	u32 old = find_slot(b, was, key);

	if (old == NO_SLOT ? !unchanged(b, was) : !change(b, was, 0 - in_slot(old, GTP_PAIR_FULL)))
		return false;
	c->restarted += old != NO_SLOT;
	c->no_room++;
	return true;
}

static u32 reserve(struct gtp_pair_bucket *b, u64 key, struct gtp_pair_counts *c)
{
	for (u32 tries = TRIES; tries; tries--) {
		u64 was = gtp_acquire(&b->state);
		u32 slot = free_slot(was);

		if (unlikely(slot == NO_SLOT)) {
			if (give_no_room(b, was, key, c))
				return NO_SLOT;
		} else if (change(b, was, in_slot(slot, GTP_PAIR_BUSY))) {
			return slot;
		}
	}
	c->start_gave_up++;
	return NO_SLOT;
}

static void make_full(struct gtp_pair_bucket *b, u32 slot, u64 key, struct gtp_pair_counts *c)
{
	for (u32 tries = TRIES; tries; tries--) {
		u64 was = gtp_acquire(&b->state);
		u32 old = find_slot(b, was, key);
		u64 by = in_slot(slot, GTP_PAIR_FULL) - in_slot(slot, GTP_PAIR_BUSY);

		if (unlikely(old != NO_SLOT))
			by -= in_slot(old, GTP_PAIR_FULL);
		if (change(b, was, by)) {
			c->restarted += old != NO_SLOT;
			return;
		}
	}
	/* Only this CPU changes the busy slot, so it can free the slot whatever the others do. */
	gtp_fetch_add(&b->state, GTP_PAIR_VERSION - in_slot(slot, GTP_PAIR_BUSY));
	c->start_gave_up++;
}

/* Store the values that a start keeps. */
static void keep(const struct gtp_pair *p, const struct gtp_pair_bucket *b, u32 slot,
		 const u64 *own)
{
	u64 *v = values(p, b, slot);

	for (u32 i = 0; i < p->nkept; i++)
		WRITE_ONCE(v[i], own[p->kept[i]]);
}

static void write_slot(struct gtp_pair_bucket *b, u32 slot, u64 key, u64 now)
{
	WRITE_ONCE(b->key[slot], key);
	WRITE_ONCE(b->time[slot], now);
}

void gtp_pair_start(struct gtp_pair *p, u32 cpu, u64 key, u64 now, const u64 *own)
{
	struct gtp_pair_bucket *b = bucket_of(p, key);
	struct gtp_pair_counts *c = &p->counts[cpu];
	u32 slot = reserve(b, key, c);

	c->started++;
	if (unlikely(slot == NO_SLOT))
		return;
	write_slot(b, slot, key, now);
	keep(p, b, slot, own);
	make_full(b, slot, key, c);
}

/* --- ends --- */

/* Set the time since the start, and the kept variables to the values that the start has kept. */
static void deliver(const struct gtp_pair *p, const struct gtp_pair_bucket *b, u32 slot, u64 now,
		    u64 *own)
{
	u64 start = READ_ONCE(b->time[slot]);
	const u64 *v = values(p, b, slot);

	/* The clocks of two CPUs may differ by some ticks. */
	own[p->since] = now > start ? now - start : 0;
	for (u32 i = 0; i < p->nkept; i++)
		own[p->kept[i]] = READ_ONCE(v[i]);
}

static bool deliver_nothing(const struct gtp_pair *p, u64 *own)
{
	own[p->since] = (u64)-1;
	for (u32 i = 0; i < p->nkept; i++)
		own[p->kept[i]] = 0;
	return false;
}

bool gtp_pair_end(struct gtp_pair *p, u32 cpu, u64 key, u64 now, u64 *own)
{
	struct gtp_pair_bucket *b = bucket_of(p, key);
	struct gtp_pair_counts *c = &p->counts[cpu];

	for (u32 tries = TRIES; tries; tries--) {
		u64 was = gtp_acquire(&b->state);
		u32 slot = find_slot(b, was, key);

		if (slot == NO_SLOT) {
			if (!unchanged(b, was))
				continue;
			c->no_start++;
			return deliver_nothing(p, own);
		}
		/* The values count only if the cmpxchg proves that the slot was full until now. */
		deliver(p, b, slot, now, own);
		if (change(b, was, 0 - in_slot(slot, GTP_PAIR_FULL))) {
			c->ended++;
			return true;
		}
	}
	c->end_gave_up++;
	return deliver_nothing(p, own);
}

/* --- reading --- */

static u32 copy_bucket(const struct gtp_pair *p, const struct gtp_pair_bucket *b, u64 state,
		       struct gtp_pair_entry *to)
{
	u32 n = 0;

	for (u64 full = full_slots(state); full; full &= full - 1) {
		u32 slot = (u32)__builtin_ctzll(full) / 2;
		const u64 *v = values(p, b, slot);

		to[n].key = READ_ONCE(b->key[slot]);
		to[n].time = READ_ONCE(b->time[slot]);
		for (u32 i = 0; i < p->nkept; i++)
			to[n].kept[i] = READ_ONCE(v[i]);
		n++;
	}
	return n;
}

int gtp_pair_read(const struct gtp_pair *p, u32 nr, struct gtp_pair_entry *to)
{
	const struct gtp_pair_bucket *b = &p->bucket[nr];

	for (u32 tries = TRIES; tries; tries--) {
		u64 was = gtp_acquire(&b->state);
		u32 n = copy_bucket(p, b, was, to);

		if (unchanged(b, was))
			return (int)n;
	}
	return -EAGAIN;
}

void gtp_pair_sum(const struct gtp_pair *p, u32 ncpus, struct gtp_pair_counts *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (u32 i = 0; i < ncpus; i++) {
		const struct gtp_pair_counts *c = &p->counts[i];

		sum->started += READ_ONCE(c->started);
		sum->ended += READ_ONCE(c->ended);
		sum->restarted += READ_ONCE(c->restarted);
		sum->no_room += READ_ONCE(c->no_room);
		sum->start_gave_up += READ_ONCE(c->start_gave_up);
		sum->no_start += READ_ONCE(c->no_start);
		sum->end_gave_up += READ_ONCE(c->end_gave_up);
	}
}
