// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the rings for lines of dprintfs. A reader gets each line in order, or the line is counted
 * as dropped, also while the writer is writing.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include "hit/lines.h"
#include <cmocka.h>

enum { TEXT_MOST = 300, ROUNDS = 100000 };

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct gtp_lines));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

/* Write the text of line @n: the number determines its length and each byte. */
static u32 text_of(u32 n, char *text)
{
	u32 len = n * 7919 % (TEXT_MOST + 1), i;

	for (i = 0; i < len; i++)
		text[i] = (char)(n + i);
	return len;
}

static bool put(struct gtp_lines *r, u32 n)
{
	char text[TEXT_MOST];
	struct gtp_line line = { .len = text_of(n, text), .time = n, .addr = n * 3ULL };

	return gtp_lines_put(r, &line, text);
}

static void take(struct gtp_lines *r, u32 n)
{
	const struct gtp_line *line = gtp_lines_first(r);
	char text[TEXT_MOST];

	assert_non_null(line);
	assert_int_equal(line->time, n);
	assert_int_equal(line->addr, n * 3ULL);
	assert_int_equal(line->len, text_of(n, text));
	assert_memory_equal(line + 1, text, line->len);
	gtp_lines_next(r);
}

static void nothing_comes_out_of_an_empty_ring(void **state)
{
	assert_null(gtp_lines_first(*state));
	assert_int_equal(gtp_lines_dropped(*state), 0);
}

/* Lines are read as they were written, also where they cross the end of the ring. */
static void lines_come_out_as_they_went_in(void **state)
{
	u32 in = 0, out = 0;

	while (out < ROUNDS) {
		u32 burst = in % 13 + 1;

		while (burst--)
			assert_true(put(*state, in++));
		while (out < in)
			take(*state, out++);
	}
	assert_null(gtp_lines_first(*state));
}

static void a_full_ring_drops_and_counts(void **state)
{
	struct gtp_lines *r = *state;
	u32 in = 0, n;

	while (put(r, in))
		in++;
	assert_in_range(in, GTP_LINES_SIZE / (TEXT_MOST + 64),
			GTP_LINES_SIZE / sizeof(struct gtp_line));
	assert_int_equal(gtp_lines_dropped(r), 1);
	assert_int_equal(gtp_lines_dropped(r), 0);
	for (n = 0; n < 5; n++)
		assert_false(put(r, in));
	assert_int_equal(gtp_lines_dropped(r), 5);
	for (n = 0; n < in; n++)
		take(r, n);
	assert_null(gtp_lines_first(r));
	assert_true(put(r, 42));
	take(r, 42);
}

/* A ring can be filled to the last byte, wherever the first line begins. */
static void a_ring_can_be_filled_to_its_end(void **state)
{
	struct gtp_lines *r = *state;
	struct gtp_line line = { .len = 64 - sizeof(line) };
	char text[64] = "";
	u32 start, n;

	for (start = 0; start < 3; start++) {
		for (n = 0; n < GTP_LINES_SIZE / 64; n++)
			assert_true(gtp_lines_put(r, &line, text));
		assert_false(gtp_lines_put(r, &line, text));
		assert_int_equal(gtp_lines_dropped(r), 1);
		while (gtp_lines_first(r))
			gtp_lines_next(r);
		assert_true(gtp_lines_put(r, &line, text));
		gtp_lines_first(r);
		gtp_lines_next(r);
	}
}

static void the_oldest_of_all_rings_comes_first(void **state)
{
	struct gtp_lines *all[] = { *state, NULL, calloc(1, sizeof(*all[0])) };

	assert_null(gtp_lines_oldest(all, 3, U64_MAX));
	assert_true(put(all[2], 1));
	assert_true(put(all[0], 2));
	assert_true(put(all[0], 4));
	assert_true(put(all[2], 3));
	for (u32 n = 1; n <= 4; n++)
		take(gtp_lines_oldest(all, 3, U64_MAX), n);
	assert_null(gtp_lines_oldest(all, 3, U64_MAX));
	free(all[2]);
}

/* A line of CPU 1 is not read before a line of CPU 0 whose clock was read earlier. */
static void a_line_waits_for_an_earlier_one(void **state)
{
	struct gtp_lines *all[] = { *state, calloc(1, sizeof(*all[0])) };

	assert_true(put(all[1], 11));
	assert_null(gtp_lines_oldest(all, 2, 10));
	assert_true(gtp_lines_wait(all, 2));
	assert_true(put(all[0], 10));
	assert_true(put(all[0], 12));
	take(gtp_lines_oldest(all, 2, 12), 10);
	take(gtp_lines_oldest(all, 2, 12), 11);
	assert_null(gtp_lines_oldest(all, 2, 12));
	take(gtp_lines_oldest(all, 2, 13), 12);
	assert_false(gtp_lines_wait(all, 2));
	free(all[1]);
}

/* A line with a future time, as after the clock was set back, is read after one wait. */
static void a_line_waits_once(void **state)
{
	struct gtp_lines *all[] = { *state };

	assert_true(put(all[0], 1000));
	assert_null(gtp_lines_oldest(all, 1, 10));
	gtp_lines_see(all[0]);
	assert_true(put(all[0], 2000));
	take(gtp_lines_oldest(all, 1, 11), 1000);
	assert_null(gtp_lines_oldest(all, 1, 11));
	gtp_lines_see(all[0]);
	take(gtp_lines_oldest(all, 1, 12), 2000);
}

/* --- a writer and a reader at once --- */

static struct {
	u32 put, dropped;
	bool done;
} writer;

static void *write_many(void *arg)
{
	for (u32 n = 0; n < ROUNDS; n++) {
		if (put(arg, n))
			writer.put++;
		else
			writer.dropped++;
	}
	gtp_publish(&writer.done, true);
	return NULL;
}

/* Read all lines; their numbers must rise. The caller checks how many there were. */
static u32 read_all(struct gtp_lines *r, s64 *last)
{
	const struct gtp_line *line;
	u32 n = 0;

	while ((line = gtp_lines_first(r))) {
		u32 number = (u32)line->time;

		assert_true(number > *last);
		*last = number;
		take(r, number);
		n++;
	}
	return n;
}

static void a_reader_beside_sees_whole_lines(void **state)
{
	pthread_t thread;
	s64 last = -1;
	u32 n = 0;

	memset(&writer, 0, sizeof(writer));
	assert_int_equal(pthread_create(&thread, NULL, write_many, *state), 0);
	while (!gtp_acquire(&writer.done))
		n += read_all(*state, &last);
	pthread_join(thread, NULL);
	n += read_all(*state, &last);
	assert_int_equal(writer.put + writer.dropped, ROUNDS);
	assert_int_equal(n, writer.put);
	assert_int_equal(gtp_lines_dropped(*state), writer.dropped);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(nothing_comes_out_of_an_empty_ring),
		T(lines_come_out_as_they_went_in),
		T(a_full_ring_drops_and_counts),
		T(a_ring_can_be_filled_to_its_end),
		T(the_oldest_of_all_rings_comes_first),
		T(a_line_waits_for_an_earlier_one),
		T(a_line_waits_once),
		T(a_reader_beside_sees_whole_lines),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
