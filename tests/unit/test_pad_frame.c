// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests frames that jump pads write without a call of C: when pads do so, for which actions they
 * cannot, and how many instructions a frame takes.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "pad/frame.h"
#include "tests/fuzz/paddiff.h"
#include "tests/fuzz/padframe.h"
#include "pad_case.h"
#include "pad_steps.h"

enum {
	STACK_TOP = PADWORLD_STACK + PADWORLD_STACK_SIZE - 512,
	SLOT = 2,
	BUFFER = 4096,
};

static struct {
	struct pad_case_expr cond, expr;
	struct ax_jit_item item;
	struct gtp_region region;
	struct gtp_pad_frame frame;
	struct gtp_pad_request req;
	struct gtp_tracepoint tp;
	struct gtp_run run;
	struct gtp_cpu cpu;
	u64 quick[SLOT + 1];
	struct gtp_tp_stat stat[SLOT + 1];
	u64 mem[BUFFER / 8];
	struct padworld_regs regs;
	struct padworld_hit hit;
	u64 entry;
	u32 len, landing;
	u64 pass;    /* pass count of the tracepoint that make() makes */
	bool jumped; /* make() makes a pad that is entered by a jump and returns */
} t;

/* Set up the CPU and the run for an ordinary hit. */
static void make_plain(void)
{
	pad_case_cpu(&t.cpu, &t.run, t.quick, t.mem, sizeof(t.mem));
	memset(t.quick, 0, sizeof(t.quick));
	memset(t.stat, 0, sizeof(t.stat));
	t.cpu.stat = t.stat;
	t.tp.plan.in_pad = &t;
	padworld()->task.tgid = 7;
}

/* Make a pad with one action; @collects: the size of its blocks, 0 if it collects a string. */
static u64 make(const char *cond, const struct ax_jit_item *item, u32 collects)
{
	pad_case_nop(&t.region);
	t.tp = (struct gtp_tracepoint){
		.num = 3,
		.slot = SLOT,
		.frame_bytes = collects,
		.code = collects ? &t : NULL,
		.pass = t.pass,
	};
	t.tp.plan.start = sizeof(struct gtp_frame) + collects + (3ULL << 32);
	t.tp.actions = (struct gtp_action *)item; /* not NULL: there are actions */
	padtask_frame(&t.frame, &t.tp, item, item ? 1 : 0);
	t.req = (struct gtp_pad_request){
		.region = &t.region,
		.at = padworld_at(),
		.number = PADWORLD_NUMBER,
		.cond = cond ? pad_case_assemble(&t.cond, cond, AX_CONDITION) : NULL,
		.frame = &t.frame,
	};
	padworld_put(t.region.bytes, t.region.len);
	if (t.jumped) {
		t.req.region = NULL;
		t.req.held = padworld_landing(PADWORLD_NEAR);
		t.req.open = padworld_at() + t.region.len; /* the first landing */
	}
	t.entry = padworld_make(&t.req, &t.len);
	return t.entry;
}

static const struct ax_jit_item *expression(const char *text)
{
	t.item = (struct ax_jit_item){
		.kind = AX_JIT_EXPR,
		.v = pad_case_assemble(&t.expr, text, AX_ACTION),
	};
	return &t.item;
}

static void run(u64 rdi, bool step)
{
	t.regs = (struct padworld_regs){ .flags = 0x202 | (step ? PAD_TRAP_FLAG : 0) };
	t.regs.gpr[X86_RDI] = rdi;
	t.regs.gpr[X86_RSP] = STACK_TOP;
	pad_steps_begin(t.entry, t.len);
	t.landing = padworld_run(&t.regs, t.entry, &t.hit);
	assert_int_equal(t.regs.gpr[X86_RDI], rdi);
	if (t.jumped)
		return;
	assert_int_equal(t.landing, PADWORLD_BEHIND);
	assert_int_equal(t.regs.gpr[X86_RSP], STACK_TOP);
}

#define FIELD "reg 5; ref32; ext 32; const8 5; swap; less_signed; end"
#define SUM                                                                                        \
	"reg 5; trace_quick 4; ref32; ext 32; reg 5; const8 4; add; trace_quick 4; ref32; "        \
	"ext 32; add; pop; end"

