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
 * A failed cmpxchg means that another CPU has changed the same bucket. TRIES bounds the time of a
 * hit; a hit that gives up is counted. The version has 50 bits: a CPU would have to be halted for
 * months, inside a hit, for a version to come back.
 */
#include "aggregate/pair.h"
#include "base/cpu.h"

enum { TRIES = 256 };

enum slot_state {
	FREE,
	BUSY, /* reserved by a start, which is writing it */
	FULL,
};

enum { NO_SLOT = GTP_PAIR_SLOTS };

#define VERSION BIT_ULL(2 * GTP_PAIR_SLOTS) /* one step of the version */
#define LOW_BITS ((VERSION - 1) / 3)	    /* the low bit of each slot */
#define SLOTS (VERSION - 1)		    /* the bits of all slots */

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

	p->nkept = (u8)nkept;
	p->nbuckets = buckets_for(entries);
	p->shift = (u8)(64 - __builtin_ctz(p->nbuckets));
	p->bucket = (struct gtp_pair_bucket *)(((unsigned long)(p + 1) + align) & ~align);
	p->counts = (struct gtp_pair_counts *)(p->bucket + p->nbuckets);
	p->value = (u64 *)(p->counts + ncpus);
	return p;
}

static __always_inline u64 bucket_of(const struct gtp_pair *p, u64 key)
{
	const u64 golden = 0x9e3779b97f4a7c15;
	u64 h = key * golden;

	/* The keys are often addresses with equal distances, which one product may not spread. */
	h = (h ^ h >> 32) * golden;
	return h >> p->shift;
}

static __always_inline u64 *values(const struct gtp_pair *p, u64 nr, u32 slot)
{
	return p->value + (nr * GTP_PAIR_SLOTS + slot) * p->nkept;
}

/* --- the state of a bucket --- */

static __always_inline u64 in_slot(u32 slot, enum slot_state state)
{
	return (u64)state << (2 * slot);
}

/* Change the state by @by and to the next version. Return false if it is no longer @was. */
static __always_inline bool change(struct gtp_pair_bucket *b, u64 was, u64 by)
{
	return likely(gtp_replace(&b->state, was, was + by + VERSION) == was);
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

	if (old == NO_SLOT ? !unchanged(b, was) : !change(b, was, 0 - in_slot(old, FULL)))
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
		} else if (change(b, was, in_slot(slot, BUSY))) {
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
		u64 by = in_slot(slot, FULL) - in_slot(slot, BUSY);

		if (unlikely(old != NO_SLOT))
			by -= in_slot(old, FULL);
		if (change(b, was, by)) {
			c->restarted += old != NO_SLOT;
			return;
		}
	}
	/* Only this CPU changes the busy slot, so it can free the slot whatever the others do. */
	gtp_fetch_add(&b->state, VERSION - in_slot(slot, BUSY));
	c->start_gave_up++;
}

/* Store the values that a start keeps. Out of line, because most starts keep none. */
static noinline void keep(const struct gtp_pair *p, u64 nr, u32 slot, const u64 *own)
{
	u64 *v = values(p, nr, slot);

	for (u32 i = 0; i < p->nkept; i++)
		WRITE_ONCE(v[i], own[p->kept[i]]);
}

static __always_inline void write_slot(struct gtp_pair *p, u64 nr, u32 slot, u64 key, u64 now,
				       const u64 *own)
{
	WRITE_ONCE(p->bucket[nr].key[slot], key);
	WRITE_ONCE(p->bucket[nr].time[slot], now);
	if (p->nkept)
		keep(p, nr, slot, own);
}

/* Store a start in a bucket that is not empty, or that other CPUs change. */
static noinline void start_slowly(struct gtp_pair *p, u32 cpu, u64 key, u64 now, const u64 *own)
{
	u64 nr = bucket_of(p, key);
	struct gtp_pair_bucket *b = &p->bucket[nr];
	struct gtp_pair_counts *c = &p->counts[cpu];
	u32 slot = reserve(b, key, c);

	if (unlikely(slot == NO_SLOT))
		return;
	write_slot(p, nr, slot, key, now, own);
	make_full(b, slot, key, c);
}

