// SPDX-License-Identifier: GPL-2.0-only
/* Tests how the CPUs' frames are merged by time, and how tfind finds them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>
#include "plain_mem.h"
#include "trace/index.h"
#include "trace/tfile.h"

enum { CPUS = 300, BYTES = 8192 };

static struct gtp_buffer store[CPUS];
static struct gtp_buffer *bufs[CPUS];
static u64 memory[CPUS][BYTES / 8];
static struct gtp_restarts restarts[CPUS];
static const struct gtp_restarts *all_restarts[CPUS];
static struct gtp_index ix;

static int setup(void **state)
{
	for (u32 i = 0; i < CPUS; i++) {
		gtp_buffer_init(&store[i], memory[i], BYTES, false);
		bufs[i] = &store[i];
		restarts[i].n = 0;
		all_restarts[i] = &restarts[i];
	}
	return 0;
}

static int teardown(void **state)
{
	gtp_index_free(&ix, &plain_mem);
	plain_most = SIZE_MAX;
	return 0;
}

static void hit(u32 cpu, u64 time, u16 tp, u64 pc)
{
	assert_int_equal(gtp_buffer_begin(&store[cpu], tp, pc, time), 0);
	gtp_buffer_commit(&store[cpu], 0);
}

static void build(u32 nbufs)
{
	u64 n = 0;

	for (u32 i = 0; i < nbufs; i++)
		n += bufs[i] ? gtp_buffer_frames(bufs[i]) : 0;
	assert_int_equal(
		gtp_index_build(&ix, &plain_mem, bufs, all_restarts, nbufs, GTP_INDEX_MOST), 0);
	assert_int_equal(ix.n, n);
}

static void test_nothing(void **state)
{
	build(4);
	assert_int_equal(ix.n, 0);
	assert_null(gtp_index_at(&ix, 0)->frame);
	assert_true(gtp_index_at(&ix, 0)->offset == 0);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_NUMBER, 0, 0, 0), -1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_OUTSIDE, 1, 2, 0), -1);
}

static void test_order(void **state)
{
	static const u16 order[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	hit(0, 10, 1, 0);
	hit(1, 11, 2, 0);
	hit(3, 12, 4, 0);
	hit(1, 12, 3, 0); /* frames of equal times are ordered by CPU */
	hit(0, 20, 6, 0);
	hit(3, 13, 5, 0);
	hit(3, 30, 8, 0);
	hit(1, 30, 7, 0);
	bufs[2] = NULL;
	build(4);
	for (u32 i = 0; i < ARRAY_SIZE(order); i++)
		assert_int_equal(gtp_index_at(&ix, i)->frame->tp, order[i]);
}

/* If the clock goes back on one CPU, that CPU's frames keep their order. */
static void test_clock_goes_back(void **state)
{
	hit(0, 100, 1, 0);
	hit(0, 50, 2, 0);
	hit(0, 60, 3, 0);
	hit(1, 70, 4, 0);
	hit(1, 110, 5, 0);
	build(2);
	assert_int_equal(gtp_index_at(&ix, 0)->frame->tp, 4);
	assert_int_equal(gtp_index_at(&ix, 1)->frame->tp, 1);
	assert_int_equal(gtp_index_at(&ix, 2)->frame->tp, 2);
	assert_int_equal(gtp_index_at(&ix, 3)->frame->tp, 3);
	assert_int_equal(gtp_index_at(&ix, 4)->frame->tp, 5);
}

static void clock_begins_anew(u32 nbufs)
{
	for (u32 i = 0; i < nbufs; i++)
		gtp_restarts_note(&restarts[i], &store[i]);
}

/* The clock restarts after a sleep: frames from before the sleep come first. */
static void test_clock_begins_anew(void **state)
{
	hit(0, 1000, 1, 0);
	hit(2, 1001, 2, 0);
	clock_begins_anew(3);
	hit(1, 5, 3, 0); /* this CPU has no older frame */
	hit(0, 7, 5, 0);
	hit(2, 6, 4, 0);
	clock_begins_anew(3);
	clock_begins_anew(3);
	hit(0, 2000, 7, 0);
	hit(2, 1, 6, 0);
	build(3);
	for (u32 i = 0; i < 7; i++)
		assert_int_equal(gtp_index_at(&ix, i)->frame->tp, i + 1);
}

