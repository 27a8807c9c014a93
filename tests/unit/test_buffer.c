// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the ring buffer of frames: compares random operations with a model, then tests edge cases.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "trace/buffer.h"

/* ---- a model: frames as a list of intervals on the ring, with a copy of what they contain ---- */

enum { MODEL_SPANS = 4096 };

struct span {
	u32 pos, len;
	bool pad;
	u8 *bytes; /* the contents after the frame's head */
};

struct model {
	u32 size;
	bool circular;
	struct span span[MODEL_SPANS];
	u32 first, last; /* the frames in the ring: span[first] to span[last - 1] */
	u32 head;
	u32 open;
	u8 *bytes;
	u64 created;
};

static u64 rng;

static u32 random_below(u32 n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (u32)(rng >> 20) % n;
}

static bool overlap(const struct span *s, u32 pos, u32 len)
{
	return s->pos < pos + len && pos < s->pos + s->len;
}

static void model_drop_overlapping(struct model *m, u32 pos, u32 len)
{
	for (u32 i = m->last; i-- > m->first;) {
		if (!overlap(&m->span[i], pos, len))
			continue;
		while (m->first <= i)
			free(m->span[m->first++].bytes);
		return;
	}
}

static void model_push(struct model *m, u32 pos, u32 len, bool pad, u8 *bytes)
{
	assert_true(m->last < MODEL_SPANS);
	m->span[m->last++] = (struct span){ pos, len, pad, bytes };
}

/* Grow the open frame to @need bytes; return false if there is no room. */
static bool model_grow(struct model *m, u32 need)
{
	u32 end = m->size - m->head;

	if (need > GTP_FRAME_MAX || need > m->size)
		return false;
	if (!m->circular) {
		if (need > end || (m->first < m->last && !m->head))
			return false;
	} else if (need > end) {
		/*
		 * The frame moves from the end of the ring to the front. Frames at the front are
		 * newer, so look there first.
		 */
		model_drop_overlapping(m, 0, need);
		model_drop_overlapping(m, m->head, end);
		if (m->first < m->last)
			model_push(m, m->head, end, true, NULL);
		m->head = 0;
	} else {
		model_drop_overlapping(m, m->head, need);
	}
	m->open = need;
	return true;
}

static bool model_is_free(const struct model *m, u32 pos, u32 len)
{
	for (u32 i = m->first; i < m->last; i++)
		if (overlap(&m->span[i], pos, len))
			return false;
	return pos + len <= m->size;
}

/*
 * Make room for a frame of @bytes like gtp_buffer_make_room(); @at_end: there is no room for it up
 * to the end of the ring.
 */
static bool model_room(struct model *m, u32 bytes, bool at_end)
{
	u32 want = m->size / 16 < 4096 ? m->size / 16 : 4096;
	u32 end = m->size - m->head;

	if (!at_end && model_is_free(m, m->head, bytes))
		return true;
	if (!m->circular || bytes > m->size)
		return false;
	want = want > bytes ? want : bytes;
	if (bytes > end)
		return model_grow(m, want);
	model_drop_overlapping(m, m->head, want < end ? want : end);
	return true;
}

static void model_commit(struct model *m)
{
	u32 n = m->open - (u32)sizeof(struct gtp_frame);
	u8 *copy = malloc(n + 1);

	memcpy(copy, m->bytes, n);
	model_push(m, m->head, m->open, false, copy);
	m->head = (m->head + m->open) % m->size;
	m->open = 0;
	m->created++;
}

static void compare(const struct model *m, const struct gtp_buffer *b)
{
	const struct gtp_frame *f = NULL;
	u32 frames = 0, used = 0;

	for (u32 i = m->first; i < m->last; i++) {
		const struct span *s = &m->span[i];

		used += s->len;
		if (s->pad)
			continue;
		f = gtp_buffer_next(b, f);
		assert_non_null(f);
		assert_ptr_equal(f, b->mem + s->pos);
		assert_int_equal(f->size, s->len);
		assert_memory_equal(f + 1, s->bytes, s->len - sizeof(*f));
		frames++;
	}
	/* After the last frame, or if there is none, gtp_buffer_next() returns NULL. */
	assert_true(b->head <= b->end && b->end <= b->size);
	assert_null(frames ? gtp_buffer_next(b, f) : gtp_buffer_next(b, NULL));
	assert_int_equal(gtp_buffer_frames(b), frames);
	assert_int_equal(b->created, m->created);
	/* If there are no frames, the ring may still count padding. */
	if (frames)
		assert_int_equal(gtp_buffer_used(b), used);
}

