// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the table of a pair: against a simple model, with full buckets, and with several threads at
 * once. test_pair_order.c goes through all orders of a few operations.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "aggregate/pair.h"

/* Indexes in a CPU's own variables. */
enum { SINCE = 5, KEPT_A = 7, KEPT_B = 3, OWN = 8 };

static struct gtp_pair *new_pair(u32 entries, u32 ncpus)
{
	struct gtp_pair *p;
	void *mem = calloc(1, gtp_pair_bytes(entries, 2, ncpus));

	assert_non_null(mem);
	p = gtp_pair_init(mem, entries, 2, ncpus);
	p->since = SINCE;
	p->kept[0] = KEPT_A;
	p->kept[1] = KEPT_B;
	return p;
}

static void start(struct gtp_pair *p, u64 key, u64 now, u64 a, u64 b)
{
	const u64 own[OWN] = { [KEPT_A] = a, [KEPT_B] = b };

	gtp_pair_start(p, 0, key, now, own);
}

static void expect_end(struct gtp_pair *p, u64 key, u64 now, u64 since, u64 a, u64 b)
{
	u64 own[OWN] = { 0 };

	assert_true(gtp_pair_end(p, 0, key, now, own));
	assert_int_equal(own[SINCE], since);
	assert_int_equal(own[KEPT_A], a);
	assert_int_equal(own[KEPT_B], b);
}

static void expect_no_start(struct gtp_pair *p, u64 key)
{
	u64 own[OWN] = { [SINCE] = 1, [KEPT_A] = 2, [KEPT_B] = 3 };

	assert_false(gtp_pair_end(p, 0, key, 99, own));
	assert_int_equal(own[SINCE], (u64)-1);
	assert_int_equal(own[KEPT_A], 0);
	assert_int_equal(own[KEPT_B], 0);
}

/* Return the number of entries in the table, and copy them to @to unless that is NULL. */
static u32 read_all(const struct gtp_pair *p, struct gtp_pair_entry *to)
{
	struct gtp_pair_entry some[GTP_PAIR_SLOTS];
	u32 n = 0;

	for (u32 nr = 0; nr < p->nbuckets; nr++) {
		int got = gtp_pair_read(p, nr, some);

		assert_in_range(got, 0, GTP_PAIR_SLOTS);
		if (to)
			memcpy(to + n, some, (size_t)got * sizeof(*some));
		n += (u32)got;
	}
	return n;
}

static void expect_sum(const struct gtp_pair *p, u32 ncpus, const struct gtp_pair_counts *want)
{
	struct gtp_pair_counts sum;

	gtp_pair_sum(p, ncpus, &sum);
	assert_int_equal(sum.started, want->started);
	assert_int_equal(sum.ended, want->ended);
	assert_int_equal(sum.restarted, want->restarted);
	assert_int_equal(sum.no_room, want->no_room);
	assert_int_equal(sum.no_start, want->no_start);
	assert_int_equal(sum.start_gave_up, want->start_gave_up);
	assert_int_equal(sum.end_gave_up, want->end_gave_up);
}

/* --- one CPU --- */

static void from_start_to_end(void **state)
{
	struct gtp_pair *p = new_pair(16, 1);

	/* 0 is a key like any other. */
	start(p, 0, 100, 1, 2);
	start(p, ~0ULL, 200, 3, 4);
	expect_no_start(p, 7);
	expect_end(p, 0, 150, 50, 1, 2);
	expect_no_start(p, 0);
	/* The clock of the CPU of the end may be some ticks behind. */
	expect_end(p, ~0ULL, 190, 0, 3, 4);
	assert_int_equal(read_all(p, NULL), 0);
	expect_sum(p, 1, &(struct gtp_pair_counts){ .started = 2, .ended = 2, .no_start = 2 });
	free(p);
}

static void the_last_start_counts(void **state)
{
	struct gtp_pair *p = new_pair(16, 1);
	struct gtp_pair_entry e[4];

	start(p, 9, 100, 1, 2);
	start(p, 9, 200, 3, 4);
	assert_int_equal(read_all(p, e), 1);
	assert_int_equal(e[0].key, 9);
	assert_int_equal(e[0].time, 200);
	assert_int_equal(e[0].kept[0], 3);
	assert_int_equal(e[0].kept[1], 4);
	expect_end(p, 9, 250, 50, 3, 4);
	expect_no_start(p, 9);
	expect_sum(p, 1,
		   &(struct gtp_pair_counts){ .started = 2,
					      .ended = 1,
					      .restarted = 1,
					      .no_start = 1 });
	free(p);
}

