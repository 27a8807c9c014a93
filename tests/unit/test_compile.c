// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests properties of compiled code other than its results: its size, its distance to the stubs,
 * the memory that it accesses, and its form.
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
#include "tracepoint/tsv.h"

enum {
	LIMIT = 0x7fff0000,	   /* loads at or above this address call ops->read */
	PAGE_BELOW = LIMIT - 4096, /* mapped, but ops->read returns other contents */
};

static struct {
	u8 code[AX_MAX_LEN];
	struct ax_point points[AX_MAX_LEN];
	struct ax_verified v;
	struct gtp_regs regs;
	struct ax_env env;
	u64 stack[AX_MAX_DEPTH];
	char text[AX_PRINT_MAX];
	u32 reads, traces;
	u64 last_addr;
	int trace_says;
	struct jit_user *fast, *careful;
} t;

/* Fill @dst with the low byte of the address; fail below 0x1000. */
static int op_read(void *ctx, void *dst, u64 addr, u32 len)
{
	t.reads++;
	t.last_addr = addr;
	if (addr < 0x1000)
		return -EFAULT;
	memset(dst, (int)(addr & 0xff), len);
	return 0;
}

static s64 op_getv(void *ctx, u16 tsv)
{
	return tsv * 1000;
}

static void op_setv(void *ctx, u16 tsv, s64 value)
{
}

static s64 op_addv(void *ctx, u16 tsv, s64 by)
{
	return tsv * 1000 + by;
}

static int op_trace(void *ctx, u64 addr, u64 len)
{
	t.traces++;
	return t.trace_says;
}

static int op_tracev(void *ctx, u16 tsv)
{
	return t.trace_says;
}

static void op_print(void *ctx, const char *text, u32 len)
{
}

static const struct ax_ops ops = {
	.read = op_read,
	.getv = op_getv,
	.setv = op_setv,
	.addv = op_addv,
	.trace = op_trace,
	.trace_string = op_trace,
	.tracev = op_tracev,
	.print = op_print,
};

static int setup(void **state)
{
	u8 *page = mmap((void *)PAGE_BELOW, 8192, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	assert_ptr_equal(page, PAGE_BELOW);
	memset(page, 0x55, 8192);
	t.fast = jit_user_new(16 << 20, LIMIT);
	t.careful = jit_user_new(1 << 20, 0);
	return 0;
}

static int teardown(void **state)
{
	jit_user_free(t.fast);
	jit_user_free(t.careful);
	return munmap((void *)PAGE_BELOW, 8192);
}

static const struct ax_verified *verify(u32 len)
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
	return verify((u32)len);
}

static int run(struct jit_user *u, const char *text, u64 *value)
{
	const struct ax_verified *v = assembled(text);
	ax_jit_fn fn = jit_user_compile(u, v, 0x1234, 0, NULL);

	t.env = (struct ax_env){
		.ops = &ops,
		.regs = &t.regs,
		.stack = t.stack,
		.text = t.text,
	};
	t.reads = 0;
	t.traces = 0;
	jit_user_catch_faults(); /* cmocka sets its own SIGSEGV handler for each test */
	assert_non_null(fn);
	return ax_jit_run(fn, &t.env, value);
}

/* Compiled code reads directly only below the limit; for other addresses it calls ops->read. */
static void test_limit(void **state)
{
	static const struct {
		const char *text;
		u64 value;
		u32 reads;
	} rows[] = {
		{ "const32 0x7ffefff8; ref64; end", 0x5555555555555555, 0 },
		{ "const32 0x7fff0000; ref64; end", 0, 1 },
		{ "const64 0x8000000000; ref8; end", 0, 1 },
		{ "reg 0; ref8; end", 0x55, 0 }, /* rax is the last byte below the limit */
		{ "reg 0; const8 1; add; ref8; end", 0, 1 },
		{ "reg 1; ref8; end", 0x02, 1 }, /* rbx is 2 beyond */
		{ "reg 1; const8 3; sub; ref8; end", 0x55, 0 },
		{ "reg 1; const8 2; sub; ref8; end", 0, 1 },
		{ "reg 2; const32 0x7ffef000; add; ref8; end", 0x55, 0 }, /* rcx is 0 */
		{ "reg 2; const32 0x7fff0007; add; ref8; end", 0x07, 1 },
		{ "reg 3; const32 0x7ffeff00; sub; ref8; end", 0xff, 1 }, /* rdx is all ones */
	};

	t.regs.rax = LIMIT - 1;
	t.regs.rbx = LIMIT + 2;
	t.regs.rcx = 0;
	t.regs.rdx = 0xffffffff00000000 + 0x7ffeff00 + 0xff;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 value;

		assert_int_equal(run(t.fast, rows[i].text, &value), 0);
		if (value != rows[i].value || t.reads != rows[i].reads)
			fail_msg("%s: 0x%llx, %u reads", rows[i].text, value, t.reads);
		assert_int_equal(run(t.careful, rows[i].text, &value), 0);
		assert_int_equal(t.reads, 1);
	}
}