/* Of many restarts only the newest are known. Their positions include frames that were dropped. */
static void test_clock_begins_anew_often(void **state)
{
	enum { SLEEPS = GTP_RESTARTS_MAX + 10 };

	gtp_buffer_init(&store[0], memory[0], 128, true);
	for (u32 i = 0; i < SLEEPS; i++) {
		hit(i % 2, 1000000 - i, (u16)i, i);
		clock_begins_anew(2);
	}
	hit(0, 1, SLEEPS, 0);
	build(2);
	assert_int_equal(restarts[0].n, GTP_RESTARTS_MAX);
	for (u32 i = ix.n - 10; i < ix.n; i++)
		assert_true(gtp_index_at(&ix, i)->frame->tp > gtp_index_at(&ix, i - 1)->frame->tp);
	assert_int_equal(gtp_index_at(&ix, ix.n - 1)->frame->tp, SLEEPS);
}

static u64 rng = 88172645463325252;

static u32 random_below(u32 n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (u32)(rng >> 20) % n;
}

/*
 * With many CPUs and few different times: each frame occurs once, times ascend, frames of equal
 * times are ordered by CPU, and the frames of a CPU keep their order.
 */
static void test_many(void **state)
{
	static u32 next[CPUS];
	u32 cpu = 0, total = 0;

	for (u32 i = 0; i < CPUS; i++) {
		u32 n = random_below(4) ? random_below(40) : 0;
		u64 time = 0;

		next[i] = 0;
		total += n;
		for (u32 k = 0; k < n; k++) {
			time += random_below(3);
			hit(i, time, (u16)k, i);
		}
	}
	build(CPUS);
	assert_int_equal(ix.n, total);
	for (u32 i = 0; i < ix.n; i++) {
		const struct gtp_frame *f = gtp_index_at(&ix, i)->frame;
		const struct gtp_frame *last = i ? gtp_index_at(&ix, i - 1)->frame : f;

		assert_true(f->time >= last->time);
		if (f->time == last->time)
			assert_true(f->pc >= cpu);
		cpu = (u32)f->pc;
		assert_int_equal(f->tp, next[cpu]++);
	}
}

static void test_circular_buffer(void **state)
{
	gtp_buffer_init(&store[0], memory[0], 128, true);
	for (u16 i = 0; i < 100; i++)
		hit(0, i, i, i);
	build(1);
	assert_int_equal(ix.n, 5);
	assert_int_equal(gtp_index_at(&ix, 0)->frame->tp, 95);
	assert_int_equal(gtp_index_at(&ix, 4)->frame->tp, 99);
}

static void test_offsets(void **state)
{
	u64 offset = 0;

	hit(0, 1, 1, 1);
	assert_int_equal(gtp_buffer_begin(&store[1], 2, 2, 2), 0);
	assert_int_equal(gtp_buffer_add_var(&store[1], 1, 1), 0);
	gtp_buffer_commit(&store[1], 0);
	hit(0, 3, 1, 1);
	build(2);
	for (u32 i = 0; i < 3; i++) {
		assert_true(gtp_index_at(&ix, i)->offset == offset);
		offset += gtp_tfile_frame_size(gtp_index_at(&ix, i)->frame, NULL);
	}
	assert_null(gtp_index_at(&ix, 3)->frame);
	assert_true(gtp_index_at(&ix, 3)->offset == offset && offset == 6 + 6 + 13 + 6);
}