/* With the condition "o->a > 5", collect "o->a + o->b": the frame has a block for each field. */
static void test_sum(void **state)
{
	const struct gtp_frame *f = (const struct gtp_frame *)t.mem;
	const u32 collects = 2 * (16 + 8);
	u32 *o = (u32 *)PADWORLD_STACK, got;

	assert_int_not_equal(make(FIELD, expression(SUM), collects), 0);
	make_plain();
	o[0] = 4;
	run(PADWORLD_STACK, false);
	assert_int_equal(t.cpu.buf.created, 0);
	o[0] = 6;
	o[1] = 9;
	run(PADWORLD_STACK, false);
	assert_int_equal(t.hit.count, 0);
	assert_int_equal(t.cpu.in_hit, 0);
	assert_int_equal(t.cpu.buf.created, 1);
	assert_int_equal(t.cpu.buf.head, sizeof(*f) + collects);
	assert_int_equal(t.quick[SLOT], 1);
	assert_int_equal(f->size, sizeof(*f) + collects);
	assert_int_equal(f->tp, 3);
	assert_int_equal(f->pc, padworld_at());
	assert_int_equal(gtp_frame_read_mem(f, PADWORLD_STACK, &got, 4), 4);
	assert_int_equal(got, 6);
	assert_int_equal(gtp_frame_read_mem(f, PADWORLD_STACK + 4, &got, 4), 4);
	assert_int_equal(got, 9);
}

#define STRING                                                                                     \
	"reg 5; trace_quick 8; pop; reg 5; const16 200; tracenz; reg 5; trace_quick 2; pop; end"

/*
 * Run a pad that collects @text, to which rdi points. Return the string's block, or NULL if the pad
 * left the hit to C.
 */
static const struct gtp_block *string_block(const char *text, u32 len)
{
	const struct gtp_frame *f = (const struct gtp_frame *)t.mem;
	char *at = (char *)PADWORLD_STACK + 3;

	make_plain();
	memset(t.mem, 0xa5, sizeof(t.mem));
	memset((void *)PADWORLD_STACK, 'x', 128);
	memcpy(at, text, len);
	run((u64)(uintptr_t)at, false);
	assert_int_equal(t.cpu.in_hit, 0);
	if (!t.cpu.buf.created) {
		assert_int_equal(t.hit.count, 1);
		assert_int_equal(t.cpu.buf.head, 0);
		assert_int_equal(t.stat[SLOT].hits, 0);
		return NULL;
	}
	assert_int_equal(t.hit.count, 0);
	assert_int_equal(f->size, t.cpu.buf.head);
	assert_int_equal(t.stat[SLOT].hits, 1);
	assert_int_equal(t.stat[SLOT].usage, f->size);
	assert_int_equal(t.quick[SLOT], 0);
	return gtp_frame_next_block(f, gtp_frame_next_block(f, NULL));
}

/* The pad collects strings that end within the words it reads; C collects longer ones. */
static void test_string(void **state)
{
	static const char text[] =
		"the quick brown fox jumps over the lazy dog, and not for a second time";
	const struct gtp_frame *f = (const struct gtp_frame *)t.mem;
	char cut[80];

	for (u32 i = 0; i < 4; i++) {
		t.pass = i % 2 ? 1000 : 0;
		assert_int_not_equal(make(i / 2 ? FIELD : NULL, expression(STRING), 0), 0);
		for (u32 len = 0; len < sizeof(text); len++) {
			const struct gtp_block *b, *next;

			memcpy(cut, text, len);
			cut[len] = '\0';
			b = string_block(cut, len + 1);
			if (len >= 64) {
				assert_null(b);
				continue;
			}
			assert_non_null(b);
			assert_int_equal(b->type, GTP_BLOCK_MEM);
			assert_int_equal(b->len, strlen(cut) + 1);
			assert_int_equal(*(u64 *)(b + 1), PADWORLD_STACK + 3);
			assert_memory_equal((char *)(b + 1) + 8, cut, b->len);
			next = gtp_frame_next_block(f, b);
			assert_non_null(next);
			assert_int_equal(next->len, 2);
			assert_memory_equal((char *)(next + 1) + 8, (char *)PADWORLD_STACK + 3, 2);
			assert_null(gtp_frame_next_block(f, next));
		}
	}
	t.pass = 0;
}