/* A pair without $pair_since_NAME and without kept values */
static void nothing_to_deliver(void **state)
{
	void *mem = calloc(1, gtp_pair_bytes(1, 0, 1));
	struct gtp_pair *p = gtp_pair_init(mem, 1, 0, 1);
	u64 own[OWN] = { 0 }, before[OWN] = { 0 };

	gtp_pair_start(p, 0, 5, 100, own);
	assert_true(gtp_pair_end(p, 0, 5, 120, own));
	assert_false(gtp_pair_end(p, 0, 5, 120, own));
	/* The first word belongs to no variable. */
	assert_memory_equal(own + 1, before + 1, sizeof(own) - sizeof(own[0]));
	free(mem);
}

/* Return the number of the bucket of a key, in a table of 16 buckets. */
static u32 bucket_number(u64 key)
{
	struct gtp_pair *p = new_pair(16, 1);
	u32 nr = 0;

	start(p, key, 0, 0, 0);
	while (!p->bucket[nr].state)
		nr++;
	free(p);
	return nr;
}

static void keys_of_one_bucket(u64 *key, u32 n)
{
	for (u64 k = 0; n; k++)
		if (bucket_number(k) == 3) {
			*key++ = k;
			n--;
		}
}

static void full_bucket(void **state)
{
	struct gtp_pair *p = new_pair(16, 1);
	u64 key[8];

	keys_of_one_bucket(key, 8);
	for (u32 i = 0; i < 8; i++)
		start(p, key[i], 100 + i, i, 0);
	assert_int_equal(read_all(p, NULL), 7);
	expect_no_start(p, key[7]);
	/*
	 * A restart finds no room either. The older start must not be taken for it, so it is
	 * forgotten, too.
	 */
	start(p, key[3], 200, 3, 1);
	expect_no_start(p, key[3]);
	assert_int_equal(read_all(p, NULL), 6);
	/* Now there is room. */
	start(p, key[7], 300, 7, 1);
	expect_end(p, key[7], 310, 10, 7, 1);
	for (u32 i = 0; i < 7; i++)
		if (i != 3)
			expect_end(p, key[i], 400, 300 - i, i, 0);
	assert_int_equal(read_all(p, NULL), 0);
	expect_sum(p, 1,
		   &(struct gtp_pair_counts){ .started = 10,
					      .ended = 7,
					      .restarted = 1,
					      .no_room = 2,
					      .no_start = 2 });
	free(p);
}

/* A slot is used again and again, also when the version in the state wraps. */
static void the_version_wraps(void **state)
{
	struct gtp_pair *p = new_pair(1, 1);

	for (u32 nr = 0; nr < p->nbuckets; nr++)
		p->bucket[nr].state = 0 - (1000ULL << 14);
	for (u32 i = 0; i < 2000; i++) {
		start(p, 5, i, i, 2);
		start(p, 6, i, i, 3);
		expect_end(p, 5, i + 1, 1, i, 2);
		expect_end(p, 6, i + 2, 2, i, 3);
	}
	assert_int_equal(read_all(p, NULL), 0);
	free(p);
}

/* Give as many starts as the table is made for keys of a stride; return how many find no room. */
static u64 no_room_with(u64 first, u64 stride)
{
	enum { ENTRIES = 1 << 14 };
	struct gtp_pair *p = new_pair(ENTRIES, 1);
	struct gtp_pair_counts sum;

	for (u32 i = 0; i < ENTRIES; i++)
		start(p, first + i * stride, 0, 0, 0);
	gtp_pair_sum(p, 1, &sum);
	assert_int_equal(read_all(p, NULL), ENTRIES - sum.no_room);
	free(p);
	return sum.no_room;
}

/* With equally likely buckets, 1 to 2 of 16384 starts are expected to find no room. */
static void there_is_room(void **state)
{
	static const u64 stride[] = { 1,   2,	 8,	  64,	      192,	  256,	     576,
				      640, 4096, 1 << 20, 0x9e3779b9, 1ULL << 32, 1ULL << 40 };

	for (size_t i = 0; i < ARRAY_SIZE(stride); i++)
		assert_in_range(no_room_with(0xffff888100000000, stride[i]), 0, 8);
}

/* --- a model --- */

enum { MODEL_KEYS = 40, MODEL_STEPS = 200000 };

static struct {
	bool there[MODEL_KEYS];
	u64 time[MODEL_KEYS], a[MODEL_KEYS];
	struct gtp_pair_counts counts;
} model;

