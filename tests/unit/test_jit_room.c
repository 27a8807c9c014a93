// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the compiler when it has little room: code buffers of every size, the arena, the largest
 * requests, and blocks at the last address that machine code may read without a call.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "user/jit/exec_user.h"
#include "tools/axasm.h"
#include "trace/frame.h"

enum {
	LIMIT = 0x7fff0000,  /* loads at or above this address call ops->read */
	CLEAR = 8,	     /* bytes after the limit that a load before it may access */
	FRAME_MAX = 1 << 16, /* the most bytes that a snippet of actions may collect */
};

static struct {
	u8 code[AX_MAX_LEN];
	struct ax_point points[AX_MAX_LEN];
	struct ax_verified v;
	u32 reads;
	struct jit_user *fast;
} t;

static int op_read(void *ctx, void *dst, u64 addr, u32 len)
{
	t.reads++;
	for (u32 i = 0; i < len; i++)
		((u8 *)dst)[i] = (u8)(addr + i);
	return 0;
}

static s64 op_getv(void *ctx, u16 tsv)
{
	return tsv;
}

static const struct ax_ops ops = { .read = op_read, .getv = op_getv };

static int setup(void **state)
{
	u8 *pages = mmap((void *)(LIMIT - 4096UL), 8192, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	assert_ptr_equal(pages, LIMIT - 4096UL);
	for (u32 i = 0; i < 8192; i++)
		pages[i] = (u8)i;
	t.fast = jit_user_new(4 << 20, LIMIT);
	return 0;
}

static int teardown(void **state)
{
	jit_user_free(t.fast);
	return munmap((void *)(LIMIT - 4096UL), 8192);
}

static const struct ax_verified *verified(u32 len)
{
	struct ax_error err;

	if (ax_verify(t.code, len, AX_ACTION, t.points, &t.v, &err) != AX_OK)
		fail_msg("%s at %u", ax_error_name(err.code), err.pc);
	return &t.v;
}

static const struct ax_verified *assembled(const char *text)
{
	char why[256];
	int len = axasm(text, t.code, sizeof(t.code), why, sizeof(why));

	if (len < 0)
		fail_msg("%s", why);
	return verified((u32)len);
}

/* --- buffers --- */

/*
 * Check that code is not emitted into any buffer that is too small, and that nothing is written
 * there.
 */
static void every_size(const struct ax_jit_request *req)
{
	struct ax_jit *work = malloc(ax_jit_work_size(req));
	u64 base = (u64)(uintptr_t)t.fast->exec + 4096;
	u32 n = ax_jit_plan(work, req);
	u8 *good = malloc(n);

	assert_true(n > 0);
	assert_int_equal(ax_jit_emit(work, base, good, n), 0);
	for (u32 size = 0; size < n; size++) {
		u8 *code = malloc(size + 1);

		memset(code, 0xa5, size + 1);
		assert_int_equal(ax_jit_emit(work, base, code, size), -ENOSPC);
		for (u32 i = 0; i <= size; i++)
			assert_int_equal(code[i], 0xa5);
		free(code);
	}
	/* After the refusals, the same code is emitted into a buffer that is large enough. */
	for (u32 i = 0; i < 2; i++) {
		u8 *code = malloc(n + i);

		assert_int_equal(ax_jit_emit(work, base, code, n + i), 0);
		assert_memory_equal(code, good, n);
		free(code);
	}
	free(good);
	free(work);
}

static void test_code_buffers(void **state)
{
	static const char *const text[] = {
		"end",
		"reg 5; zero_ext 64; const8 12; add; ref8; const8 200; equal; end",
		"reg 5; ref32; ext 32; reg 4; div_signed; end",
		"reg 5; const8 3; equal; if_goto A; goto F; A: getv 1; tracev 1; setv 6; goto E;"
		"F: const8 0; E: end",
		"reg 5; const8 20; tracenz; reg 5; trace_quick 9; end",
		"reg 5; const8 0; const8 0; printf 1 \"%d\"; end",
	};

	for (u32 i = 0; i < ARRAY_SIZE(text); i++) {
		struct ax_jit_request req = {
			.v = assembled(text[i]),
			.target = &t.fast->target,
			.pc = 0x1234,
		};

		for (req.seed = 0; req.seed < 14; req.seed += 5)
			every_size(&req);
	}
}

static void test_code_buffers_of_actions(void **state)
{
	struct ax_jit_item items[] = {
		{ .kind = AX_JIT_REGS, .mask = GTP_REGS_KNOWN },
		{ .kind = AX_JIT_MEM, .base = 5, .offset = 8, .len = 21 },
		{ .kind = AX_JIT_MEM, .base = -1, .offset = 0xffffffff81000000, .len = 100 },
		{ .kind = AX_JIT_EXPR },
	};
	struct ax_jit_request req = {
		.items = items,
		.nitems = ARRAY_SIZE(items),
		.target = &t.fast->target,
	};

	items[3].v = assembled("tracev 1; reg 5; trace_quick 8; ref64; const8 30; trace; end");
	every_size(&req);
}

static void test_stubs(void **state)
{
	struct ax_jit_target w = { .fast = true };
	u64 base = 0x10000000;
	u32 n = ax_jit_stubs(&w, base, NULL, 1 << 16);

	assert_true(n > 0);
	for (u32 size = 0; size <= n; size++) {
		u8 *code = malloc(size ? size : 1);

		assert_int_equal(ax_jit_stubs(&w, base, code, size), size < n ? 0 : n);
		free(code);
	}
}

/* --- the arena --- */

/*
 * For each fill level of the arena: code that does not fit is refused and leaves no trace, and code
 * that fits runs.
 */
static void test_arena(void **state)
{
	struct jit_user *u = jit_user_new(4096, 0);
	const struct ax_verified *v = assembled("reg 5; const8 7; add; end");
	struct gtp_regs regs = { .rdi = 35 };
	struct ax_env env = { .ops = &ops, .regs = &regs };

	for (u32 used = u->stubs; used <= u->size; used += AX_JIT_CODE_ALIGN) {
		ax_jit_fn fn;
		u64 value;
		u32 len;

		u->used = used;
		fn = jit_user_compile(u, v, 0, 0, &len);
		assert_int_equal(!fn, len > u->size - used);
		if (!fn) {
			assert_int_equal(u->used, used);
			continue;
		}
		assert_int_equal(ax_jit_run(fn, &env, &value), 0);
		assert_int_equal(value, 42);
	}
	jit_user_free(u);
}

/* --- the largest requests --- */

static u32 plan(const struct ax_jit_item *items, u32 nitems, u32 *frame_bytes)
{
	struct ax_jit_request req = { .items = items, .nitems = nitems, .target = &t.fast->target };
	struct ax_jit *work = malloc(ax_jit_work_size(&req));
	u32 n = ax_jit_plan(work, &req);
	u8 *code = malloc(n ? n : 1);

	if (n)
		assert_int_equal(ax_jit_emit(work, (u64)(uintptr_t)t.fast->exec, code, n), 0);
	*frame_bytes = ax_jit_frame_bytes(work);
	free(code);
	free(work);
	return n;
}

/*
 * Actions are compiled as one snippet if they collect FRAME_MAX bytes, and refused with one byte
 * more.
 */
static void test_most_actions(void **state)
{
	enum { EACH = 8 + 8 + 8, MOST = FRAME_MAX / EACH };
	struct ax_jit_item *items = calloc(MOST + 1, sizeof(*items));
	u32 bytes;

	for (u32 i = 0; i <= MOST; i++)
		items[i] = (struct ax_jit_item){
			.kind = AX_JIT_MEM,
			.base = (s32)(i % 16),
			.offset = i,
			.len = 1 + i % 8,
		};
	assert_true(plan(items, MOST, &bytes) > 0);
	assert_int_equal(bytes, MOST * EACH);
	assert_int_equal(plan(items, MOST + 1, &bytes), 0);
	free(items);
}

static void test_longest_block(void **state)
{
	struct ax_jit_item item = { .kind = AX_JIT_MEM, .base = 5 };
	u32 bytes;

	item.len = FRAME_MAX - 16;
	assert_true(plan(&item, 1, &bytes) > 0);
	assert_int_equal(bytes, FRAME_MAX);
	item.len++;
	assert_int_equal(plan(&item, 1, &bytes), 0);
	item.len = ~0ULL;
	assert_int_equal(plan(&item, 1, &bytes), 0);
	item.len = 1ULL << 32; /* 0 if truncated to 32 bits */
	assert_int_equal(plan(&item, 1, &bytes), 0);
}

/*
 * Make an expression of the greatest length: reg 5, as many @op with operand @n as fit, and end.
 * Return the number of @op.
 */
static u32 fill_expression(struct ax_jit_item *item, enum ax_op op, u8 n)
{
	u32 len = 3, count = 0;

	t.code[0] = AX_OP_reg;
	t.code[1] = 0;
	t.code[2] = 5;
	for (; len + 3 <= AX_MAX_LEN; count++) {
		t.code[len++] = (u8)op;
		t.code[len++] = n;
	}
	t.code[len++] = AX_OP_end;
	*item = (struct ax_jit_item){ .kind = AX_JIT_EXPR, .v = verified(len) };
	return count;
}

/* An action of the greatest length that only collects has too many blocks for one snippet. */
static void test_longest_action(void **state)
{
	struct ax_jit_item item;
	struct ax_jit_request req = { .items = &item, .nitems = 1 };
	u32 bytes, count;

	count = fill_expression(&item, AX_OP_trace_quick, 1);
	assert_true(count * 24 > FRAME_MAX);
	assert_int_equal(plan(&item, 1, &bytes), 0);
	/* An action of the same length that collects 0 bytes each time is one snippet. */
	count = fill_expression(&item, AX_OP_trace_quick, 0);
	assert_true(count > 1000);
	assert_non_null(jit_user_compile_request(t.fast, &req, NULL, &bytes));
	assert_int_equal(bytes, 0);
}

/* --- blocks at the limit --- */

static void check_block(ax_jit_fn fn, u64 addr, u32 len)
{
	u64 frame[8] = { 0 };
	const struct gtp_block *block = (const struct gtp_block *)frame;
	struct gtp_regs regs = { .rdi = addr };
	struct ax_env env = { .ops = &ops, .regs = &regs, .frame = (u8 *)frame };
	u64 size;

	t.reads = 0;
	jit_user_catch_faults(); /* cmocka sets its own SIGSEGV handler for each test */
	assert_int_equal(ax_jit_run(fn, &env, &size), 0);
	assert_int_equal(size, sizeof(struct gtp_frame) + gtp_block_size(block));
	if (addr + len > LIMIT + CLEAR)
		assert_int_equal(t.reads, 1);
	else if (addr + len + 32 <= LIMIT)
		assert_int_equal(t.reads, 0);
	assert_int_equal(block->type, GTP_BLOCK_MEM);
	assert_int_equal(block->len, len);
	assert_int_equal(frame[1], addr);
	for (u32 i = 0; i < len; i++)
		assert_int_equal(((u8 *)(frame + 2))[i], (u8)(addr + i));
}

static void test_blocks_at_the_limit(void **state)
{
	for (u32 len = 1; len <= 33; len++) {
		struct ax_jit_item item = { .kind = AX_JIT_MEM, .base = 5, .len = len };
		struct ax_jit_request req = { .items = &item, .nitems = 1 };
		ax_jit_fn fn = jit_user_compile_request(t.fast, &req, NULL, NULL);

		assert_non_null(fn);
		for (u64 addr = LIMIT - 96; len <= 32 && addr < LIMIT + 16; addr++)
			check_block(fn, addr, len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_buffers),
		cmocka_unit_test(test_code_buffers_of_actions),
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_arena),
		cmocka_unit_test(test_most_actions),
		cmocka_unit_test(test_longest_block),
		cmocka_unit_test(test_longest_action),
		cmocka_unit_test(test_blocks_at_the_limit),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