/* A pad that is entered by a jump, as for a kernel tracepoint, writes the frame and returns. */
static void test_jumped_to(void **state)
{
	struct ax_jit_item regs = { .kind = AX_JIT_REGS, .mask = 1U << GTP_REG_SP };
	const struct gtp_frame *f = (const struct gtp_frame *)t.mem;
	static const struct {
		const char *cond;
		bool full;
		u32 landing;
	} rows[] = {
		{ NULL, false, PADWORLD_FAR },
		{ "const8 1; end", false, PADWORLD_FAR },
		{ NULL, true, PADWORLD_BEHIND },
		{ "const8 1; end", true, PADWORLD_NEAR },
	};
	u64 rsp;

	t.jumped = true;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		bool left = rows[i].full;

		assert_int_not_equal(make(rows[i].cond, &regs, 8 + 8 + 8), 0);
		make_plain();
		if (left)
			t.cpu.buf.end = 8;
		*(u64 *)STACK_TOP = padworld_landing(PADWORLD_FAR);
		run(77, false);
		assert_int_equal(t.landing, rows[i].landing);
		assert_int_equal(t.hit.count, 0);
		assert_int_equal(t.regs.gpr[X86_RSP], STACK_TOP + (left ? 0 : 8));
		assert_int_equal(t.cpu.buf.created, !left);
		assert_int_equal(t.cpu.in_hit, 0);
		if (left)
			continue;
		assert_true(gtp_frame_get_reg(f, GTP_REG_SP, &rsp));
		assert_int_equal(rsp, STACK_TOP);
	}
	t.jumped = false;
}

/* The pad counts all hits except the last one. It leaves that hit to C, which ends the run. */
static void test_pass_count(void **state)
{
	for (u32 faulty = 0; faulty < 2; faulty++) {
		t.pass = 4;
		assert_int_not_equal(make("const8 1; end", expression(SUM), 48), 0);
		t.pass = 0;
		make_plain();
		for (u32 i = 1; i <= 5; i++) {
			u32 written = faulty ? 0 : i < 3 ? i : 3;

			run(faulty ? 0x1000 : PADWORLD_STACK, false);
			assert_int_equal(t.hit.count, faulty || i > 3);
			assert_int_equal(t.tp.pass_hits, written);
			assert_int_equal(t.cpu.buf.created, written);
			assert_int_equal(t.quick[SLOT], written);
		}
	}
}

/* Check for which tracepoints a pad can write frames. */
static void test_can(void **state)
{
	struct gtp_location loc = { .first = &t.tp, .run = &t.run };

	t.tp = (struct gtp_tracepoint){ .plan.in_pad = &t, .loc = &loc };
	assert_true(gtp_pad_frame_can(&t.tp, false));
	loc.kind = GTP_LOCATION_EVENT;
	assert_true(gtp_pad_frame_can(&t.tp, false));
	loc.kind = GTP_LOCATION_RETURN;
	assert_false(gtp_pad_frame_can(&t.tp, false));
	loc.kind = GTP_LOCATION_CODE;
	t.tp.plan.in_pad = NULL;
	assert_false(gtp_pad_frame_can(&t.tp, false));
	t.tp.plan.in_pad = &t;
	t.tp.cond = (struct gtp_expr *)&t;
	assert_false(gtp_pad_frame_can(&t.tp, false));
	assert_true(gtp_pad_frame_can(&t.tp, true));
}

static void not_active(void)
{
	t.run.active = false;
}

static void in_hit(void)
{
	t.cpu.in_hit = 2;
}

static void not_in_pad(void)
{
	t.tp.plan.in_pad = NULL;
}

static void no_room(void)
{
	t.cpu.buf.end = (u32)(sizeof(struct gtp_frame) + t.tp.frame_bytes) - 8;
}

static void faults(void)
{
	t.regs.gpr[X86_RDI] = 0x1000;
}

static void above_limit(void)
{
	t.regs.gpr[X86_RDI] = PADWORLD_LIMIT;
}