static u32 next_random(u64 *seed)
{
	*seed = *seed * 6364136223846793005 + 1442695040888963407;
	return (u32)(*seed >> 33);
}

/* Starts and ends of 40 keys, with room for about 28: so buckets are often full. */
static void like_the_model(void **state)
{
	struct gtp_pair *p = new_pair(4, 1);
	u64 seed = 1, no_room = 0, restarts = 0;

	memset(&model, 0, sizeof(model));
	for (u64 now = 1; now <= MODEL_STEPS; now++) {
		u32 key = next_random(&seed) % MODEL_KEYS;

		if (next_random(&seed) % 5 < 3) {
			u32 before = read_all(p, NULL), after;

			start(p, key, now, now * 3, key);
			after = read_all(p, NULL);
			model.counts.started++;
			model.counts.restarted += model.there[key];
			restarts += model.there[key];
			/* Only the table knows whether there is room. */
			if (after == before - model.there[key]) {
				no_room++;
				model.counts.no_room++;
				model.there[key] = false;
				continue;
			}
			assert_int_equal(after, before + !model.there[key]);
			model.there[key] = true;
			model.time[key] = now;
			model.a[key] = now * 3;
		} else if (model.there[key]) {
			expect_end(p, key, now, now - model.time[key], model.a[key], key);
			model.there[key] = false;
			model.counts.ended++;
		} else {
			expect_no_start(p, key);
			model.counts.no_start++;
		}
	}
	expect_sum(p, 1, &model.counts);
	assert_in_range(no_room, 1000, MODEL_STEPS);
	assert_in_range(restarts, 1000, MODEL_STEPS);
	free(p);
}

/* --- many CPUs --- */

enum { CPUS = 4, STARTS_EACH = 150000, SHARED_KEYS = 24, IDS = CPUS * STARTS_EACH };

static struct {
	struct gtp_pair *p;
	u8 *times_ended; /* by the number of a start */
	u64 wrong;
	u64 ended, no_start;
	u64 reads, unread;
	u32 running;
} many;

static u64 key_of(u64 id)
{
	return id * 7919 % SHARED_KEYS;
}

/* A start has its number as time and as one kept value, and its key as the other. */
static bool is_right(u64 key, u64 id, u64 since, u64 a, u64 b, u64 now)
{
	return id < IDS && key_of(id) == key && a == id && b == (key ^ id << 8) &&
	       since == now - id;
}

static void end_one(u32 cpu, u64 key)
{
	const u64 now = IDS;
	u64 own[OWN] = { 0 };

	if (!gtp_pair_end(many.p, cpu, key, now, own)) {
		gtp_fetch_add(&many.no_start, 1);
		return;
	}
	gtp_fetch_add(&many.ended, 1);
	if (!is_right(key, own[KEPT_A], own[SINCE], own[KEPT_A], own[KEPT_B], now))
		gtp_fetch_add(&many.wrong, 1);
	else
		gtp_fetch_add(&many.times_ended[own[KEPT_A]], 1);
}

static void *cpu_main(void *arg)
{
	u32 cpu = (u32)(unsigned long)arg;
	u64 seed = cpu + 1;

	for (u64 i = 0; i < STARTS_EACH; i++) {
		u64 id = cpu * STARTS_EACH + i, key = key_of(id);
		const u64 own[OWN] = { [KEPT_A] = id, [KEPT_B] = key ^ id << 8 };

		gtp_pair_start(many.p, cpu, key, id, own);
		if (next_random(&seed) % 4)
			end_one(cpu, next_random(&seed) % SHARED_KEYS);
	}
	gtp_fetch_add(&many.running, -1);
	return NULL;
}

/* Each bucket is read as of one moment: it has no key twice, and no mixed values. */
static void *reader_main(void *arg)
{
	struct gtp_pair_entry e[GTP_PAIR_SLOTS];

	while (READ_ONCE(many.running)) {
		for (u32 nr = 0; nr < many.p->nbuckets; nr++) {
			int n = gtp_pair_read(many.p, nr, e);

			many.reads++;
			many.unread += n < 0;
			for (int i = 0; i < n; i++) {
				if (!is_right(e[i].key, e[i].time, 0, e[i].kept[0], e[i].kept[1],
					      e[i].time))
					gtp_fetch_add(&many.wrong, 1);
				for (int k = 0; k < i; k++)
					if (e[k].key == e[i].key)
						gtp_fetch_add(&many.wrong, 1);
			}
		}
	}
	return NULL;
}

