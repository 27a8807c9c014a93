// SPDX-License-Identifier: GPL-2.0-only
/* Tests how a frame's blocks are written: registers, variables, memory, strings; and failures. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>
#include "trace/buffer.h"

static u64 ring[GTP_BUFFER_MIN / 8];

static void frame_of(struct gtp_buffer *b, u16 tp, u32 bytes)
{
	assert_int_equal(gtp_buffer_begin(b, tp, 0x1000 + tp, 10 * tp), 0);
	assert_non_null(gtp_buffer_reserve(b, bytes - (u32)sizeof(struct gtp_frame)));
	gtp_buffer_commit(b, 0);
}

/* Memory that begins at MEM_ADDR. Every read is recorded, and must stay within one page. */
#define MEM_ADDR 0xffff888000010000ULL
enum { MEM_BYTES = 40 * 4096 };

static u8 memory[MEM_BYTES];
static u64 fault_at;
static u32 reads;
static bool one_page; /* no read may cross into another page */

static int read_memory(void *ctx, void *dst, u64 addr, u32 len)
{
	assert_ptr_equal(ctx, memory);
	assert_true(addr >= MEM_ADDR && addr + len <= MEM_ADDR + MEM_BYTES);
	if (one_page)
		assert_true(addr >> 12 == (addr + len - 1) >> 12);
	reads++;
	if (fault_at - addr < len)
		return -EFAULT;
	memcpy(dst, memory + (addr - MEM_ADDR), len);
	return 0;
}

static u8 big_ring[4 * 1024 * 1024];

static void setup_memory(struct gtp_buffer *b, u8 fill)
{
	memset(memory, fill, sizeof(memory));
	fault_at = MEM_ADDR + MEM_BYTES;
	reads = 0;
	one_page = false;
	gtp_buffer_init(b, big_ring, sizeof(big_ring), false);
	assert_int_equal(gtp_buffer_begin(b, 1, 0x1000, 1), 0);
}

static int add_mem(struct gtp_buffer *b, u32 offset, u64 len)
{
	return gtp_buffer_add_mem(b, MEM_ADDR + offset, len, read_memory, memory);
}

static int add_string(struct gtp_buffer *b, u32 offset, u64 max)
{
	return gtp_buffer_add_string(b, MEM_ADDR + offset, max, read_memory, memory);
}

static const struct gtp_frame *only_frame(struct gtp_buffer *b)
{
	gtp_buffer_commit(b, 0);
	return gtp_buffer_next(b, NULL);
}

static void test_add_regs(void **state)
{
	struct gtp_regs regs = { .rax = 1, .r15 = 15, .rip = 99, .eflags = ~0ULL, .ss = 0x18 };
	/* Registers 20 to 23 and 60 of this mask are unknown at a hit. */
	u64 mask = 0x38001 | 0xf00000 | BIT_ULL(60);
	const struct gtp_block *block;
	const struct gtp_frame *f;
	struct gtp_buffer b;
	const u64 *p;

	setup_memory(&b, 0);
	assert_int_equal(gtp_buffer_add_regs(&b, &regs, 0x5000, mask), 0);
	assert_int_equal(gtp_buffer_add_regs(&b, &regs, 0x5000, 0xf00000), 0);
	f = only_frame(&b);
	block = gtp_frame_next_block(f, NULL);
	p = (const u64 *)(block + 1);
	assert_int_equal(block->type, GTP_BLOCK_REGS);
	assert_int_equal(block->len, 8 + 4 * 8);
	assert_true(p[0] == 0x38001);
	assert_true(p[1] == 1 && p[2] == 15 && p[3] == 0x5000 && p[4] == U32_MAX);
	assert_null(gtp_frame_next_block(f, block));
}

static void add_and_compare(const struct gtp_regs *regs, u64 mask)
{
	const struct gtp_frame *f;
	struct gtp_buffer b;

	setup_memory(&b, 0);
	assert_int_equal(gtp_buffer_add_regs(&b, regs, 0x1000, mask), 0);
	f = only_frame(&b);
	for (u32 n = 0; n < GTP_NR_SAVED_REGS; n++) {
		u64 v = 0, want = n == GTP_REG_PC ? 0x1000 : gtp_regs_get(regs, n);

		if (!(mask & BIT_ULL(n)))
			continue;
		assert_true(gtp_frame_get_reg(f, n, &v));
		assert_true(v == want);
	}
}

static void test_add_every_mask(void **state)
{
	struct gtp_regs regs;

	for (u32 i = 0; i < sizeof(regs); i++)
		((u8 *)&regs)[i] = (u8)(i / 8 + 1);
	for (u64 mask = 1; mask <= GTP_REGS_KNOWN; mask = mask * 3 + 1) {
		add_and_compare(&regs, mask);
		/*
		 * If the mask has all of the first 16 registers, gtp_buffer_add_regs() copies them
		 * by special code.
		 */
		add_and_compare(&regs, mask | 0xffff);
	}
}