/* In an unusual state the pad changes nothing, and calls C with the registers of the hit. */
static void test_left_to_c(void **state)
{
	static void (*const unlike[])(void) = {
		pad_case_no_part, pad_case_no_location, pad_case_is_self, not_active,
		in_hit,		  not_in_pad,		no_room,	  faults,
		above_limit,
	};

	for (u32 i = 0; i < ARRAY_SIZE(unlike) * 2; i++) {
		bool cond = i % 2;
		struct gtp_cpu before;

		assert_int_not_equal(make(cond ? "const8 1; end" : NULL, expression(SUM), 48), 0);
		make_plain();
		t.regs.gpr[X86_RDI] = PADWORLD_STACK;
		unlike[i / 2]();
		before = t.cpu;
		run(t.regs.gpr[X86_RDI], false);
		if (t.hit.count != 1)
			fail_msg("row %u: pad_hit was called %llu times", i / 2, t.hit.count);
		assert_int_equal(t.hit.number, PADWORLD_NUMBER << 1 | (cond ? GTP_PAD_HELD : 0));
		assert_int_equal(t.hit.regs.gpr[X86_RSP], STACK_TOP);
		assert_int_equal(t.hit.regs.gpr[X86_R10], 0);
		assert_int_equal(t.hit.regs.gpr[X86_R11], 0);
		assert_memory_equal(&t.cpu, &before, sizeof(before));
		assert_int_equal(t.quick[SLOT], 0);
	}
}

/* The pad writes a frame that just fits into the buffer. */
static void test_last_room(void **state)
{
	assert_int_not_equal(make(NULL, NULL, 0), 0);
	make_plain();
	t.cpu.buf.end = sizeof(struct gtp_frame);
	run(PADWORLD_STACK, false);
	assert_int_equal(t.cpu.buf.created, 1);
	run(PADWORLD_STACK, false);
	assert_int_equal(t.cpu.buf.created, 1);
	assert_int_equal(t.hit.count, 1);
}

/* The pad writes a frame with a string only if the buffer has room for the longest string. */
static void test_last_room_of_strings(void **state)
{
	const u32 most = (u32)sizeof(struct gtp_frame) + 3 * 16 + 2 * 8 + 64;

	assert_int_not_equal(make(NULL, expression(STRING), 0), 0);
	for (u32 missing = 0; missing <= 8; missing += 8) {
		make_plain();
		t.cpu.buf.end = most - missing;
		memset((char *)PADWORLD_STACK, 'x', 63);
		*((char *)PADWORLD_STACK + 63) = 0;
		run(PADWORLD_STACK, false);
		assert_int_equal(t.cpu.buf.created, !missing);
		assert_int_equal(t.cpu.buf.head, missing ? 0 : most);
		assert_int_equal(t.hit.count, !!missing);
	}
}

static void test_refused(void **state)
{
	static const char *const exprs[] = {
		"const8 1; setv 40; pop; end", "tracev 40; end",
		"getv 40; pop; end",	       "reg 17; pop; end",
		"reg 5; reg 5; trace; end",    "reg 5; const8 33; trace; end",
	};
	struct ax_jit_item far = { .kind = AX_JIT_MEM, .base = 7, .len = 33 };
	struct ax_jit_item elsewhere = { .kind = AX_JIT_ELSEWHERE };
	struct ax_jit_item by_flags = { .kind = AX_JIT_MEM, .base = 17, .len = 4 };

	for (u32 i = 0; i < ARRAY_SIZE(exprs); i++)
		if (make(NULL, expression(exprs[i]), 16))
			fail_msg("row %u is accepted", i);
	assert_int_equal(make(NULL, &far, 16 + 40), 0);
	assert_int_equal(make(NULL, &elsewhere, 0), 0);
	assert_int_equal(make(NULL, &by_flags, 24), 0);
	/* The expression collects 48 bytes, so a pad for 40 is refused. */
	assert_int_equal(make(NULL, expression(SUM), 40), 0);
	assert_int_not_equal(make(NULL, expression(SUM), 48), 0);
}