static void on_many_cpus(u32 entries)
{
	struct gtp_pair_entry *rest;
	struct gtp_pair_counts sum;
	pthread_t thread[CPUS + 1];
	u32 left;

	memset(&many, 0, sizeof(many));
	many.p = new_pair(entries, CPUS);
	many.times_ended = calloc(1, IDS);
	many.running = CPUS;
	for (unsigned long i = 0; i < CPUS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, cpu_main, (void *)i), 0);
	assert_int_equal(pthread_create(&thread[CPUS], NULL, reader_main, NULL), 0);
	for (u32 i = 0; i <= CPUS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(many.wrong, 0);
	assert_in_range(many.reads, 1, U64_MAX);
	rest = calloc(many.p->nbuckets * GTP_PAIR_SLOTS, sizeof(*rest));
	left = read_all(many.p, rest);
	/* The starts that are left have not ended, and none has ended twice. */
	for (u32 i = 0; i < left; i++)
		assert_int_equal(many.times_ended[rest[i].time], 0);
	for (u32 i = 0; i < IDS; i++)
		assert_in_range(many.times_ended[i], 0, 1);
	gtp_pair_sum(many.p, CPUS, &sum);
	assert_int_equal(sum.started, IDS);
	assert_int_equal(sum.ended, many.ended);
	assert_int_equal(sum.no_start + sum.end_gave_up, many.no_start);
	assert_int_equal(sum.started,
			 sum.ended + sum.restarted + sum.no_room + sum.start_gave_up + left);
	assert_in_range(sum.ended, IDS / 20, IDS);
	assert_in_range(sum.restarted, IDS / 20, IDS);
	print_message(
		"%llu ended, %llu restarted, %llu no room, %llu + %llu gave up, %llu unread\n",
		sum.ended, sum.restarted, sum.no_room, sum.start_gave_up, sum.end_gave_up,
		many.unread);
	free(rest);
	free(many.times_ended);
	free(many.p);
}

static void every_start_is_counted_once(void **state)
{
	on_many_cpus(64);
}

/* Two buckets for 24 keys: these are often full. */
static void with_full_buckets(void **state)
{
	on_many_cpus(1);
}

/* --- handing over --- */

enum { HANDED = 200000, RING = 16 };

static struct {
	struct gtp_pair *p;
	u64 key[RING];
	u64 put, got; /* how many keys have been handed over; how many of them are done */
	u64 wrong;
} ring;

static void *end_all(void *arg)
{
	for (u64 i = 0; i < HANDED; i++) {
		u64 own[OWN] = { 0 };

		while (gtp_acquire(&ring.put) == i)
			sched_yield();
		if (!gtp_pair_end(ring.p, 1, ring.key[i % RING], 2 * i, own) || own[SINCE] != i ||
		    own[KEPT_A] != i || own[KEPT_B] != ~i)
			ring.wrong++;
		gtp_publish(&ring.got, i + 1);
	}
	return NULL;
}

/* If a start is over before its end begins on another CPU, the end finds it, always. */
static void another_cpu_finds_it(void **state)
{
	pthread_t thread;

	memset(&ring, 0, sizeof(ring));
	ring.p = new_pair(RING * 4, 2);
	assert_int_equal(pthread_create(&thread, NULL, end_all, NULL), 0);
	for (u64 i = 0; i < HANDED; i++) {
		const u64 own[OWN] = { [KEPT_A] = i, [KEPT_B] = ~i };

		while (i - gtp_acquire(&ring.got) == RING)
			sched_yield();
		ring.key[i % RING] = 0xffff888000000000 + i % RING * 192;
		gtp_pair_start(ring.p, 0, ring.key[i % RING], i, own);
		gtp_publish(&ring.put, i + 1);
	}
	pthread_join(thread, NULL);
	assert_int_equal(ring.wrong, 0);
	expect_sum(ring.p, 2, &(struct gtp_pair_counts){ .started = HANDED, .ended = HANDED });
	free(ring.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_start_to_end),  cmocka_unit_test(the_last_start_counts),
		cmocka_unit_test(nothing_to_deliver), cmocka_unit_test(full_bucket),
		cmocka_unit_test(the_version_wraps),  cmocka_unit_test(there_is_room),
		cmocka_unit_test(like_the_model),     cmocka_unit_test(every_start_is_counted_once),
		cmocka_unit_test(with_full_buckets),  cmocka_unit_test(another_cpu_finds_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