/* After a load that faults, ops->read is called with the same address, and its result is used. */
static void test_fault(void **state)
{
	u64 value;

	t.regs.rdi = 0xffff888000001000;
	assert_int_equal(run(t.fast, "reg 5; const8 8; add; ref32; ext 32; end", &value), 0);
	assert_int_equal(value, 0x08080808);
	assert_int_equal(t.reads, 1);
	assert_int_equal(t.last_addr, 0xffff888000001008);

	t.regs.rdi = 0x10;
	assert_int_equal(run(t.fast, "reg 5; const8 8; add; ref32; ext 32; end", &value), -EINVAL);
	assert_int_equal(value, 0);
	assert_int_equal(t.reads, 1);
	assert_int_equal(t.env.err.code, AX_E_BAD_ADDRESS);
	assert_int_equal(t.env.err.pc, 6);
	assert_int_equal(t.env.err.op, AX_OP_ref32);
	assert_int_equal(t.env.err.arg, 0x18);
	assert_int_equal(t.env.err.arg2, 4);
}

/* A ref followed by ext sign-extends the loaded value, also if ops->read loads it. */
static void test_careful_sign(void **state)
{
	u64 value;

	t.regs.rdi = 0xffff888000001080;
	assert_int_equal(run(t.careful, "reg 5; ref16; ext 16; end", &value), 0);
	assert_int_equal(value, 0xffffffffffff8080);
	assert_int_equal(run(t.careful, "reg 5; ref16; end", &value), 0);
	assert_int_equal(value, 0x8080);
}

/* Errors unwind the stack correctly, in a snippet with a stack frame and in one without. */
static void test_errors_unwind(void **state)
{
	u64 value;

	t.regs.rdi = 0;
	t.trace_says = 0;
	assert_int_equal(run(t.fast, "reg 5; dup; div_signed; end", &value), -EINVAL);
	assert_int_equal(t.env.err.code, AX_E_DIVIDE_BY_ZERO);
	assert_int_equal(run(t.fast, "getv 1; reg 5; div_signed; end", &value), -EINVAL);
	assert_int_equal(t.env.err.pc, 6);
	assert_int_equal(run(t.fast, "getv 1; reg 5; ref8; add; end", &value), -EINVAL);
	assert_int_equal(t.env.err.code, AX_E_BAD_ADDRESS);
	t.trace_says = -ENOSPC;
	assert_int_equal(run(t.fast, "reg 5; trace_quick 4; end", &value), -ENOSPC);
	assert_int_equal(value, 0);
	assert_int_equal(run(t.fast, "getv 1; tracev 1; end", &value), -ENOSPC);
	t.trace_says = -E2BIG;
	assert_int_equal(run(t.fast, "reg 5; const8 9; trace; end", &value), -EINVAL);
	assert_int_equal(t.env.err.code, AX_E_TOO_MUCH);
	assert_int_equal(t.traces, 1);
}

/* The greatest depth of the stack, with more live values than the CPU has registers. */
static void test_deep(void **state)
{
	u32 len = 0;
	ax_jit_fn fn;

	for (u32 i = 0; i < AX_MAX_DEPTH; i++) {
		t.code[len++] = AX_OP_reg;
		t.code[len++] = 0;
		t.code[len++] = (u8)(i % 16);
		t.code[len++] = AX_OP_log_not; /* so that it is no longer a register of the hit */
	}
	for (u32 i = 1; i < AX_MAX_DEPTH; i++)
		t.code[len++] = AX_OP_add;
	t.code[len++] = AX_OP_end;
	memset(&t.regs, 0, sizeof(t.regs));
	for (u32 seed = 0; seed < 14; seed++) {
		u64 value;

		fn = jit_user_compile(t.fast, verify(len), 0, seed, NULL);
		t.env.regs = &t.regs;
		assert_int_equal(ax_jit_run(fn, &t.env, &value), 0);
		assert_int_equal(value, AX_MAX_DEPTH);
	}
}

/*
 * Compile with work memory and a code buffer of exactly the requested sizes, so that ASan sees an
 * access past their ends.
 */
