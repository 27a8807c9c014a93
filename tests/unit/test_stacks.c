// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the table of stacks: each different stack has its own number, stacks without room are
 * counted, and all CPUs add at the same time.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include "hit/stacks.h"
#include <cmocka.h>

enum { CPUS = 4 };

static struct gtp_stacks *make(u32 bytes)
{
	return gtp_stacks_init(calloc(1, gtp_stacks_bytes(bytes, CPUS)), bytes, CPUS);
}

/* Make the @i-th stack of a test. All stacks have different addresses; the depths differ, too. */
static u32 fill(u64 *pc, u32 i)
{
	u32 n = 1 + i % 40;

	for (u32 k = 0; k < n; k++)
		pc[k] = 0xffffffff81000000 + i * 4096 + k;
	return n;
}

static u32 put(struct gtp_stacks *s, u32 i)
{
	u64 pc[GTP_STACKS_TAKE];

	return gtp_stacks_put(s, pc, fill(pc, i));
}

static void expect(const struct gtp_stacks *s, u32 id, u32 i)
{
	u64 pc[GTP_STACKS_TAKE];
	u32 n = 0, want = fill(pc, i);
	const u64 *got = gtp_stacks_get(s, id, &n);

	assert_non_null(got);
	assert_int_equal(n, want);
	assert_memory_equal(got, pc, n * sizeof(*pc));
}

static void one_number_for_each(void **state)
{
	struct gtp_stacks *s = make(1 << 20);
	u32 id[300], i;

	for (i = 0; i < 300; i++)
		id[i] = put(s, i);
	for (i = 0; i < 300; i++) {
		assert_int_not_equal(id[i], 0);
		assert_int_equal(put(s, i), id[i]);
		expect(s, id[i], i);
	}
	assert_int_equal(s->count, 300);
	assert_int_equal(s->no_room, 0);
	free(s);
}

/* Fold a hash as hit/stacks.c does before it adds the next address. */
static u64 folded(u64 h)
{
	return h ^ h >> 32;
}

/*
 * Make two stacks of two addresses with the same hash: the difference of the second addresses
 * cancels that of the first addresses.
 */
static void collide(u64 *a, u64 *b)
{
	const u64 golden = 0x9e3779b97f4a7c15;

	a[0] = 0xffffffff81000000;
	a[1] = 0xffffffff81234567;
	b[0] = 0xffffffff81000010;
	b[1] = folded((2 ^ a[0]) * golden) ^ a[1] ^ folded((2 ^ b[0]) * golden);
}

static void the_whole_stack_decides(void **state)
{
	struct gtp_stacks *s = make(1 << 16);
	u64 a[2], b[2], longer[3];
	u32 first, second, third, n, i, hashes = 0;

	collide(a, b);
	first = gtp_stacks_put(s, a, 2);
	second = gtp_stacks_put(s, b, 2);
	assert_int_not_equal(first, second);
	/* The hashes of the two stacks must be equal, or this test would prove nothing. */
	for (i = 0; i <= s->mask; i++)
		for (n = 0; n <= s->mask; n++)
			if (i != n && s->slot[i] && s->slot[i] >> 32 == s->slot[n] >> 32)
				hashes++;
	assert_int_equal(hashes, 2);
	assert_memory_equal(gtp_stacks_get(s, first, &n), a, sizeof(a));
	assert_memory_equal(gtp_stacks_get(s, second, &n), b, sizeof(b));
	assert_int_equal(gtp_stacks_put(s, a, 2), first);
	assert_int_equal(gtp_stacks_put(s, b, 2), second);
	/* A stack that begins with all addresses of another is a different stack. */
	memcpy(longer, a, sizeof(a));
	longer[2] = 0;
	third = gtp_stacks_put(s, longer, 3);
	assert_true(third != first && third != second);
	assert_int_equal(s->count, 3);
	free(s);
}

static void a_full_table_counts(void **state)
{
	struct gtp_stacks *s = make(GTP_STACKS_BYTES_MIN);
	u32 id[200], i, refused = 0;

	for (i = 0; i < 200; i++) {
		id[i] = put(s, i);
		refused += !id[i];
	}
	assert_true(refused > 100);
	assert_int_equal(s->no_room, refused);
	assert_int_equal(s->count, 200 - refused);
	assert_true(s->used <= s->words);
	/* A stack keeps its number. */
	for (i = 0; i < 200; i++) {
		if (!id[i])
			continue;
		assert_int_equal(put(s, i), id[i]);
		expect(s, id[i], i);
	}
	assert_int_equal(s->no_room, refused);
	free(s);
}