/* Check the size and the contents of the open frame, which may have moved. */
static void compare_open(const struct model *m, const struct gtp_buffer *b)
{
	assert_int_equal(b->open, m->open);
	assert_memory_equal(b->mem + b->head + sizeof(struct gtp_frame), m->bytes,
			    m->open - sizeof(struct gtp_frame));
}

static bool both_reserve(struct model *m, struct gtp_buffer *b, u32 bytes)
{
	u32 at = m->open;
	u8 *p = gtp_buffer_reserve(b, bytes);
	bool ok = model_grow(m, at + bytes);

	assert_int_equal(!!p, ok);
	if (!p)
		return false;
	assert_ptr_equal(p, b->mem + b->head + at);
	for (u32 i = 0; i < bytes; i++)
		p[i] = (u8)random_below(256);
	memcpy(m->bytes + at - sizeof(struct gtp_frame), p, bytes);
	compare_open(m, b);
	return true;
}

static u32 random_room(u32 size)
{
	switch (random_below(8)) {
	case 0:
		return 0;
	case 1:
		return random_below(size / 8 + 2) * 8;
	case 2:
		return random_below(size / 24 + 1) * 8;
	default:
		return random_below(8) * 8;
	}
}

/* Write a frame, commit or abort it, and compare. Return false if the buffer is full. */
static bool random_frame(struct model *m, struct gtp_buffer *b)
{
	u16 tp = (u16)random_below(65536);
	bool ok = !gtp_buffer_begin(b, tp, rng, ~rng);

	assert_int_equal(ok, model_grow(m, sizeof(struct gtp_frame)));
	if (!ok)
		return false;
	for (u32 n = random_below(6); ok && n--;) {
		u32 mark = gtp_buffer_mark(b);

		ok = both_reserve(m, b, random_room(m->size));
		if (ok && !random_below(4)) {
			gtp_buffer_rewind(b, mark);
			m->open = mark;
			compare_open(m, b);
		}
		compare(m, b);
	}
	if (!ok || !random_below(8)) {
		gtp_buffer_abort(b);
		m->open = 0;
	} else {
		model_commit(m);
		gtp_buffer_commit(b, 0);
	}
	compare(m, b);
	return ok;
}

/*
 * Write a frame in one step, like a hit whose frame has a known size. Return false if the buffer is
 * full.
 */
static bool random_quick_frame(struct model *m, struct gtp_buffer *b)
{
	u32 bytes = (u32)sizeof(struct gtp_frame) + random_room(m->size);
	bool ok = gtp_buffer_has_room(b, bytes), at_end = b->head == b->size;
	struct gtp_frame *f;

	if (!ok)
		ok = gtp_buffer_make_room(b, bytes);
	assert_int_equal(ok, model_room(m, bytes, at_end));
	compare(m, b);
	if (!ok)
		return false;
	assert_true(gtp_buffer_has_room(b, bytes));
	f = gtp_buffer_room(b);
	*f = (struct gtp_frame){ .size = bytes };
	for (u32 i = sizeof(*f); i < bytes; i++)
		((u8 *)f)[i] = (u8)random_below(256);
	memcpy(m->bytes, f + 1, bytes - sizeof(*f));
	m->open = bytes;
	model_commit(m);
	gtp_buffer_push(b, bytes);
	compare(m, b);
	return true;
}

static void model_exit(struct model *m)
{
	while (m->first < m->last)
		free(m->span[m->first++].bytes);
	free(m->bytes);
	free(m);
}

static void random_run(u64 seed, u32 size, bool circular)
{
	struct model *m = calloc(1, sizeof(*m));
	u8 *mem = malloc(size);
	struct gtp_buffer b;

	m->size = size;
	m->circular = circular;
	m->bytes = calloc(1, size);
	rng = seed;
	gtp_buffer_init(&b, mem, size, circular);
	for (u32 i = 0; i < 1500; i++)
		(random_below(3) ? random_frame : random_quick_frame)(m, &b);
	model_exit(m);
	free(mem);
}