static u32 compile_exactly(const struct ax_verified *v, u32 seed)
{
	struct ax_jit_request req = { .v = v, .target = &t.fast->target, .seed = seed };
	struct ax_jit *work = malloc(ax_jit_work_size(&req));
	u64 base = (u64)(uintptr_t)t.fast->exec + 4096;
	u32 n = ax_jit_plan(work, &req);
	u8 *code = malloc(n);

	assert_true(n > 0);
	assert_int_equal(ax_jit_emit(work, base, code, n - 1), -ENOSPC);
	assert_int_equal(ax_jit_emit(work, base, code, n), 0);
	/* At this address the code could not reach the stubs. */
	assert_int_equal(ax_jit_emit(work, base + (1ULL << 40), code, n), -ERANGE);
	free(code);
	free(work);
	return n;
}

static void test_room(void **state)
{
	assert_true(compile_exactly(assembled("reg 5; ref32; end"), 0) < 64);
	compile_exactly(assembled("getv 1; reg 5; ref8; div_signed; tracev 1; end"), 3);
}

/* The longest possible expressions, of loads only, of jumps and of calls. */
static void test_longest(void **state)
{
	u32 len = 0;

	t.code[len++] = AX_OP_reg;
	t.code[len++] = 0;
	t.code[len++] = 5;
	while (len < AX_MAX_LEN - 1)
		t.code[len++] = AX_OP_ref64;
	t.code[len++] = AX_OP_end;
	compile_exactly(verify(len), 0);

	len = 0;
	for (u32 i = 0; i < 9; i++)
		t.code[len++] = AX_OP_reg, t.code[len++] = 0, t.code[len++] = (u8)i;
	while (len < AX_MAX_LEN - 8) { /* nine values are live at every jump */
		t.code[len++] = AX_OP_getv;
		t.code[len++] = 0;
		t.code[len++] = 1;
		t.code[len++] = AX_OP_if_goto;
		t.code[len] = (u8)((len + 2) >> 8);
		t.code[len + 1] = (u8)(len + 2);
		len += 2;
	}
	t.code[len++] = AX_OP_end;
	compile_exactly(verify(len), 5);
}

static u32 count_bytes(const char *text)
{
	u32 n;

	assert_non_null(jit_user_compile(t.fast, assembled(text), 0, 0, &n));
	return n;
}

/* GDB folds no constants, so operations that change nothing must compile to no code. */
static void test_nothing_for_nothing(void **state)
{
	u32 plain = count_bytes("reg 5; const8 3; equal; end");

	assert_int_equal(count_bytes("reg 5; zero_ext 64; const8 3; zero_ext 64; equal; end"),
			 plain);
	assert_int_equal(count_bytes("reg 5; ext 64; const8 3; ext 8; equal; end"), plain);
	assert_int_equal(count_bytes("const8 3; reg 5; swap; equal; end"), plain);
	assert_int_equal(count_bytes("reg 5; const8 3; equal; log_not; log_not; end"), plain);
	assert_int_equal(count_bytes("reg 5; const8 7; const8 4; sub; equal; end"), plain);
	assert_int_equal(count_bytes("reg 5; dup; pop; const8 3; equal; zero_ext 1; end"), plain);
	assert_int_equal(count_bytes("reg 5; const8 3; equal; goto L; L: end"), plain);
	assert_int_equal(count_bytes("const8 1; if_goto L; reg 1; ref8; end;"
				     "L: reg 5; const8 3; equal; end"),
			 plain);
}

/* "a && b", as GDB compiles it, becomes two conditional jumps to one place, and two returns. */
static void test_and_is_two_jumps(void **state)
{
	static const char *const and = "reg 5; const8 3; equal; if_goto A; goto F;"
				       "A: reg 4; const8 9; equal; if_goto B; goto F;"
				       "B: const8 1; goto E; F: const8 0; E: end";
	u32 n;
	const u8 *code = (const u8 *)(uintptr_t)jit_user_compile(t.fast, assembled(and), 0, 0, &n);
	u32 rets = 0;

	/*
	 * cmp, jne; cmp, jne; mov, xor, ret; xor, xor, ret: 5 + 2 + 5 + 2 + 5 + 2 + 2 + 2 + 2 + 2
	 */
	assert_int_equal(n, 29);
	for (u32 i = 0; i < n; i++)
		rets += code[i] == 0xc3;
	assert_int_equal(rets, 2);
}

static bool has_bytes(const u8 *code, u32 n, const u8 *bytes, u32 len)
{
	for (u32 i = 0; i + len <= n; i++)
		if (!memcmp(code + i, bytes, len))
			return true;
	return false;
}