static void test_add_var(void **state)
{
	const struct gtp_block *block;
	const struct gtp_frame *f;
	struct gtp_buffer b;

	setup_memory(&b, 0);
	assert_int_equal(gtp_buffer_add_var(&b, 300, -5), 0);
	f = only_frame(&b);
	block = gtp_frame_next_block(f, NULL);
	assert_true(block->type == GTP_BLOCK_VAR && block->num == 300 && block->len == 8);
	assert_true(*(const s64 *)(block + 1) == -5);
}

static void test_add_mem(void **state)
{
	const struct gtp_block *block;
	const struct gtp_frame *f;
	struct gtp_buffer b;

	setup_memory(&b, 0x5a);
	assert_int_equal(add_mem(&b, 0, 0), 0);
	assert_int_equal(add_mem(&b, 3, 13), 0);
	f = only_frame(&b);
	block = gtp_frame_next_block(f, NULL);
	assert_true(block->type == GTP_BLOCK_MEM && block->len == 13);
	assert_true(gtp_frame_mem_addr(block) == MEM_ADDR + 3);
	assert_memory_equal(gtp_frame_mem_data(block), memory, 13);
	assert_int_equal(f->size, 24 + 8 + 8 + 16);
}

/* Memory that is too long for the 16-bit length of a block becomes several adjoining blocks. */
static void test_add_much_mem(void **state)
{
	const u32 much = 2 * GTP_BLOCK_MEM_MAX + 5;
	const struct gtp_block *block = NULL;
	const struct gtp_frame *f;
	struct gtp_buffer b;
	u8 *copy = malloc(MEM_BYTES);
	u32 blocks = 0;

	setup_memory(&b, 0);
	for (u32 i = 0; i < MEM_BYTES; i++)
		memory[i] = (u8)(i * 7 + (i >> 12));
	assert_int_equal(add_mem(&b, 1, much), 0);
	f = only_frame(&b);
	while ((block = gtp_frame_next_block(f, block))) {
		assert_true(block->len <= GTP_BLOCK_MEM_MAX);
		blocks++;
	}
	assert_int_equal(blocks, 3);
	assert_int_equal(gtp_frame_read_mem(f, MEM_ADDR + 1, copy, MEM_BYTES - 1), much);
	assert_memory_equal(copy, memory + 1, much);
	free(copy);
}

static void test_mem_fault_leaves_nothing(void **state)
{
	struct gtp_buffer b;
	u32 mark;

	setup_memory(&b, 1);
	assert_int_equal(gtp_buffer_add_var(&b, 1, 1), 0);
	mark = gtp_buffer_mark(&b);
	fault_at = MEM_ADDR + GTP_BLOCK_MEM_MAX + 100; /* an address in the second block */
	assert_int_equal(add_mem(&b, 0, GTP_BLOCK_MEM_MAX + 200), -EFAULT);
	assert_int_equal(gtp_buffer_mark(&b), mark);
	assert_int_equal(add_string(&b, 0, GTP_BLOCK_MEM_MAX + 200), -EFAULT);
	assert_int_equal(gtp_buffer_mark(&b), mark);
}

static void test_block_refusals(void **state)
{
	struct gtp_regs regs = { 0 };
	struct gtp_buffer b;

	setup_memory(&b, 1);
	assert_int_equal(add_mem(&b, 0, GTP_FRAME_MAX + 1), -E2BIG);
	assert_int_equal(add_mem(&b, 0, ~0ULL), -E2BIG);
	assert_int_equal(reads, 0);
	while (!add_mem(&b, 0, MEM_BYTES))
		;
	assert_int_equal(add_mem(&b, 0, MEM_BYTES), -E2BIG);

	gtp_buffer_init(&b, ring, 48, false);
	assert_int_equal(gtp_buffer_begin(&b, 1, 0, 0), 0);
	assert_int_equal(add_mem(&b, 0, 9), -ENOSPC);
	assert_int_equal(add_string(&b, 0, 9), -ENOSPC);
	assert_int_equal(gtp_buffer_add_regs(&b, &regs, 0, 3), -ENOSPC);
	assert_int_equal(b.open, sizeof(struct gtp_frame));
	assert_int_equal(gtp_buffer_add_var(&b, 1, 2), 0);
	assert_int_equal(gtp_buffer_add_var(&b, 1, 2), -ENOSPC);
}