static void test_find(void **state)
{
	static const u64 pc[] = { 0x100, 0x200, 0x300, 0x200, 0x100 };

	for (u32 i = 0; i < ARRAY_SIZE(pc); i++)
		hit(0, i, (u16)(i % 2 + 1), pc[i]);
	build(1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_NUMBER, 4, 0, 3), 4);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_NUMBER, 0, 0, 3), 0);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_NUMBER, 5, 0, 0), -1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_NUMBER, ~0ULL, 0, 0), -1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_NUMBER, 1ULL << 32, 0, 0), -1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_PC, 0x200, 0, 0), 1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_PC, 0x200, 0, 1), 1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_PC, 0x200, 0, 2), 3);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_PC, 0x200, 0, 4), -1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_TP, 2, 0, 0), 1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_TP, 2, 0, 4), -1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_TP, 65537, 0, 0), -1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_RANGE, 0x200, 0x300, 0), 1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_RANGE, 0x201, 0x300, 0), 2);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_RANGE, 0x101, 0x1ff, 0), -1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_RANGE, 0x300, 0x200, 0), -1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_OUTSIDE, 0x100, 0x200, 0), 2);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_OUTSIDE, 0x101, 0x1ff, 0), 0);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_OUTSIDE, 0x100, 0x300, 0), -1);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_PC, 0x100, 0, U32_MAX), -1);
}

#define test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* The last progress of each kind of work, indexed by the first letter of its description. */
static u32 done_of[128];

static void note_progress(void *ctx, const char *what, u32 done, u32 total)
{
	u32 *last = &done_of[(u8)what[0]];

	assert_ptr_equal(ctx, done_of);
	assert_true(done > *last && done - *last <= 100000);
	assert_int_equal(total, ix.n);
	*last = done;
}

/* Building and searching a large index calls ->progress at least every 100,000 frames. */
static void test_long_work_tells(void **state)
{
	enum { FRAMES = 250000, SIZE = FRAMES * sizeof(struct gtp_frame) };
	void *mem = malloc(SIZE);

	gtp_buffer_init(&store[0], mem, SIZE, false);
	for (u32 i = 0; i < FRAMES; i++)
		hit(0, i, 1, 0x100);
	ix.progress = note_progress;
	ix.ctx = done_of;
	build(1);
	assert_in_range(done_of['n'], FRAMES - 100000, FRAMES);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_TP, 2, 0, 0), -1);
	assert_in_range(done_of['s'], FRAMES - 100000, FRAMES);
	ix.progress = NULL;
	free(mem);
}

enum { LONG = 3 * GTP_INDEX_CHUNK + 7 };

/* Make two buffers of frames that alternate in time. Each frame has its number. */
static void *long_run(void)
{
	enum { SIZE = LONG / 2 * sizeof(struct gtp_frame) };
	u8 *mem = malloc(2 * SIZE + 2 * sizeof(struct gtp_frame));

	gtp_buffer_init(&store[0], mem, SIZE + sizeof(struct gtp_frame), false);
	gtp_buffer_init(&store[1], mem + SIZE + sizeof(struct gtp_frame),
			SIZE + sizeof(struct gtp_frame), false);
	for (u32 i = 0; i < LONG; i++)
		hit(i % 2, i, (u16)(i % 1000), i);
	return mem;
}

/* No allocation exceeds 2 MiB, however many frames there are: the kernel allows at most 2 GiB. */
static void test_more_frames_than_an_allocation_holds(void **state)
{
	void *mem = long_run();
	u64 offset = 0;

	plain_most = 2 << 20;
	build(2);
	assert_int_equal(ix.n, LONG);
	for (u32 i = 0; i < LONG; i++) {
		assert_true(gtp_index_at(&ix, i)->frame->pc == i);
		assert_true(gtp_index_at(&ix, i)->offset == offset);
		offset += gtp_tfile_frame_size(gtp_index_at(&ix, i)->frame, NULL);
	}
	assert_true(gtp_index_at(&ix, LONG)->offset == offset);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_PC, LONG - 1, 0, 0), LONG - 1);
	gtp_index_free(&ix, &plain_mem);
	free(mem);
}

