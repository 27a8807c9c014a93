// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests that frames in the format of GDB's trace files are correct byte for byte, also if they are
 * read in pieces from any offset.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>
#include "plain_mem.h"
#include "trace/buffer.h"
#include "trace/index.h"
#include "trace/tfile.h"

static u64 ring[32768];
static struct gtp_buffer buf;
static const struct gtp_regs regs = {
	.rax = 0x0102030405060708,
	.rdi = 0x1112131415161718,
	.rip = 0xbad,
	.eflags = 0xffffffff00000246,
	.cs = 0x10,
	.ss = 0x18,
};

/* ---- the expected bytes, written by this test ---- */

static u8 want[300000];
static u32 want_len;

static void le(u64 v, u32 bytes)
{
	for (; bytes--; v >>= 8)
		want[want_len++] = (u8)v;
}

static void ascending(u32 n)
{
	for (u32 i = 0; i < n; i++)
		want[want_len++] = (u8)i;
}

static void want_head(u16 tp, u32 size)
{
	le(tp, 2);
	le(size, 4);
}

static int setup(void **state)
{
	want_len = 0;
	gtp_buffer_init(&buf, ring, sizeof(ring), false);
	return 0;
}

static void begin(u16 tp)
{
	assert_int_equal(gtp_buffer_begin(&buf, tp, 0xffffffff81abcdef, tp), 0);
}

static void commit(u16 flags)
{
	gtp_buffer_commit(&buf, flags);
}

static int read_ascending(void *ctx, void *dst, u64 addr, u32 len)
{
	for (u32 i = 0; i < len; i++)
		((u8 *)dst)[i] = (u8)i;
	return 0;
}

static void mem(u64 addr, u32 len)
{
	assert_int_equal(gtp_buffer_add_mem(&buf, addr, len, read_ascending, NULL), 0);
}

static void set_regs(u64 mask)
{
	assert_int_equal(gtp_buffer_add_regs(&buf, &regs, 0xffffffff81abcdef, mask), 0);
}

/* Check that the frame is written as want_head() and others expect it, whole or in pieces. */
static void expect_frame(const struct gtp_frame *f)
{
	u32 step = want_len > 1000 ? 997 : 1;
	u8 *got = malloc(want_len + 1);

	assert_int_equal(gtp_tfile_frame_size(f, NULL), want_len);
	assert_int_equal(gtp_tfile_read_frame(f, NULL, 0, got, want_len + 1), want_len);
	assert_memory_equal(got, want, want_len);
	for (u32 from = 0; from <= want_len; from += step) {
		for (u32 len = 0; len <= want_len + 1 - from; len += step) {
			u32 n = len > want_len - from ? want_len - from : len;
			/* A buffer of exactly this size, so that ASan sees a write past it. */
			u8 *part = malloc(len + 1);

			part[len] = 0xee;
			assert_int_equal(gtp_tfile_read_frame(f, NULL, from, part, len), n);
			assert_memory_equal(part, want + from, n);
			assert_int_equal(part[len], 0xee);
			free(part);
		}
	}
	assert_int_equal(gtp_tfile_read_frame(f, NULL, U32_MAX, got, 1), 0);
	free(got);
}

static void test_empty_frame(void **state)
{
	begin(0x1234);
	commit(0);
	want_head(0x1234, 0);
	expect_frame(gtp_buffer_next(&buf, NULL));
}

/*
 * If a tracepoint has several locations, even a frame that collects nothing gets a block of
 * registers, whose pc tells GDB which location was hit.
 */
static void test_one_of_several_locations(void **state)
{
	begin(1);
	commit(GTP_FRAME_SEVERAL_LOCATIONS);
	want_head(1, 165);
	le('R', 1);
	for (u32 i = 0; i < 16; i++)
		le(0, 8);
	le(0xffffffff81abcdef, 8);
	for (u32 i = 0; i < 7; i++)
		le(0, 4);
	expect_frame(gtp_buffer_next(&buf, NULL));
}

/*
 * Blocks keep their order, except that all collected registers are in one block, which is first;
 * rip is the location's address.
 */
static void test_all_blocks(void **state)
{
	begin(2);
	mem(0xffff888012345678, 5);
	set_regs(1);
	assert_int_equal(gtp_buffer_add_var(&buf, 0x123, -2), 0);
	set_regs(BIT_ULL(5) | BIT_ULL(GTP_REG_PC) | BIT_ULL(GTP_REG_FLAGS) | BIT_ULL(GTP_REG_CS));
	mem(0x10, 1);
	commit(GTP_FRAME_PARTIAL);

	want_head(2, 1 + 164 + 11 + 5 + 13 + 11 + 1);
	le('R', 1);
	le(regs.rax, 8);
	for (u32 i = 1; i < 16; i++)
		le(i == 5 ? regs.rdi : 0, 8);
	le(0xffffffff81abcdef, 8);
	le(0x246, 4);
	le(0x10, 4);
	for (u32 i = 0; i < 5; i++)
		le(0, 4);
	le('M', 1);
	le(0xffff888012345678, 8);
	le(5, 2);
	ascending(5);
	le('V', 1);
	le(0x123, 4);
	le((u64)-2, 8);
	le('M', 1);
	le(0x10, 8);
	le(1, 2);
	ascending(1);
	expect_frame(gtp_buffer_next(&buf, NULL));
}

