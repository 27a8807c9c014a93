// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests reading from a frame: memory over several blocks, registers over several masks, variables.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>
#include "trace/buffer.h"

static u64 ring[8192];
static struct gtp_buffer buf;

static int begin(void **state)
{
	gtp_buffer_init(&buf, ring, sizeof(ring), false);
	return gtp_buffer_begin(&buf, 1, 0xffffffff81234560, 1);
}

static const struct gtp_frame *commit(void)
{
	gtp_buffer_commit(&buf, 0);
	return gtp_buffer_next(&buf, NULL);
}

/* Return bytes that depend on the address and on *@ctx, so that they identify their block. */
static int read_pattern(void *ctx, void *dst, u64 addr, u32 len)
{
	for (u32 i = 0; i < len; i++)
		((u8 *)dst)[i] = (u8)((addr + i) * 3 + *(u8 *)ctx);
	return 0;
}

static void mem(u64 addr, u32 len, u8 salt)
{
	assert_int_equal(gtp_buffer_add_mem(&buf, addr, len, read_pattern, &salt), 0);
}

/*
 * Check that a read of @len bytes at @addr returns @got bytes: the first @split bytes from block
 * @first, the others from block @then.
 */
static void expect(const struct gtp_frame *f, u64 addr, u32 len, u32 got, u32 split, u8 first,
		   u8 then)
{
	u8 bytes[64];

	memset(bytes, 0xee, sizeof(bytes));
	assert_int_equal(gtp_frame_read_mem(f, addr, bytes, len), got);
	for (u32 i = 0; i < got; i++)
		assert_int_equal(bytes[i], (u8)((addr + i) * 3 + (i < split ? first : then)));
	for (u32 i = got; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0xee);
}

static void test_empty(void **state)
{
	const struct gtp_frame *f = commit();
	u64 reg = 5;
	s64 var = 6;

	expect(f, 0x1000, 8, 0, 0, 0, 0);
	assert_false(gtp_frame_get_reg(f, 0, &reg));
	assert_false(gtp_frame_get_var(f, 0, &var));
	assert_true(reg == 5 && var == 6);
	assert_true(gtp_frame_get_reg(f, GTP_REG_PC, &reg));
	assert_true(reg == 0xffffffff81234560);
}

static void test_one_block(void **state)
{
	const struct gtp_frame *f;

	mem(0x1000, 10, 7);
	f = commit();
	expect(f, 0x1000, 10, 10, 10, 7, 0);
	expect(f, 0x1000, 64, 10, 10, 7, 0);
	expect(f, 0x1009, 4, 1, 1, 7, 0);
	expect(f, 0x1003, 0, 0, 0, 0, 0);
	expect(f, 0x100a, 4, 0, 0, 0, 0);
	expect(f, 0xfff, 4, 0, 0, 0, 0);
}

static void test_adjoining_blocks_in_any_order(void **state)
{
	const struct gtp_frame *f;

	mem(0x1010, 16, 2);
	assert_int_equal(gtp_buffer_add_var(&buf, 1, 1), 0);
	mem(0x1000, 16, 1);
	f = commit();
	expect(f, 0x1000, 40, 32, 16, 1, 2);
	expect(f, 0x1008, 10, 10, 8, 1, 2);
}

static void test_gap(void **state)
{
	const struct gtp_frame *f;

	mem(0x1000, 4, 1);
	mem(0x1005, 4, 2);
	f = commit();
	expect(f, 0x1000, 9, 4, 4, 1, 0);
	expect(f, 0x1004, 9, 0, 0, 0, 0);
	expect(f, 0x1005, 9, 4, 4, 2, 0);
}

/*
 * Overlapping blocks are read as GDB reads its own files: the first block that has the address, up
 * to the block's end, then the search begins again.
 */
static void test_overlap(void **state)
{
	const struct gtp_frame *f;

	mem(0x1008, 16, 1); /* 1008 - 1017 */
	mem(0x1000, 16, 2); /* 1000 - 100f */
	f = commit();
	expect(f, 0x1000, 24, 24, 16, 2, 1);
	expect(f, 0x1008, 24, 16, 16, 1, 0);
	expect(f, 0x1007, 24, 17, 9, 2, 1);
}