static void test_random(void **state)
{
	static const u32 sizes[] = { 24, 32, 56, 64, 104, 256, 1000, GTP_BUFFER_MIN };
	const char *env = getenv("GTP_SEED");
	u64 seed = env ? strtoull(env, NULL, 0) : 20240607;

	print_message("GTP_SEED=%llu\n", seed);
	for (u32 i = 0; i < 12; i++) {
		for (u32 s = 0; s < ARRAY_SIZE(sizes); s++)
			random_run(seed + i, sizes[s], i % 4);
	}
}

/* ---- edges ---- */

static u64 ring[GTP_BUFFER_MIN / 8];

static void frame_of(struct gtp_buffer *b, u16 tp, u32 bytes)
{
	assert_int_equal(gtp_buffer_begin(b, tp, 0x1000 + tp, 10 * tp), 0);
	assert_non_null(gtp_buffer_reserve(b, bytes - (u32)sizeof(struct gtp_frame)));
	gtp_buffer_commit(b, 0);
}

/* Return the numbers of the frames in the buffer as text. */
static const char *numbers(const struct gtp_buffer *b)
{
	static char text[256];
	const struct gtp_frame *f = NULL;
	size_t n = 0;

	text[0] = '\0';
	while ((f = gtp_buffer_next(b, f)))
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u", n ? " " : "", f->tp);
	return text;
}

static void test_head_fields(void **state)
{
	const struct gtp_frame *f;
	struct gtp_buffer b;

	gtp_buffer_init(&b, ring, sizeof(ring), false);
	assert_null(gtp_buffer_next(&b, NULL));
	assert_int_equal(gtp_buffer_begin(&b, 7, 0xffffffff81000000, 123456789), 0);
	gtp_buffer_commit(&b, GTP_FRAME_PARTIAL);
	f = gtp_buffer_next(&b, NULL);
	assert_int_equal(f->size, sizeof(*f));
	assert_int_equal(f->tp, 7);
	assert_int_equal(f->flags, GTP_FRAME_PARTIAL);
	assert_true(f->pc == 0xffffffff81000000 && f->time == 123456789);
	assert_null(gtp_frame_next_block(f, NULL));
	assert_null(gtp_buffer_next(&b, f));
}

static void test_size_is_rounded_down(void **state)
{
	struct gtp_buffer b;

	gtp_buffer_init(&b, ring, 79, false);
	assert_int_equal(b.size, 72);
}

static void test_exactly_full(void **state)
{
	struct gtp_buffer b;

	gtp_buffer_init(&b, ring, 96, false);
	frame_of(&b, 1, 24);
	frame_of(&b, 2, 72);
	assert_int_equal(gtp_buffer_used(&b), 96);
	assert_string_equal(numbers(&b), "1 2");
	assert_int_equal(gtp_buffer_begin(&b, 3, 0, 0), -ENOSPC);
	assert_string_equal(numbers(&b), "1 2");
}

static void test_exactly_full_circular(void **state)
{
	struct gtp_buffer b;

	gtp_buffer_init(&b, ring, 96, true);
	frame_of(&b, 1, 24);
	frame_of(&b, 2, 72);
	assert_string_equal(numbers(&b), "1 2");
	frame_of(&b, 3, 24);
	assert_string_equal(numbers(&b), "2 3");
	assert_int_equal(gtp_buffer_used(&b), 96);
	frame_of(&b, 4, 72);
	assert_string_equal(numbers(&b), "3 4");
	frame_of(&b, 5, 96);
	assert_string_equal(numbers(&b), "5");
	assert_true(b.created == 5 && gtp_buffer_frames(&b) == 1);
}

/* The number of frames dropped at once is limited, so that no hit takes long. */
static void test_room_for_several(void **state)
{
	enum { SIZE = 1 << 20, FRAME = 64, FRAMES = SIZE / FRAME, DROPPED = 4096 / FRAME };
	void *mem = malloc(SIZE);
	struct gtp_buffer b;

	gtp_buffer_init(&b, mem, SIZE, true);
	for (u32 i = 0; i < FRAMES; i++)
		frame_of(&b, (u16)i, FRAME);
	for (u32 i = 0; i < 2 * FRAMES; i++) {
		if (gtp_buffer_has_room(&b, FRAME)) {
			assert_int_not_equal(i % DROPPED, 0);
		} else {
			assert_int_equal(i % DROPPED, 0);
			assert_true(gtp_buffer_make_room(&b, FRAME));
		}
		assert_int_equal(gtp_buffer_frames(&b), FRAMES - DROPPED + i % DROPPED);
		frame_of(&b, (u16)i, FRAME);
	}
	free(mem);
}