/* Memory whose length does not fit in 16 bits. */
static void test_much_memory(void **state)
{
	u64 addr = 0x1000;
	u32 left = 140000;

	begin(3);
	mem(addr, left);
	commit(0);
	want_head(3, 140000 + 3 * 11);
	while (left) {
		u32 n = left < GTP_BLOCK_MEM_MAX ? left : GTP_BLOCK_MEM_MAX;

		le('M', 1);
		le(addr, 8);
		le(n, 2);
		ascending(n);
		addr += n;
		left -= n;
	}
	expect_frame(gtp_buffer_next(&buf, NULL));
}

static void test_g_image(void **state)
{
	u8 image[GTP_G_PACKET_BYTES + 1], known[GTP_G_PACKET_BYTES + 1];

	begin(1);
	set_regs(1 | BIT_ULL(GTP_REG_SS));
	commit(0);
	memset(image, 0xee, sizeof(image));
	memset(known, 0xee, sizeof(known));
	gtp_tfile_g_image(gtp_buffer_next(&buf, NULL), image, known);
	for (u32 i = 0; i < GTP_G_PACKET_BYTES; i++) {
		bool yes = i < 8 || (i >= 128 && i < 136) || (i >= 144 && i < 148);

		assert_int_equal(known[i], yes ? 0xff : 0);
		if (!yes)
			assert_int_equal(image[i], 0);
	}
	assert_true(gtp_get_le(image, 8) == regs.rax);
	assert_true(gtp_get_le(image + 128, 8) == 0xffffffff81abcdef);
	assert_true(gtp_get_le(image + 144, 4) == regs.ss);
	assert_int_equal(image[GTP_G_PACKET_BYTES], 0xee);
	assert_int_equal(known[GTP_G_PACKET_BYTES], 0xee);
	memset(image, 0xee, sizeof(image));
	gtp_tfile_g_image(gtp_buffer_next(&buf, NULL), image, NULL);
	assert_true(gtp_get_le(image, 8) == regs.rax);
	assert_true(gtp_get_le(image + 8, 8) == 0);
}

/* ---- the stream ---- */

static struct gtp_index ix;

static void build_stream(u32 frames)
{
	struct gtp_buffer *bufs[] = { &buf };

	for (u32 i = 0; i < frames; i++) {
		begin((u16)(i + 1));
		if (i % 3)
			mem(i, i % 50);
		commit(i % 7 ? 0 : GTP_FRAME_SEVERAL_LOCATIONS);
	}
	assert_int_equal(gtp_index_build(&ix, &plain_mem, bufs, NULL, 1, GTP_INDEX_MOST), 0);
	for (u32 i = 0; i < frames; i++) {
		u32 n = gtp_tfile_read_frame(gtp_index_at(&ix, i)->frame, NULL, 0, want + want_len,
					     (u32)sizeof(want) - want_len);

		assert_int_equal(n, gtp_tfile_frame_size(gtp_index_at(&ix, i)->frame, NULL));
		want_len += n;
	}
}

static void test_stream_in_pieces(void **state)
{
	static u8 got[sizeof(want)];

	build_stream(200);
	for (u32 piece = 1; piece < 500; piece += 13) {
		u32 at = 0, n;

		while ((n = gtp_index_read(&ix, at, got + at, piece))) {
			assert_true(n == piece || at + n == want_len);
			at += n;
		}
		assert_int_equal(at, want_len);
		assert_memory_equal(got, want, want_len);
	}
	assert_int_equal(gtp_index_read(&ix, 0, got, sizeof(got)), want_len);
	for (u32 at = 0; at < want_len; at += 5) {
		u8 byte = (u8)~want[at];

		assert_int_equal(gtp_index_read(&ix, at, &byte, 1), 1);
		assert_int_equal(byte, want[at]);
	}
	assert_int_equal(gtp_index_read(&ix, want_len, got, 10), 0);
	assert_int_equal(gtp_index_read(&ix, ~0ULL, got, 10), 0);
	assert_int_equal(gtp_index_read(&ix, 0, got, 0), 0);
	gtp_index_free(&ix, &plain_mem);
}

static void test_empty_stream(void **state)
{
	u8 byte;

	build_stream(0);
	assert_int_equal(gtp_index_read(&ix, 0, &byte, 1), 0);
	assert_int_equal(gtp_index_read(&ix, 1, &byte, 1), 0);
	gtp_index_free(&ix, &plain_mem);
}

#define test(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_empty_frame),	 test(test_one_of_several_locations),
		test(test_all_blocks),	 test(test_much_memory),
		test(test_g_image),	 test(test_stream_in_pieces),
		test(test_empty_stream),
	};

	return cmocka_run_group_tests_name("tfile", tests, NULL, NULL);
}