/*
 * Most buckets are empty when a start comes, so this function does the three steps for slot 0 of an
 * empty bucket, and calls no other function then. Slot 0 was the only one that was not free when
 * step 2 began, so step 3 need not look for an older start unless the state has changed.
 */
void gtp_pair_start(struct gtp_pair *p, u32 cpu, u64 key, u64 now, const u64 *own)
{
	u64 nr = bucket_of(p, key);
	struct gtp_pair_bucket *b = &p->bucket[nr];
	struct gtp_pair_counts *c = &p->counts[cpu];
	u64 was = gtp_acquire(&b->state);

	c->started++;
	if (unlikely(was & SLOTS) || !change(b, was, in_slot(0, BUSY))) {
		start_slowly(p, cpu, key, now, own);
		return;
	}
	write_slot(p, nr, 0, key, now, own);
	if (!change(b, was + VERSION + in_slot(0, BUSY), in_slot(0, FULL) - in_slot(0, BUSY)))
		make_full(b, 0, key, c);
}

/* --- ends --- */

/* Set the kept variables to the values that a start has kept. */
static noinline void give_back(const struct gtp_pair *p, u64 nr, u32 slot, u64 *own)
{
	const u64 *v = values(p, nr, slot);

	for (u32 i = 0; i < p->nkept; i++)
		own[p->kept[i]] = READ_ONCE(v[i]);
}

static __always_inline void deliver(const struct gtp_pair *p, u64 nr, u32 slot, u64 now, u64 *own)
{
	u64 start = READ_ONCE(p->bucket[nr].time[slot]);

	/* The clocks of two CPUs may differ by some ticks. */
	if (p->since)
		own[p->since] = now > start ? now - start : 0;
	if (p->nkept)
		give_back(p, nr, slot, own);
}

static noinline bool deliver_nothing(const struct gtp_pair *p, u64 *own)
{
	if (p->since)
		own[p->since] = (u64)-1;
	for (u32 i = 0; i < p->nkept; i++)
		own[p->kept[i]] = 0;
	return false;
}

/* Find a start that is not in slot 0, or in a bucket that other CPUs change. */
static noinline bool end_slowly(struct gtp_pair *p, u32 cpu, u64 key, u64 now, u64 *own)
{
	u64 nr = bucket_of(p, key);
	struct gtp_pair_bucket *b = &p->bucket[nr];
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
		deliver(p, nr, slot, now, own);
		if (change(b, was, 0 - in_slot(slot, FULL))) {
			c->ended++;
			return true;
		}
	}
	c->end_gave_up++;
	return deliver_nothing(p, own);
}

/* Most ends find their start in slot 0; see gtp_pair_start(). */
bool gtp_pair_end(struct gtp_pair *p, u32 cpu, u64 key, u64 now, u64 *own)
{
	u64 nr = bucket_of(p, key);
	struct gtp_pair_bucket *b = &p->bucket[nr];
	u64 was = gtp_acquire(&b->state);

	if (unlikely(!(was & in_slot(0, FULL)) || READ_ONCE(b->key[0]) != key))
		return end_slowly(p, cpu, key, now, own);
	deliver(p, nr, 0, now, own);
	if (!change(b, was, 0 - in_slot(0, FULL)))
		return end_slowly(p, cpu, key, now, own);
	p->counts[cpu].ended++;
	return true;
}

/* --- reading --- */

static u32 copy_bucket(const struct gtp_pair *p, u32 nr, u64 state, struct gtp_pair_entry *to)
{
	u32 n = 0;

	for (u64 full = full_slots(state); full; full &= full - 1) {
		u32 slot = (u32)__builtin_ctzll(full) / 2;
		const u64 *v = values(p, nr, slot);

		to[n].key = READ_ONCE(p->bucket[nr].key[slot]);
		to[n].time = READ_ONCE(p->bucket[nr].time[slot]);
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
		u32 n = copy_bucket(p, nr, was, to);

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
