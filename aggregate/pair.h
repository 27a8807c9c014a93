/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of a pair: from a hit that starts something to the hit that ends it, on any CPU, by a
 * key. The table is in the caller's memory.
 */
#ifndef _GTP_PAIR_H
#define _GTP_PAIR_H

#include "base/base.h"

enum {
	GTP_PAIR_KEPT_MAX = 4,
	GTP_PAIR_SLOTS = 7, /* of a bucket: their keys and the state fill a cache line */
};

/* enum gtp_pair_slot - the two bits of a slot in a bucket's state */
enum gtp_pair_slot {
	GTP_PAIR_FREE,
	GTP_PAIR_BUSY, /* reserved by a start, which is writing it */
	GTP_PAIR_FULL,
};

/*
 * GTP_PAIR_VERSION - one step of the version in a bucket's state; GTP_PAIR_ALL_SLOTS - the bits of
 * all slots there; GTP_PAIR_FACTOR - the factor of a key's hash, 2^64 divided by the golden ratio
 */
#define GTP_PAIR_VERSION BIT_ULL(2 * GTP_PAIR_SLOTS)
#define GTP_PAIR_ALL_SLOTS (GTP_PAIR_VERSION - 1)
#define GTP_PAIR_FACTOR 0x9e3779b97f4a7c15ULL

/**
 * struct gtp_pair_bucket - the entries whose keys have one hash
 * @state: two bits for each slot, free, busy or full, and a version; see aggregate/pair.c
 * @key: the key of each slot that is full
 * @time: the time of the start in ns, of each slot that is full
 * @value: the kept values, as many words for each slot as the pair keeps; NULL if it keeps none
 */
struct gtp_pair_bucket {
	u64 state;
	u64 key[GTP_PAIR_SLOTS];
	u64 time[GTP_PAIR_SLOTS];
	u64 *value;
};

/**
 * struct gtp_pair_counts - what hits did with a pair
 * @started: starts
 * @ended: ends that found their start
 * @restarted: starts that were forgotten because a later start had the same key
 * @no_room: starts that found no room
 * @start_gave_up: starts that gave up, because other CPUs changed the bucket again and again
 * @no_start: ends whose key had no start
 * @end_gave_up: ends that gave up; their starts stay in the table
 *
 * While no hit uses the pair, @started is the sum of @ended, @restarted, @no_room, @start_gave_up
 * and the number of entries in the table.
 */
struct gtp_pair_counts {
	u64 started;
	u64 ended;
	u64 restarted;
	u64 no_room;
	u64 start_gave_up;
	u64 no_start;
	u64 end_gave_up;
	u64 unused; /* no two CPUs write one cache line */
};

/**
 * struct gtp_pair - a pair
 * @since: index in a CPU's own variables that gtp_pair_end() sets to the time since the start. No
 *	   variable has the number 0, so 0 means that nobody reads the time
 * @kept: indexes of the variables that gtp_pair_start() stores and gtp_pair_end() restores
 * @nkept: the number of entries in @kept
 * @shift: turns a hash into the number of a bucket
 * @nbuckets: the number of buckets, a power of two
 * @bucket: the buckets
 * @counts: the counters, indexed by CPU; each CPU writes only its own
 *
 * A key is in one bucket only, and every change of a bucket is one cmpxchg of its state. So hits on
 * all CPUs share the table without a lock, and no hit waits for another one.
 */
struct gtp_pair {
	u16 since;
	u16 kept[GTP_PAIR_KEPT_MAX];
	u8 nkept;
	u8 shift;
	u32 nbuckets;
	struct gtp_pair_bucket *bucket;
	struct gtp_pair_counts *counts;
};

/* struct gtp_pair_entry - a start without an end, as gtp_pair_read() returns it */
struct gtp_pair_entry {
	u64 key;
	u64 time;
	u64 kept[GTP_PAIR_KEPT_MAX];
};

/**
 * gtp_pair_bytes() - return the memory that a table needs
 * @entries: the number of starts without an end for which there shall be room, at least 1
 * @nkept: the number of variables that the pair keeps, at most GTP_PAIR_KEPT_MAX
 * @ncpus: the CPUs that use the pair have numbers less than this
 *
 * The table has at least one bucket for each entry. With that many entries, about one start in
 * 12,000 finds its bucket full.
 */
size_t gtp_pair_bytes(u32 entries, u32 nkept, u32 ncpus);

/*
 * gtp_pair_init - make an empty pair in gtp_pair_bytes() zeroed bytes. The caller then sets @since
 * and the entries of @kept
 */
struct gtp_pair *gtp_pair_init(void *mem, u32 entries, u32 nkept, u32 ncpus);

/**
 * gtp_pair_start() - store the start of @key
 * @p: the pair
 * @cpu: the number of this CPU
 * @key: any number
 * @now: the time in ns
 * @own: the CPU's own variables, from which the kept values are taken
 *
 * An older start of the same key is forgotten, and counted. This holds also if the new start finds
 * no room.
 *
 * Context: a hit. Allocates nothing, takes no lock; the time is bounded.
 */
void gtp_pair_start(struct gtp_pair *p, u32 cpu, u64 key, u64 now, const u64 *own);

/**
 * gtp_pair_end() - remove the start of @key from the table
 * @p: the pair
 * @cpu: the number of this CPU
 * @key: any number
 * @now: the time in ns
 * @own: the CPU's own variables. Receives the time since the start, not less than 0, and the kept
 *	 values; or -1 and zeroes if @key has no start
 *
 * Context: as gtp_pair_start(). Return: true if @key had a start.
 */
bool gtp_pair_end(struct gtp_pair *p, u32 cpu, u64 key, u64 now, u64 *own);

/**
 * gtp_pair_read() - copy the entries of one bucket, which hits may change meanwhile
 * @p: the pair
 * @nr: the number of the bucket, less than @nbuckets
 * @to: receives up to GTP_PAIR_SLOTS entries
 *
 * Return: the number of entries, all of one moment; or -EAGAIN if hits changed the bucket during
 * each of many tries.
 */
int gtp_pair_read(const struct gtp_pair *p, u32 nr, struct gtp_pair_entry *to);

/* gtp_pair_sum - add up the counters of CPUs 0 to @ncpus - 1 */
void gtp_pair_sum(const struct gtp_pair *p, u32 ncpus, struct gtp_pair_counts *sum);

#endif /* _GTP_PAIR_H */