static void a_deep_stack_is_cut(void **state)
{
	struct gtp_stacks *s = make(1 << 16);
	u64 pc[GTP_STACKS_TAKE];
	u32 i, id, n;

	for (i = 0; i < GTP_STACKS_TAKE; i++)
		pc[i] = i + 1;
	id = gtp_stacks_put(s, pc, GTP_STACKS_TAKE - 1);
	assert_int_equal(s->cut, 0);
	assert_int_equal(gtp_stacks_put(s, pc, GTP_STACKS_TAKE), id);
	assert_int_equal(s->cut, 1);
	assert_memory_equal(gtp_stacks_get(s, id, &n), pc, GTP_STACKS_DEPTH * sizeof(*pc));
	assert_int_equal(n, GTP_STACKS_DEPTH);
	free(s);
}

/* Numbers that are not the number of a stack have no addresses. */
static void numbers_that_are_none(void **state)
{
	struct gtp_stacks *s = make(1 << 16);
	u32 id, n, known = 0;

	for (id = 0; id < 50; id++)
		put(s, id);
	/* Addresses of this stack look like the count at the beginning of a stack in the table. */
	gtp_stacks_put(s, (u64[]){ 1, 1, 1, 2, 3, 1 }, 6);
	for (id = 0; id < s->words + 10; id++)
		known += !!gtp_stacks_get(s, id, &n);
	assert_int_equal(known, 51);
	assert_null(gtp_stacks_get(s, U32_MAX, &n));
	free(s);
}

static void each_cpu_has_room_of_its_own(void **state)
{
	struct gtp_stacks *s = make(GTP_STACKS_BYTES_MIN + 8);
	char *end = (char *)s + gtp_stacks_bytes(GTP_STACKS_BYTES_MIN + 8, CPUS);

	for (u32 cpu = 0; cpu < CPUS; cpu++)
		memset(gtp_stacks_scratch(s, cpu), 0xff, GTP_STACKS_SCRATCH * sizeof(u64));
	memset(s->walk, 0xff, sizeof(*s->walk));
	assert_ptr_equal(gtp_stacks_scratch(s, CPUS), end);
	assert_int_not_equal(put(s, 3), 0);
	assert_true(s->word + s->words <= s->scratch);
	free(s);
}

/* --- all CPUs at once --- */

enum { ROUNDS = 200, DIFFERENT = 500 };

static struct {
	struct gtp_stacks *s;
	pthread_barrier_t begin;
	u32 id[CPUS][DIFFERENT];
} many;

static void *add_all(void *arg)
{
	u32 *id = arg, i;

	pthread_barrier_wait(&many.begin);
	for (i = 0; i < DIFFERENT; i++)
		id[i] = put(many.s, i);
	return NULL;
}

static void add_at_once(void)
{
	pthread_t thread[CPUS];
	u32 i, cpu, words = 1;

	for (i = 0; i < CPUS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, add_all, many.id[i]), 0);
	for (i = 0; i < CPUS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < DIFFERENT; i++) {
		for (cpu = 1; cpu < CPUS; cpu++)
			assert_int_equal(many.id[cpu][i], many.id[0][i]);
		expect(many.s, many.id[0][i], i);
		words += 2 + i % 40;
	}
	assert_int_equal(many.s->count, DIFFERENT);
	assert_int_equal(many.s->no_room, 0);
	/* Only words that the other CPUs had reserved at the same time may be lost. */
	assert_in_range(many.s->used, words, CPUS * words);
}

static void all_cpus_agree(void **state)
{
	pthread_barrier_init(&many.begin, NULL, CPUS);
	for (u32 i = 0; i < ROUNDS; i++) {
		many.s = make(1 << 20);
		add_at_once();
		free(many.s);
	}
	pthread_barrier_destroy(&many.begin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_number_for_each),
		cmocka_unit_test(the_whole_stack_decides),
		cmocka_unit_test(a_full_table_counts),
		cmocka_unit_test(a_deep_stack_is_cut),
		cmocka_unit_test(numbers_that_are_none),
		cmocka_unit_test(each_cpu_has_room_of_its_own),
		cmocka_unit_test(all_cpus_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