static void test_top_of_memory(void **state)
{
	const struct gtp_frame *f;

	mem(0xfffffffffffffff0, 16, 4);
	mem(0, 4, 9);
	f = commit();
	expect(f, 0xfffffffffffffff8, 8, 8, 8, 4, 0);
	expect(f, 0, 8, 4, 4, 9, 0);
	expect(f, 0xffffffffffffffef, 8, 0, 0, 0, 0);
}

static void regs_of(u64 mask, u64 base)
{
	struct gtp_regs regs;
	u64 *p = (u64 *)&regs;

	for (u32 i = 0; i < sizeof(regs) / 8; i++)
		p[i] = base + i;
	assert_int_equal(gtp_buffer_add_regs(&buf, &regs, 0xffffffff81234560, mask), 0);
}

static u64 reg_by_name(u32 offset, u64 base)
{
	return base + offset / 8;
}

static void test_regs(void **state)
{
	const struct gtp_frame *f;
	u64 v = 0;

	regs_of(BIT_ULL(0) | BIT_ULL(15), 0x100000000);
	regs_of(BIT_ULL(3) | BIT_ULL(GTP_REG_SS), 0x500000000);
	f = commit();
	assert_true(gtp_frame_get_reg(f, 0, &v));
	assert_true(v == reg_by_name(offsetof(struct gtp_regs, rax), 0x100000000));
	assert_true(gtp_frame_get_reg(f, 15, &v));
	assert_true(v == reg_by_name(offsetof(struct gtp_regs, r15), 0x100000000));
	assert_true(gtp_frame_get_reg(f, 3, &v));
	assert_true(v == reg_by_name(offsetof(struct gtp_regs, rdx), 0x500000000));
	assert_true(gtp_frame_get_reg(f, GTP_REG_SS, &v));
	assert_true(v == reg_by_name(offsetof(struct gtp_regs, ss), 0)); /* 32 bits wide */
	assert_false(gtp_frame_get_reg(f, 1, &v));
	assert_false(gtp_frame_get_reg(f, GTP_REG_FLAGS, &v));
	for (u32 n = GTP_NR_SAVED_REGS; n < 200; n++)
		assert_false(gtp_frame_get_reg(f, n, &v));
	assert_false(gtp_frame_get_reg(f, U32_MAX, &v));
}

static void test_last_var_counts(void **state)
{
	const struct gtp_frame *f;
	s64 v = 0;

	assert_int_equal(gtp_buffer_add_var(&buf, 1, 10), 0);
	assert_int_equal(gtp_buffer_add_var(&buf, 511, -1), 0);
	assert_int_equal(gtp_buffer_add_var(&buf, 1, 11), 0);
	f = commit();
	assert_true(gtp_frame_get_var(f, 1, &v));
	assert_true(v == 11);
	assert_true(gtp_frame_get_var(f, 511, &v));
	assert_true(v == -1);
	assert_false(gtp_frame_get_var(f, 2, &v));
}

static void test_walk(void **state)
{
	static const u16 types[] = { GTP_BLOCK_REGS, GTP_BLOCK_MEM, GTP_BLOCK_VAR, GTP_BLOCK_MEM };
	const struct gtp_block *b = NULL;
	const struct gtp_frame *f;
	u32 i = 0;

	regs_of(5, 1);
	mem(0x1000, 1, 1);
	assert_int_equal(gtp_buffer_add_var(&buf, 3, 3), 0);
	mem(0x2000, 17, 1);
	f = commit();
	for (; (b = gtp_frame_next_block(f, b)); i++)
		assert_int_equal(b->type, types[i]);
	assert_int_equal(i, ARRAY_SIZE(types));
}

#define test(f) cmocka_unit_test_setup(f, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_empty),
		test(test_one_block),
		test(test_adjoining_blocks_in_any_order),
		test(test_gap),
		test(test_overlap),
		test(test_top_of_memory),
		test(test_regs),
		test(test_last_var_counts),
		test(test_walk),
	};

	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