/* If interrupts may be on, the pad disables them before it looks up its CPU. */
static void test_cli(void **state)
{
	static const u8 off[] = { 0xfa, 0x65, 0x4c, 0x8b, 0x14, 0x25 }; /* cli; mov r10, gs:[] */
	const u8 *code;

	assert_int_not_equal(make(NULL, NULL, 0), 0);
	assert_null(memmem((const void *)t.entry, t.len, off, sizeof(off)));
	t.frame.cli = true;
	t.entry = padworld_make(&t.req, &t.len);
	code = memmem((const void *)t.entry, t.len, off, sizeof(off));
	assert_non_null(code);
	assert_int_equal(*(const u8 *)t.entry, 0x9c); /* pushfq is first */
}

/*
 * Count the instructions of a frame, without the displaced instructions, the jump to the pad, and
 * the cli.
 */
static void test_cost(void **state)
{
	struct ax_jit_item all = { .kind = AX_JIT_REGS, .mask = GTP_REGS_KNOWN };
	struct ax_jit_item object = { .kind = AX_JIT_MEM, .base = 5, .len = 16 };
	const struct {
		const char *name, *cond;
		const struct ax_jit_item *item;
		u32 collects, steps, bytes, pass;
	} rows[] = {
		{ "empty", NULL, NULL, 0, 50, 270, 0 },
		{ "*o", NULL, &object, 32, 60, 319, 0 },
		{ "a + b", NULL, expression(SUM), 48, 67, 351, 0 },
		{ "$regs", NULL, &all, 8 + 8 + 8 * 20, 78, 444, 0 },
		{ "both", FIELD, expression(SUM), 48, 80, 469, 0 },
		{ "both, pass count", FIELD, expression(SUM), 48, 88, 511, 1000000 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		padworld()->code->target.task = (s32)offsetof(struct padtask, self);
		t.pass = rows[i].pass;
		make(rows[i].cond, rows[i].item, rows[i].collects);
		t.pass = 0;
		padworld()->code->target.task = 0;
		assert_int_not_equal(t.entry, 0);
		make_plain();
		*(u32 *)PADWORLD_STACK = 6;
		run(PADWORLD_STACK, true);
		assert_int_equal(t.cpu.buf.created, 1);
		if (pad_steps() > rows[i].steps + t.region.n || t.len > rows[i].bytes)
			fail_msg("%s: %u instructions, %u bytes", rows[i].name,
				 pad_steps() - t.region.n, t.len);
	}
}

/* collect/s of 16 bytes costs at most twice as much as collecting an array of that size. */
static void test_string_cost(void **state)
{
	padworld()->code->target.task = (s32)offsetof(struct padtask, self);
	make(NULL, expression("reg 5; const16 200; tracenz; end"), 0);
	padworld()->code->target.task = 0;
	assert_int_not_equal(t.entry, 0);
	make_plain();
	memcpy((char *)PADWORLD_STACK, "fifteen letters", 16);
	run(PADWORLD_STACK, true);
	assert_int_equal(t.cpu.buf.created, 1);
	if (pad_steps() > 95U + t.region.n || t.len > 900)
		fail_msg("%u instructions, %u bytes", pad_steps() - t.region.n, t.len);
}

/* Random pads; tests/fuzz/random_pad runs many more, without sanitizers. */
static void test_random(void **state)
{
	static struct axgen g;

	jit_user_catch_faults();
	for (u64 n = 1; n <= 3000; n++) {
		g.rng = n * 0xd1342543de82ef95;
		paddiff(&g);
	}
	assert_true(padframe_stats.written > 100 && padframe_stats.left > 100);
	assert_true(padframe_stats.strings > 10);
	assert_true(padframe_stats.blocks > 100 && paddiff_stats.followed > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),	    cmocka_unit_test(test_string),
		cmocka_unit_test(test_string_cost), cmocka_unit_test(test_left_to_c),
		cmocka_unit_test(test_last_room),   cmocka_unit_test(test_last_room_of_strings),
		cmocka_unit_test(test_refused),	    cmocka_unit_test(test_cli),
		cmocka_unit_test(test_jumped_to),   cmocka_unit_test(test_can),
		cmocka_unit_test(test_pass_count),  cmocka_unit_test(test_cost),
		cmocka_unit_test(test_random),
	};

	padworld();
	return cmocka_run_group_tests_name("pad_frame", tests, NULL, NULL);
}