static void test_no_room_is_made(void **state)
{
	struct gtp_buffer b;

	gtp_buffer_init(&b, ring, 96, false);
	frame_of(&b, 1, 96);
	assert_false(gtp_buffer_make_room(&b, 24));
	assert_string_equal(numbers(&b), "1");
	gtp_buffer_init(&b, ring, 96, true);
	frame_of(&b, 1, 48);
	assert_false(gtp_buffer_make_room(&b, 104));
	assert_string_equal(numbers(&b), "1");
}

/* No old frame is dropped for a new one that is larger than the whole ring. */
static void test_larger_than_ring(void **state)
{
	struct gtp_buffer b;

	gtp_buffer_init(&b, ring, 96, true);
	frame_of(&b, 1, 48);
	assert_int_equal(gtp_buffer_begin(&b, 2, 0, 0), 0);
	assert_null(gtp_buffer_reserve(&b, 80));
	gtp_buffer_abort(&b);
	assert_string_equal(numbers(&b), "1");
}

static void test_move_keeps_content_and_mark(void **state)
{
	struct gtp_buffer b;
	u32 mark;
	u64 *p;

	gtp_buffer_init(&b, ring, 128, true);
	frame_of(&b, 1, 48);
	frame_of(&b, 2, 48);
	assert_int_equal(gtp_buffer_begin(&b, 3, 0x33, 3), 0);
	p = gtp_buffer_reserve(&b, 8);
	*p = 0x1122334455667788;
	mark = gtp_buffer_mark(&b);
	assert_int_equal(b.head, 96);
	assert_non_null(gtp_buffer_reserve(&b, 16)); /* moves to the front, over frame 1 */
	assert_int_equal(b.head, 0);
	assert_string_equal(numbers(&b), "2");
	gtp_buffer_rewind(&b, mark);
	gtp_buffer_commit(&b, 0);
	assert_string_equal(numbers(&b), "2 3");
	assert_true(((u64 *)b.mem)[3] == 0x1122334455667788);
	assert_int_equal(gtp_buffer_used(&b), 48 + 32 + 32);
}

/* An aborted frame that had moved to the front leaves only padding at the end of the ring. */
static void test_abort_after_move(void **state)
{
	struct gtp_buffer b;

	gtp_buffer_init(&b, ring, 128, true);
	frame_of(&b, 1, 48);
	frame_of(&b, 2, 48);
	assert_int_equal(gtp_buffer_begin(&b, 3, 0, 0), 0);
	assert_non_null(gtp_buffer_reserve(&b, 24));
	gtp_buffer_abort(&b);
	assert_string_equal(numbers(&b), "2");
	frame_of(&b, 4, 48);
	assert_string_equal(numbers(&b), "2 4");
	frame_of(&b, 5, 80);
	assert_string_equal(numbers(&b), "4 5");
}

static void test_frame_max(void **state)
{
	u32 size = 2 * GTP_FRAME_MAX;
	void *mem = malloc(size);
	struct gtp_buffer b;

	for (u32 circular = 0; circular < 2; circular++) {
		gtp_buffer_init(&b, mem, size, circular);
		frame_of(&b, 1, GTP_FRAME_MAX);
		assert_int_equal(gtp_buffer_begin(&b, 2, 0, 0), 0);
		assert_null(gtp_buffer_reserve(&b, GTP_FRAME_MAX - 16));
		assert_null(gtp_buffer_reserve(&b, U32_MAX - 7));
		assert_non_null(gtp_buffer_reserve(&b, GTP_FRAME_MAX - 24));
		gtp_buffer_commit(&b, 0);
		assert_string_equal(numbers(&b), "1 2");
	}
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_head_fields),
		cmocka_unit_test(test_size_is_rounded_down),
		cmocka_unit_test(test_exactly_full),
		cmocka_unit_test(test_exactly_full_circular),
		cmocka_unit_test(test_room_for_several),
		cmocka_unit_test(test_no_room_is_made),
		cmocka_unit_test(test_larger_than_ring),
		cmocka_unit_test(test_move_keeps_content_and_mark),
		cmocka_unit_test(test_abort_after_move),
		cmocka_unit_test(test_frame_max),
	};

	return cmocka_run_group_tests_name("buffer", tests, NULL, NULL);
}
