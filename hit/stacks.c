// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of stacks. A hit writes a new stack first, and then publishes it by a cmpxchg of its
 * slot.
 */
#include "hit/stacks.h"

enum { PROBES = 64 }; /* most slots that a look-up tries, to bound the time of a hit */

/*
 * Return the number of slots, which take up to an eighth of the memory. With 4 MiB and stacks of 15
 * addresses, nearly half of the slots are used when the rest of the memory is full.
 */
static u32 slots_for(u32 bytes)
{
	u32 n = 1;

	while (2 * n * sizeof(u64) <= bytes / 8)
		n *= 2;
	return n;
}

size_t gtp_stacks_bytes(u32 bytes, u32 ncpus)
{
	return sizeof(struct gtp_stacks) + sizeof(struct gtp_walk) + gtp_round8(bytes) +
	       (size_t)ncpus * GTP_STACKS_SCRATCH * sizeof(u64);
}

struct gtp_stacks *gtp_stacks_init(void *mem, u32 bytes, u32 ncpus)
{
	struct gtp_stacks *s = mem;
	u32 slots = slots_for(bytes);

	s->walk = (struct gtp_walk *)(s + 1);
	s->slot = (u64 *)(s->walk + 1);
	s->word = s->slot + slots;
	s->words = gtp_round8(bytes) / sizeof(u64) - slots;
	s->scratch = s->word + s->words;
	s->mask = slots - 1;
	s->used = 1;
	return s;
}

static u32 hash(const u64 *pc, u32 n)
{
	const u64 golden = 0x9e3779b97f4a7c15;
	u64 h = n;

	for (u32 i = 0; i < n; i++)
		h = (h ^ h >> 32 ^ pc[i]) * golden;
	return (u32)(h >> 32);
}

static bool same(const struct gtp_stacks *s, u32 id, const u64 *pc, u32 n)
{
	const u64 *word = s->word + id;

	if (*word++ != n)
		return false;
	for (u32 i = 0; i < n; i++)
		if (word[i] != pc[i])
			return false;
	return true;
}

/* Reserve memory for a new stack; 0 if there is not enough. */
static u32 reserve(struct gtp_stacks *s, u32 words)
{
	u32 used = READ_ONCE(s->used);

	while (words <= s->words - used) {
		u32 found = gtp_replace(&s->used, used, used + words);

		if (found == used)
			return used;
		used = found;
	}
	return 0;
}

static u32 write_new(struct gtp_stacks *s, const u64 *pc, u32 n)
{
	u32 id = reserve(s, 1 + n);

	if (!id)
		return 0;
	s->word[id] = n;
	memcpy(s->word + id + 1, pc, n * sizeof(*pc));
	return id;
}

/*
 * Give back the memory reserved for a stack that another CPU has added first. That is possible only
 * for the last reservation; otherwise the memory stays unused.
 */
static void give_back(struct gtp_stacks *s, u32 id, u32 n)
{
	if (id)
		gtp_replace(&s->used, id + 1 + n, id);
}

u32 gtp_stacks_put(struct gtp_stacks *s, const u64 *pc, u32 n)
{
	u32 tries, at, h, mine = 0;

	if (unlikely(n > GTP_STACKS_DEPTH)) {
		n = GTP_STACKS_DEPTH;
		gtp_fetch_add(&s->cut, 1);
	}
	h = hash(pc, n);
	at = h & s->mask;
	for (tries = PROBES; tries; tries--, at = (at + 1) & s->mask) {
		u64 slot = gtp_acquire(&s->slot[at]);

		if (unlikely(!slot)) {
			mine = mine ? mine : write_new(s, pc, n);
			if (!mine)
				break;
			slot = gtp_replace(&s->slot[at], 0, (u64)h << 32 | mine);
			if (!slot) {
				gtp_fetch_add(&s->count, 1);
				return mine;
			}
		}
		if (slot >> 32 == h && same(s, (u32)slot, pc, n)) {
			give_back(s, mine, n);
			return (u32)slot;
		}
	}
	give_back(s, mine, n);
	gtp_fetch_add(&s->no_room, 1);
	return 0;
}

/* True if @id is the number of a stack of @n addresses: then a slot contains it. */
static bool is_stack(const struct gtp_stacks *s, u32 id, u32 n)
{
	u32 h = hash(s->word + id + 1, n), at = h & s->mask, tries;

	for (tries = PROBES; tries; tries--, at = (at + 1) & s->mask)
		if (gtp_acquire(&s->slot[at]) == ((u64)h << 32 | id))
			return true;
	return false;
}

const u64 *gtp_stacks_get(const struct gtp_stacks *s, u32 id, u32 *n)
{
	u32 used = READ_ONCE(s->used);
	u64 count;

	if (!id || id >= used)
		return NULL;
	count = s->word[id];
	if (!count || count > GTP_STACKS_DEPTH || count >= used - id ||
	    !is_stack(s, id, (u32)count))
		return NULL;
	*n = (u32)count;
	return s->word + id + 1;
}