static bool wanted(const struct gtp_frame *f, enum gtp_find how, u64 a, u64 b)
{
	switch (how) {
	case GTP_FIND_PC:
		return f->pc == a;
	case GTP_FIND_TP:
		return f->tp == a;
	case GTP_FIND_RANGE:
		return f->pc >= a && f->pc <= b;
	default:
		return f->pc < a || f->pc > b;
	}
}

static s64 look_at_each(enum gtp_find how, u64 a, u64 b, u32 from)
{
	for (u32 i = from; i < ix.n; i++)
		if (wanted(gtp_index_at(&ix, i)->frame, how, a, b))
			return i;
	return -1;
}

/*
 * The search for a rarely hit tracepoint finds all of its frames. Some other tracepoints have
 * numbers with the same low bits.
 */
static void test_nothing_is_passed_over(void **state)
{
	enum { FRAMES = 2 * GTP_INDEX_CHUNK + 333, SIZE = FRAMES * sizeof(struct gtp_frame) };
	void *mem = malloc(SIZE);
	u32 rare = 0;

	srand(4711);
	gtp_buffer_init(&store[0], mem, SIZE, false);
	for (u32 i = 0; i < FRAMES; i++) {
		u32 tp = rand() % 3000 ? 1 + i / 40000 : 64 + (u32)rand() % 8;

		rare += tp >= 64;
		hit(0, i, (u16)tp, 0x1000 + tp * 16);
	}
	build(1);
	assert_in_range(rare, 10, 200);
	for (u32 i = 0; i < 600; i++) {
		enum gtp_find how = GTP_FIND_PC + i % 4;
		u64 tp = i % 3 ? 64 + rand() % 9 : rand() % 6, a = 0x1000 + tp * 16;
		u64 b = a + 16 * (rand() % 4);
		u32 from = rand() % 4 ? rand() % FRAMES : 0;

		if (how == GTP_FIND_TP)
			a = tp;
		assert_int_equal(gtp_index_find(&ix, how, a, b, from),
				 look_at_each(how, a, b, from));
	}
	free(mem);
}

/* If there are more frames than GDB can count, only the oldest get numbers. */
static void test_more_frames_than_numbers(void **state)
{
	for (u16 i = 0; i < 10; i++)
		hit(i % 2, i, i, i);
	assert_int_equal(gtp_index_build(&ix, &plain_mem, bufs, NULL, 2, 7), 0);
	assert_int_equal(ix.n, 7);
	for (u32 i = 0; i < 7; i++)
		assert_int_equal(gtp_index_at(&ix, i)->frame->tp, i);
	assert_null(gtp_index_at(&ix, 7)->frame);
	assert_int_equal(gtp_index_find(&ix, GTP_FIND_NUMBER, 7, 0, 0), -1);
}

/* If any allocation fails, nothing is left, and the next try works. */
static void test_no_memory(void **state)
{
	static const size_t most[] = { 4, 64, 65536, 900000 };
	void *mem = long_run();

	for (u32 i = 0; i < ARRAY_SIZE(most); i++) {
		plain_most = most[i];
		assert_int_equal(gtp_index_build(&ix, &plain_mem, bufs, NULL, 2, GTP_INDEX_MOST),
				 -ENOMEM);
		assert_null(ix.chunk);
		assert_int_equal(ix.chunks, 0);
		assert_int_equal(ix.n, 0);
	}
	plain_most = SIZE_MAX;
	build(2);
	gtp_index_free(&ix, &plain_mem);
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_nothing),
		test(test_order),
		test(test_clock_goes_back),
		test(test_clock_begins_anew),
		test(test_clock_begins_anew_often),
		test(test_many),
		test(test_circular_buffer),
		test(test_offsets),
		test(test_find),
		test(test_long_work_tells),
		test(test_more_frames_than_an_allocation_holds),
		test(test_nothing_is_passed_over),
		test(test_more_frames_than_numbers),
		test(test_no_memory),
	};

	return cmocka_run_group_tests_name("index", tests, NULL, NULL);
}
