// SPDX-License-Identifier: GPL-2.0-only
/*
 * Returns and indirect branches in generated code have the form that the mitigations for processor
 * bugs require, wherever the code is in a cache line.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "pad/pad.h"
#include "tools/axasm.h"

enum { ROOM = 4096, LINE = 2 * AX_JIT_LINE_HALF };

static struct {
	u8 code[AX_MAX_LEN];
	struct ax_point points[AX_MAX_LEN];
	struct ax_verified v;
	struct ax_jit_target target;
	u8 buf[ROOM];
} t;

/* struct branches - the number of branches of each kind in some code */
struct branches {
	u32 returns;  /* returns other than those through the return thunk */
	u32 thunks;   /* jumps to the return thunk */
	u32 indirect; /* jumps and calls through a register or memory */
	u32 unsafe;   /* indirect branches that end in the lower half of a cache line */
	u32 unfenced; /* indirect branches without an lfence in front, apart from nops */
	u32 open;     /* returns, thunk jumps and indirect jumps not followed by an int3 */
	u32 at_load;  /* indirect branches where the fault handler expects a load */
};

/* Return an address near this program: generated code must be near the C functions it calls. */
static u64 near_us(u32 offset)
{
	return ((u64)(uintptr_t)ax_jit_stubs & ~(LINE - 1ULL)) + 0x100000 + offset;
}

static bool is_nop(const u8 *p)
{
	return p[0] == 0x90 || (p[0] == 0x66 && p[1] == 0x90) || (p[0] == 0x0f && p[1] == 0x1f) ||
	       (p[0] == 0x66 && p[1] == 0x0f && p[2] == 0x1f);
}

static bool is_lfence(const u8 *p)
{
	return p[0] == 0x0f && p[1] == 0xae && p[2] == 0xe8;
}

static void count_indirect(struct branches *c, u64 at, u32 len, bool fenced)
{
	c->indirect++;
	c->unsafe += !((at + len - 1) & AX_JIT_LINE_HALF);
	c->unfenced += !fenced;
	c->at_load += at % AX_JIT_LOAD_ALIGN == 0;
}

/* Return the branches among the instructions in @len bytes that run at @base. */
static struct branches read_code(const u8 *p, u32 len, u64 base)
{
	struct branches c = {};
	struct gtp_insn insn;
	bool fenced = false;
	u32 at;

	for (at = 0; at < len; at += insn.len) {
		bool ends = false;

		if (gtp_insn_decode(&insn, p + at, len - at))
			fail_msg("no instruction at %u of %u: %02x", at, len, p[at]);
		if (insn.kind == GTP_INSN_RET) {
			c.returns++;
			ends = true;
		} else if (insn.kind == GTP_INSN_JMP &&
			   base + at + insn.len + (u64)(s64)insn.rel == t.target.return_thunk) {
			c.thunks++;
			ends = true;
		} else if (insn.kind == GTP_INSN_JMP_REG || insn.kind == GTP_INSN_CALL_REG) {
			count_indirect(&c, base + at, insn.len, fenced);
			ends = insn.kind == GTP_INSN_JMP_REG;
		}
		if (ends && (at + insn.len >= len || p[at + insn.len] != 0xcc))
			c.open++;
		fenced = is_lfence(p + at) || (fenced && is_nop(p + at));
	}
	assert_int_equal(at, len);
	return c;
}

static void region(struct gtp_region *r, const char *bytes, u32 len)
{
	memset(r, 0, sizeof(*r));
	r->len = (u8)len;
	memcpy(r->bytes, bytes, len);
	for (u32 at = 0; at < len; at += r->insn[r->n++].len)
		assert_int_equal(gtp_insn_decode(&r->insn[r->n], r->bytes + at, len - at), 0);
}

static const struct ax_verified *assembled(const char *text, bool condition)
{
	struct ax_error err;
	char why[256];
	int len = axasm(text, t.code, sizeof(t.code), why, sizeof(why));

	if (len < 0)
		fail_msg("%s", why);
	if (ax_verify(t.code, (u32)len, condition ? AX_CONDITION : AX_ACTION, t.points, &t.v,
		      &err) != AX_OK)
		fail_msg("%s at %u", ax_error_name(err.code), err.pc);
	return &t.v;
}

static struct branches pad(const struct gtp_region *r, const char *cond, u64 base)
{
	struct gtp_pad_request req = {
		.region = r,
		.cond = cond ? assembled(cond, true) : NULL,
		.target = &t.target,
		.at = base + 0x10000,
		.number = 7,
	};
	struct ax_jit *work = malloc(gtp_pad_work_size(&req));
	u32 len = gtp_pad_plan(work, &req);

	assert_in_range(len, 1, ROOM);
	memset(t.buf, 0xf1, ROOM);
	assert_int_equal(ax_jit_emit(work, base, t.buf, len), 0);
	assert_int_equal(t.buf[len], 0xf1);
	free(work);
	return read_code(t.buf, len, base);
}

static void kernel_like(void)
{
	t.target = (struct ax_jit_target){
		.lahf = true,
		.fast = true,
		.fast_limit = 0x7fff0000,
		.endbr = true,
		.pad_hit = near_us(0x40000),
	};
}

static const char *const conds[] = {
	NULL,
	"reg 5; const8 42; equal; end",
	"reg 5; const8 8; add; ref32; ext 32; const16 1000; swap; less_signed; end",
};

/*
 * Check the code of a branch after 0 to 4 nops, in pads at several offsets, so that the branch is
 * at every offset in a cache line.
 */