/* Check add_string's result for a string of @len bytes (NUL included, if any) at @offset. */
static void check_string(u32 offset, u64 max, u32 len)
{
	const struct gtp_frame *f;
	struct gtp_buffer b;
	static u8 copy[MEM_BYTES];

	gtp_buffer_init(&b, big_ring, sizeof(big_ring), false);
	assert_int_equal(gtp_buffer_begin(&b, 1, 0x1000, 1), 0);
	assert_int_equal(add_string(&b, offset, max), 0);
	f = only_frame(&b);
	assert_int_equal(gtp_frame_read_mem(f, MEM_ADDR + offset, copy, sizeof(copy)), len);
	assert_memory_equal(copy, memory + offset, len);
	if (len <= GTP_BLOCK_MEM_MAX)
		assert_int_equal(f->size, len ? 24 + 16 + gtp_round8(len) : 24);
}

static void test_add_string(void **state)
{
	struct gtp_buffer b;

	setup_memory(&b, 'x');
	one_page = true;
	check_string(0, 0, 0);
	check_string(5, 1, 1);
	check_string(4090, 100, 100);
	memory[200] = 0;
	check_string(200, 10, 1);
	check_string(199, 10, 2);
	check_string(190, 10, 10); /* the NUL is just after */
	check_string(190, 11, 11);
	check_string(0, ~0ULL, 201);
	memory[GTP_BLOCK_MEM_MAX + 300] = 0;
	check_string(300, ~0ULL, GTP_BLOCK_MEM_MAX + 1);
	check_string(301, ~0ULL, GTP_BLOCK_MEM_MAX);
	check_string(201, ~0ULL, GTP_BLOCK_MEM_MAX + 100);
}

/* A string that ends with its page is read, though there is nothing after it. */
static void test_string_at_end_of_page(void **state)
{
	struct gtp_buffer b;

	setup_memory(&b, 'x');
	one_page = true;
	fault_at = MEM_ADDR + 8192;
	memory[8191] = 0;
	for (u32 len = 1; len < 200; len++)
		check_string(8192 - len, 4096, len);
}

static void test_string_without_end_is_too_big(void **state)
{
	static u8 one_frame[GTP_FRAME_MAX / 4];
	struct gtp_buffer b;
	u32 mark;

	setup_memory(&b, 'x');
	mark = gtp_buffer_mark(&b);
	while (gtp_buffer_mark(&b) < GTP_FRAME_MAX - 2 * GTP_BLOCK_MEM_MAX) {
		assert_int_equal(add_mem(&b, 0, MEM_BYTES / 2), 0);
		mark = gtp_buffer_mark(&b);
	}
	assert_int_equal(add_string(&b, 0, MEM_BYTES), -E2BIG);
	assert_int_equal(gtp_buffer_mark(&b), mark);

	gtp_buffer_init(&b, one_frame, GTP_BUFFER_MIN, true);
	assert_int_equal(gtp_buffer_begin(&b, 1, 0, 0), 0);
	assert_int_equal(add_string(&b, 0, MEM_BYTES), -ENOSPC);
	assert_int_equal(gtp_buffer_mark(&b), sizeof(struct gtp_frame));
}

/* If the frame moves to the front while a block is written, the block's contents move, too. */
static void test_string_moves_with_its_frame(void **state)
{
	static u8 copy[400];
	struct gtp_buffer b;

	setup_memory(&b, 'y');
	memory[399] = 0;
	for (u32 before = 24; before < 1024 - 24; before += 8) {
		const struct gtp_frame *f;

		gtp_buffer_init(&b, ring, 1024, true);
		frame_of(&b, 1, before);
		assert_int_equal(gtp_buffer_begin(&b, 2, 0, 0), 0);
		assert_int_equal(add_string(&b, 0, 500), 0);
		gtp_buffer_commit(&b, 0);
		f = gtp_buffer_next(&b, NULL);
		if (f->tp == 1)
			f = gtp_buffer_next(&b, f);
		assert_int_equal(f->tp, 2);
		assert_int_equal(gtp_frame_read_mem(f, MEM_ADDR, copy, 400), 400);
		assert_memory_equal(copy, memory, 400);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_regs),
		cmocka_unit_test(test_add_every_mask),
		cmocka_unit_test(test_add_var),
		cmocka_unit_test(test_add_mem),
		cmocka_unit_test(test_add_much_mem),
		cmocka_unit_test(test_mem_fault_leaves_nothing),
		cmocka_unit_test(test_block_refusals),
		cmocka_unit_test(test_add_string),
		cmocka_unit_test(test_string_at_end_of_page),
		cmocka_unit_test(test_string_without_end_is_too_big),
		cmocka_unit_test(test_string_moves_with_its_frame),
	};

	return cmocka_run_group_tests_name("buffer blocks", tests, NULL, NULL);
}