/* Compile and run an expression that adds to variable 5. Return variable 5. */
static s64 add(const char *text, bool actions, u64 *result, const u8 *bytes, u32 len)
{
	static struct gtp_tsv tsv;
	struct gtp_tsv *slots[6] = { [5] = &tsv };
	u8 ways[6] = { [5] = AX_TSV_ADDED };
	struct ax_jit_item item = { .kind = AX_JIT_EXPR, .v = &t.v };
	struct ax_jit_request req = {
		.v = assembled(text),
		.items = actions ? &item : NULL,
		.nitems = actions,
		.ways = ways,
		.slots = slots,
	};
	ax_jit_fn fn;
	u32 n;

	ax_settle_tsvs(&t.v, ways);
	fn = jit_user_compile_request(t.fast, &req, &n, NULL);
	assert_non_null(fn);
	if (!has_bytes((const u8 *)(uintptr_t)fn, n, bytes, len))
		fail_msg("%s: the instruction is not there", text);
	tsv.value = 100;
	t.env = (struct ax_env){ .ops = &ops, .regs = &t.regs, .stack = t.stack, .text = t.text };
	assert_int_equal(ax_jit_run(fn, &t.env, result), 0);
	return tsv.value;
}

/* Adding to a variable is a single instruction, which depends on whether the sum is used. */
static void test_add_in_one_step(void **state)
{
	static const u8 add_imm[] = { 0xf0, 0x48, 0x83 }, add_reg[] = { 0xf0, 0x48, 0x01 };
	static const u8 xadd[] = { 0xf0, 0x48, 0x0f, 0xc1 };
	static const char *const inc = "getv 5; const8 1; add; ext 64; setv 5; end";
	u64 result;

	t.regs.rdi = 7;
	assert_int_equal(add(inc, true, &result, add_imm, sizeof(add_imm)), 101);
	assert_int_equal(add("getv 5; const8 1; sub; ext 64; setv 5; pop; end", false, &result,
			     add_imm, sizeof(add_imm)),
			 99);
	assert_int_equal(add("getv 5; reg 5; sub; setv 5; pop; const8 3; end", false, &result,
			     add_reg, sizeof(add_reg)),
			 93);
	assert_int_equal(result, 3);
	assert_int_equal(add("getv 5; reg 5; add; setv 5; end", true, &result, add_reg,
			     sizeof(add_reg)),
			 107);
	/* This addend does not fit an instruction's immediate. */
	assert_int_equal(add("getv 5; const64 0x123456789a; add; setv 5; end", true, &result,
			     add_reg, sizeof(add_reg)),
			 100 + 0x123456789a);
	assert_int_equal(add(inc, false, &result, xadd, sizeof(xadd)), 101);
	assert_int_equal(result, 101);
	/* After the addition, "reg 5" still has the value of the hit's register. */
	assert_int_equal(add("getv 5; reg 5; add; setv 5; reg 5; mul; end", false, &result, xadd,
			     sizeof(xadd)),
			 107);
	assert_int_equal(result, 7 * 107);
}

/* The kernel may need an endbr64 at the target of its indirect calls, and a thunk for returns. */
static void test_kernel_forms(void **state)
{
	struct ax_jit_target w = t.fast->target;
	struct ax_jit_request req = { .v = assembled("reg 5; end"), .target = &w };
	struct ax_jit *work = malloc(ax_jit_work_size(&req));
	static const u8 endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	u8 code[64];
	u32 n;

	w.endbr = true;
	w.return_thunk = 0xffffffffa0001000;
	n = ax_jit_plan(work, &req);
	assert_int_equal(ax_jit_emit(work, 0xffffffffa0000000, code, sizeof(code)), 0);
	assert_memory_equal(code, endbr, sizeof(endbr));
	assert_int_equal(code[n - 6], 0xe9);
	assert_int_equal(gtp_get_le(code + n - 5, 4), 0x1000 - n + 1);
	assert_int_equal(code[n - 1], 0xcc);
	free(work);
}

static void test_arena_full(void **state)
{
	struct jit_user *u = jit_user_new(4096, 0);
	const struct ax_verified *v = assembled("reg 5; ref32; end");
	u32 n = 0;

	while (jit_user_compile(u, v, 0, 0, NULL))
		n++;
	assert_true(n > 10 && n < 4096 / 16);
	jit_user_reset(u);
	assert_non_null(jit_user_compile(u, v, 0, 0, NULL));
	jit_user_free(u);
}

/* rip has the address of the tracepoint, whatever the probe has stored in the registers. */
static void test_rip(void **state)
{
	u64 value;

	t.regs.rip = 99;
	assert_int_equal(run(t.fast, "reg 16; end", &value), 0);
	assert_int_equal(value, 0x1234);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_fault),
		cmocka_unit_test(test_careful_sign),
		cmocka_unit_test(test_errors_unwind),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_nothing_for_nothing),
		cmocka_unit_test(test_and_is_two_jumps),
		cmocka_unit_test(test_add_in_one_step),
		cmocka_unit_test(test_kernel_forms),
		cmocka_unit_test(test_arena_full),
		cmocka_unit_test(test_rip),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