static void each_place(const char *bytes, u32 len, void (*check)(const struct branches *c))
{
	static const char nops[] = "\x90\x90\x90\x90\x90\x90\x90\x90";
	struct gtp_region r;
	struct branches c;

	for (u32 k = 0; k < ARRAY_SIZE(conds); k++)
		for (u32 offset = 0; offset < LINE; offset += AX_JIT_CODE_ALIGN)
			for (u32 n = 0; n < 5; n++) {
				char text[16];

				memcpy(text, nops, n);
				memcpy(text + n, bytes, len);
				region(&r, text, n + len);
				c = pad(&r, conds[k], near_us(offset));
				check(&c);
			}
}

static void is_thunk(const struct branches *c)
{
	assert_int_equal(c->returns, 0);
	assert_int_equal(c->thunks, 1);
	assert_int_equal(c->open, 0);
}

static void is_return(const struct branches *c)
{
	assert_int_equal(c->returns, 1);
	assert_int_equal(c->open, 0);
}

/* A displaced return, and the end of a called pad, use the thunk at any offset in a cache line. */
static void test_displaced_return(void **state)
{
	kernel_like();
	each_place("\xc3", 1, is_return);
	t.target.return_thunk = near_us(0x50000);
	each_place("\xc3", 1, is_thunk);
	each_place("\xf3\xc3", 2, is_thunk);
	for (u32 k = 0; k < ARRAY_SIZE(conds); k++) {
		struct branches c = pad(NULL, conds[k], near_us(16 * k));

		is_thunk(&c);
	}
}

static void is_safe(const struct branches *c)
{
	assert_int_equal(c->indirect, 1);
	assert_int_equal(c->unsafe, 0);
	assert_int_equal(c->unfenced, 0);
	assert_int_equal(c->open, 0);
	assert_int_equal(c->at_load, 0);
}

static u32 unsafe;

static void is_plain(const struct branches *c)
{
	assert_int_equal(c->indirect, 1);
	assert_int_equal(c->unfenced, 1);
	assert_int_equal(c->open, 0);
	assert_int_equal(c->at_load, 0);
	unsafe += c->unsafe;
}

static void test_displaced_indirect(void **state)
{
	static const struct {
		const char *bytes;
		u32 len;
	} rows[] = {
		{ "\xff\xe0", 2 },		       /* jmp *%rax */
		{ "\x41\xff\xe3", 3 },		       /* jmp *%r11 */
		{ "\xff\x63\x08", 3 },		       /* jmp *8(%rbx) */
		{ "\xff\xd3", 2 },		       /* call *%rbx */
		{ "\x41\xff\xd2", 3 },		       /* call *%r10 */
		{ "\xff\x53\x08", 3 },		       /* call *8(%rbx) */
		{ "\xff\x15\x00\x01\x00\x00", 6 },     /* call *256(%rip) */
		{ "\xff\x14\xc5\x00\x10\x00\x01", 7 }, /* call *0x1001000(,%rax,8) */
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		kernel_like();
		unsafe = 0;
		each_place(rows[i].bytes, rows[i].len, is_plain);
		assert_int_not_equal(unsafe, 0); /* otherwise this test proves nothing */
		t.target.upper_half = true;
		t.target.lfence = true;
		each_place(rows[i].bytes, rows[i].len, is_safe);
	}
}

/* Snippets have returns, and no indirect branches. */
static void test_snippets(void **state)
{
	static const char *const text[] = {
		"reg 5; end",
		"reg 5; ref32; end",
		"reg 5; reg 4; div_unsigned; end",
		"reg 5; dup; if_goto a; const8 1; end; a: const8 2; end",
		"reg 5; ref64; trace_quick 8; ref8; end",
	};

	for (u32 i = 0; i < ARRAY_SIZE(text); i++)
		for (u32 offset = 0; offset < LINE; offset += AX_JIT_CODE_ALIGN) {
			struct ax_jit_request req = { .target = &t.target };
			struct branches c;
			struct ax_jit *work;
			u32 n;

			kernel_like();
			t.target.return_thunk = near_us(0x50000);
			for (u32 s = 0; s < AX_JIT_NR_STUBS; s++)
				t.target.stub[s] = near_us(0x60000 + 64 * s);
			req.v = assembled(text[i], false);
			work = malloc(ax_jit_work_size(&req));
			n = ax_jit_plan(work, &req);
			assert_in_range(n, 1, ROOM);
			assert_int_equal(ax_jit_emit(work, near_us(offset), t.buf, ROOM), 0);
			free(work);
			assert_memory_equal(t.buf, "\xf3\x0f\x1e\xfa", 4); /* endbr64 */
			c = read_code(t.buf, n, near_us(offset));
			assert_int_equal(c.returns, 0);
			assert_int_not_equal(c.thunks, 0);
			assert_int_equal(c.indirect, 0);
			assert_int_equal(c.open, 0);
		}
}

/* The common stubs reach the kernel's functions without an indirect call. */
static void test_stubs(void **state)
{
	struct branches c;
	u32 n;

	for (u32 offset = 0; offset < LINE; offset += AX_JIT_CODE_ALIGN) {
		kernel_like();
		t.target.return_thunk = near_us(0x50000);
		n = ax_jit_stubs(&t.target, near_us(offset), t.buf, ROOM);
		assert_int_not_equal(n, 0);
		c = read_code(t.buf, n, near_us(offset));
		assert_int_equal(c.returns, 0);
		assert_true(c.thunks >= AX_JIT_NR_STUBS);
		assert_int_equal(c.indirect, 0);
		assert_int_equal(c.open, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_displaced_return),
		cmocka_unit_test(test_displaced_indirect),
		cmocka_unit_test(test_snippets),
		cmocka_unit_test(test_stubs),
	};

	return cmocka_run_group_tests_name("branches", tests, NULL, NULL);
}
