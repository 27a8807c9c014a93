// SPDX-License-Identifier: GPL-2.0-only
/* Tests jump pads: their behaviour, refusals, and the number of their instructions and bytes. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/fuzz/paddiff.h"
#include "tests/fuzz/padworld.h"
#include "pad_case.h"
#include "pad_steps.h"

enum { STACK_TOP = PADWORLD_STACK + PADWORLD_STACK_SIZE - 512 };

static struct {
	struct pad_case_expr e;
	struct gtp_region region;
	struct gtp_pad_request req;
	struct padworld_regs regs;
	struct padworld_hit hit;
	u64 entry;
	u32 len;
	u32 skip; /* the value of @skip in struct gtp_pad_request */
} t;

static const struct ax_verified *condition(const char *text)
{
	return pad_case_assemble(&t.e, text, AX_CONDITION);
}

#define REGION(text) set_region((const u8 *)(text), sizeof(text) - 1)

static void set_region(const u8 *bytes, u32 len)
{
	struct gtp_region *r = &t.region;

	memset(r, 0, sizeof(*r));
	r->len = (u8)len;
	r->falls_out = true;
	memcpy(r->bytes, bytes, len);
	for (u32 at = 0; at < len; at += r->insn[r->n++].len)
		assert_int_equal(gtp_insn_decode(&r->insn[r->n], bytes + at, len - at), 0);
}

static void ask(const char *cond)
{
	t.req = (struct gtp_pad_request){
		.region = &t.region,
		.at = padworld_at(),
		.number = PADWORLD_NUMBER,
		.cond = cond ? condition(cond) : NULL,
	};
}

static void make(const char *cond)
{
	ask(cond);
	padworld_put(t.region.bytes, t.region.len);
	t.entry = padworld_make(&t.req, &t.len);
}

/* Run the pad. @step: with the trap flag set, so that each instruction traps and is counted. */
static u32 run(u64 rdi, bool step)
{
	t.regs = (struct padworld_regs){ .flags = 0x202 | (step ? PAD_TRAP_FLAG : 0) };
	t.regs.gpr[X86_RDI] = rdi;
	t.regs.gpr[X86_RSP] = STACK_TOP;
	pad_steps_begin(t.entry, t.len);
	return padworld_run(&t.regs, t.entry, &t.hit);
}

#define FIELD "reg 5; const8 8; add; ref32; ext 32; const16 1000; swap; less_signed; end"
#define EQUAL "reg 5; const8 42; equal; end"

/* Count instructions and bytes of a false condition, without displaced code and the jump to it. */
static void test_instructions(void **state)
{
	static const struct {
		const char *cond;
		bool dead;
		bool mark; /* the pad marks the task while it reads memory, as in the kernel */
		u32 steps, bytes;
	} rows[] = {
		{ EQUAL, true, false, 3, 34 },	 /* cmp, jcc, jmp back */
		{ EQUAL, false, false, 10, 48 }, /* push, lahf, seto; add, sahf, pop; a nop */
		{ EQUAL, false, true, 10, 48 },
		{ FIELD, true, false, 6, 60 },
		{ FIELD, false, false, 12, 80 },
		{ FIELD, true, true, 14, 144 },
		{ FIELD, false, true, 19, 156 },
		{ "reg 5; ref64; const8 4; add; ref16; const8 9; equal; end", true, false, 13, 80 },
		{ "getv 4; const8 42; equal; end", true, false, 8,
		  64 }, /* $current_task_pid == 42 */
		{ "getv 4; const8 42; equal; end", false, false, 15, 80 },
		{ "reg 5; ref8; if_goto 10; goto 23; reg 5; ref8; if_goto 20; goto 23; const8 1; "
		  "end; const8 0; end",
		  true, false, 7, 84 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		REGION("\x55\x48\x89\xe5\x53"); /* push rbp; mov rbp, rsp; push rbx */
		t.region.flags_dead = rows[i].dead;
		padworld()->code->target.task = rows[i].mark ? (s32)offsetof(struct padtask, self) :
							       0;
		make(rows[i].cond);
		padworld()->code->target.task = 0;
		assert_int_not_equal(t.entry, 0);
		memset((void *)PADWORLD_STACK, 0, 64);
		if (strstr(rows[i].cond, "ref64"))
			*(u64 *)PADWORLD_STACK = PADWORLD_STACK;
		assert_int_equal(run(PADWORLD_STACK, true), PADWORLD_BEHIND);
		assert_int_equal(t.hit.count, 0);
		if (pad_steps() > rows[i].steps + t.region.n || t.len > rows[i].bytes)
			fail_msg("row %u: %u instructions, %u bytes", i, pad_steps() - t.region.n,
				 t.len);
	}
}

/* When the pad calls pad_hit, all registers, even rsp, have the hit's values. */
static void test_hit(void **state)
{
	static const struct {
		const char *cond;
		u64 word; /* the pushed word; 0: pad_hit is not called */
	} rows[] = {
		{ NULL, PADWORLD_NUMBER << 1 },
		{ "const8 1; end", PADWORLD_NUMBER << 1 | GTP_PAD_HELD },
		{ "const8 0; end", 0 },
		{ "reg 5; end", PADWORLD_NUMBER << 1 | GTP_PAD_HELD },
		{ "reg 5; ref8; end", PADWORLD_NUMBER << 1 | GTP_PAD_HELD },
		{ "const8 8; ref8; end", PADWORLD_NUMBER << 1 }, /* faults */
		{ "const64 0xffff888000000000; ref8; end", PADWORLD_NUMBER << 1 },
		{ "reg 5; const64 0x100000000000; add; ref8; end", PADWORLD_NUMBER << 1 },
		{ "reg 5; const8 0; div_signed; end", PADWORLD_NUMBER << 1 },
		{ "reg 5; reg 0; rem_unsigned; end", PADWORLD_NUMBER << 1 }, /* rax is 0 */
		{ "reg 7; const32 0x300ffe00; equal; end", PADWORLD_NUMBER << 1 | GTP_PAD_HELD },
		/*
		 * The values of the CPU, the task and its pid, which padworld() sets, have 64 bits.
		 */
		{ "getv 1; const32 0xfffffffe; equal; end", PADWORLD_NUMBER << 1 | GTP_PAD_HELD },
		{ "getv 1; const64 0xfffffffffffffffe; equal; end", 0 },
		{ "getv 3; getv 3; equal; end", PADWORLD_NUMBER << 1 | GTP_PAD_HELD },
		{ "getv 3; log_not; end", 0 },
		{ "getv 4; const64 0xfffffffffffffffb; equal; end",
		  PADWORLD_NUMBER << 1 | GTP_PAD_HELD },
		{ "getv 4; const32 0xfffffffb; equal; end", 0 },
	};

	assert_int_equal(STACK_TOP, 0x300ffe00);
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		REGION("\x0f\x1f\x44\x00\x00");
		make(rows[i].cond);
		memset((void *)PADWORLD_STACK, 0x11, 64);
		assert_int_not_equal(t.entry, 0);
		assert_int_equal(run(PADWORLD_STACK, false), PADWORLD_BEHIND);
		if (t.hit.count != !!rows[i].word || t.hit.number != rows[i].word)
			fail_msg("row %u: called %llu times, with 0x%llx", i, t.hit.count,
				 t.hit.number);
		assert_int_equal(t.regs.gpr[X86_RDI], PADWORLD_STACK);
		assert_int_equal(t.regs.gpr[X86_RSP], STACK_TOP);
		if (!t.hit.count)
			continue;
		assert_int_equal(t.hit.regs.gpr[X86_RDI], PADWORLD_STACK);
		assert_int_equal(t.hit.regs.gpr[X86_RSP], STACK_TOP);
		assert_int_equal(t.hit.regs.gpr[X86_RAX], 0);
	}
}

/* A pad without a region is entered by a call, and returns. It reads rsp as before the call. */
static void test_called(void **state)
{
	ask("reg 7; const32 0x300ffe08; equal; end");
	t.req.region = NULL;
	t.entry = padworld_make(&t.req, &t.len);
	*(u64 *)STACK_TOP = padworld_landing(PADWORLD_FAR);
	assert_int_equal(run(0, false), PADWORLD_FAR);
	assert_int_equal(t.hit.number, PADWORLD_NUMBER << 1 | GTP_PAD_HELD);
	assert_int_equal(t.regs.gpr[X86_RSP], STACK_TOP + 8);
}

/*
 * Make a pad for a jump at a function's first instruction. The pad jumps elsewhere if the condition
 * holds, and returns from the function if it does not.
 */
static void make_jumped_to(const char *cond)
{
	REGION("\x0f\x1f\x44\x00\x00");
	padworld_put(t.region.bytes, t.region.len);
	ask(cond);
	t.req.region = NULL;
	t.req.held = padworld_landing(PADWORLD_NEAR);
	t.req.open = padworld_at() + t.region.len; /* the first landing */
	t.entry = padworld_make(&t.req, &t.len);
	assert_int_not_equal(t.entry, 0);
}

static void test_jumped_to(void **state)
{
	static const struct {
		const char *cond;
		u32 landing;
	} rows[] = {
		{ "reg 5; const32 0x30000000; equal; end", PADWORLD_NEAR },
		{ "reg 5; ref8; const8 17; equal; end", PADWORLD_NEAR },
		{ "reg 5; ref8; const8 18; equal; end", PADWORLD_FAR },
		{ "reg 7; const32 0x300ffe00; equal; end", PADWORLD_NEAR }, /* STACK_TOP */
		{ "const8 8; ref8; end", PADWORLD_BEHIND },		    /* faults */
		{ "reg 5; const8 0; div_signed; end", PADWORLD_BEHIND },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		bool returns = rows[i].landing == PADWORLD_FAR;

		make_jumped_to(rows[i].cond);
		memset((void *)PADWORLD_STACK, 0x11, 64);
		*(u64 *)STACK_TOP = padworld_landing(PADWORLD_FAR);
		assert_int_equal(run(PADWORLD_STACK, false), rows[i].landing);
		assert_int_equal(t.hit.count, 0);
		assert_int_equal(t.regs.gpr[X86_RDI], PADWORLD_STACK);
		assert_int_equal(t.regs.gpr[X86_RSP], STACK_TOP + (returns ? 8 : 0));
	}
}

/* If indirect jumps need an endbr64 at their target, the pad begins with one. */
static void test_jumped_to_endbr(void **state)
{
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	padworld()->code->target.endbr = true;
	make_jumped_to("const8 1; end");
	padworld()->code->target.endbr = false;
	assert_memory_equal((void *)t.entry, endbr64, sizeof(endbr64));
}

/* Conditions that read all registers, need particular registers, or need more than exist. */
static void test_pressure(void **state)
{
	static const char *const conds[] = {
		"reg 0; reg 1; add; reg 2; add; reg 3; add; reg 4; add; reg 6; add; reg 8; add; "
		"reg 9; add; reg 10; add; reg 11; add; reg 12; add; reg 13; add; reg 14; add; "
		"reg 15; add; reg 5; add; reg 7; div_unsigned; reg 2; add; reg 5; sub; "
		"end",
		"reg 0; reg 3; const8 7; bit_or; div_signed; reg 3; add; reg 2; reg 5; reg 2; lsh; "
		"sub; equal; log_not; end",
	};

	for (u32 i = 0; i < ARRAY_SIZE(conds); i++) {
		for (u32 seed = 0; seed < 30; seed++) {
			struct padworld_read read = { .rsp = STACK_TOP };
			u64 stack[AX_MAX_DEPTH], value = 0;
			struct gtp_regs regs;
			struct ax_env env = {
				.ops = &padworld_ops,
				.ctx = &read,
				.regs = &regs,
				.stack = stack,
			};

			REGION("\x0f\x1f\x44\x00\x00");
			ask(conds[i]);
			t.req.seed = seed;
			padworld_put(t.region.bytes, t.region.len);
			t.entry = padworld_make(&t.req, &t.len);
			assert_int_not_equal(t.entry, 0);
			run(77, false);
			assert_int_equal(t.hit.count, 1);
			padworld_gtp_regs(&regs, &t.hit.regs);
			assert_int_equal(ax_interp(&t.e.v, &env, &value), 0);
			assert_int_not_equal(value, 0);
			assert_int_equal(t.hit.number, PADWORLD_NUMBER << 1 | GTP_PAD_HELD);
		}
	}
}

/* Return an expression with @n values from memory that all live to the end. */
static char *deep(u32 n)
{
	char *text = calloc(1, 64 * (size_t)n + 64);

	for (u32 i = 0; i < n; i++)
		sprintf(text + strlen(text), "reg 5; const8 %u; add; ref64; ", 8 * (i % 8));
	for (u32 i = 1; i < n; i++)
		strcat(text, "bit_xor; ");
	strcat(text, "end");
	return text;
}

/* Values for which no register is left go to the stack; a condition with too many is refused. */
static void test_spills(void **state)
{
	static const struct {
		u32 n;
		bool possible;
	} rows[] = { { 7, true }, { 9, true }, { 25, true }, { 40, false }, { 90, false } };

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = deep(rows[i].n);
		u64 *words = (u64 *)PADWORLD_STACK;
		u64 want = 0;

		for (u32 k = 0; k < 8; k++)
			words[k] = 1ULL << k;
		for (u32 k = 0; k < rows[i].n; k++)
			want ^= words[k % 8];
		REGION("\x0f\x1f\x44\x00\x00");
		make(text);
		free(text);
		assert_int_equal(t.entry != 0, rows[i].possible);
		if (!t.entry)
			continue;
		run(PADWORLD_STACK, false);
		assert_int_equal(t.hit.count, want != 0);
		assert_int_equal(t.regs.gpr[X86_RSP], STACK_TOP);
	}
}

static void test_conditions_refused(void **state)
{
	static const char *const conds[] = {
		"getv 2; end",
		"getv 40; end",
		"getv 0; end",
		"const8 1; setv 1; end",
		"reg 17; end",
		"reg 18; end",
		"reg 19; end",
		"const8 1; const8 0; const8 8; trace; end",
		"const8 8; trace_quick 4; end",
	};

	assert_true(gtp_pad_can(condition("reg 16; end"), &padworld()->code->target, NULL));
	for (u32 i = 0; i < ARRAY_SIZE(conds); i++) {
		REGION("\x0f\x1f\x44\x00\x00");
		ask(conds[i]);
		assert_false(gtp_pad_can(&t.e.v, &padworld()->code->target, NULL));
		assert_int_equal(padworld_make(&t.req, &t.len), 0);
	}
}

static u32 plan(void)
{
	struct ax_jit *work;
	u32 n;

	ask(NULL);
	t.req.target = &padworld()->code->target;
	work = malloc(gtp_pad_work_size(&t.req));
	n = gtp_pad_plan(work, &t.req);
	free(work);
	return n;
}

static void test_instructions_refused(void **state)
{
	static const struct {
		const char *bytes;
		u8 len, kind;
	} rows[] = {
		{ "\xcc", 1, GTP_INSN_INT3 },
		{ "\x0f\x0b", 2, GTP_INSN_TRAP },
		{ "\xfb", 1, GTP_INSN_FIXED },
		{ "\xc2\x08\x00", 3, GTP_INSN_RET }, /* ret 8 */
		{ "\xf2\xc3", 2, GTP_INSN_RET },
		{ "\x66\xe8\0\0\0\0", 6, GTP_INSN_CALL },
		{ "\xff\xd4", 2, GTP_INSN_CALL_REG },	      /* call rsp */
		{ "\xff\x14\x24", 3, GTP_INSN_CALL_REG },     /* call [rsp] */
		{ "\xff\x54\xc4\x08", 4, GTP_INSN_CALL_REG }, /* call [rsp + rax * 8 + 8] */
		{ "\xff\xe0", 2, GTP_INSN_CALL_REG },	      /* a jump is not a call */
		{ "\x48", 1, GTP_INSN_CALL_REG },
		{ "\x90", 1, 200 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		t.region = (struct gtp_region){ .len = 5 + rows[i].len, .n = 2 };
		memcpy(t.region.bytes, "\x0f\x1f\x44\x00\x00", 5);
		memcpy(t.region.bytes + 5, rows[i].bytes, rows[i].len);
		t.region.insn[0] = (struct gtp_insn){ .len = 5 };
		t.region.insn[1] = (struct gtp_insn){ .len = rows[i].len, .kind = rows[i].kind };
		if (plan())
			fail_msg("row %u is accepted", i);
	}
	t.region.n = 0;
	assert_int_equal(plan(), 0);
}

/* Emit a pad that would be at @base, for a place at @at. */
static int emit(const char *cond, u64 at, u64 base, u8 *buf, u32 *len)
{
	struct ax_jit_target world = { .pad_hit = base + 0x1000 };
	struct ax_jit *work;
	int ret;

	ask(cond);
	t.req.at = at - t.skip;
	t.req.skip = t.skip;
	t.req.target = &world;
	work = malloc(gtp_pad_work_size(&t.req));
	*len = gtp_pad_plan(work, &t.req);
	assert_in_range(*len, 1, 256);
	assert_int_equal(ax_jit_emit(work, base, buf, *len - 1), -ENOSPC);
	ret = ax_jit_emit(work, base, buf, *len);
	free(work);
	return ret;
}

static int emit_at(u64 at, u64 base, u8 *buf, u32 *len)
{
	return emit(NULL, at, base, buf, len);
}

enum { BEFORE = 11 }; /* length of: push number; call pad_hit; popfq */

/* The copy of a call pushes the original return address, so that no task returns to a pad. */
static void test_call(void **state)
{
	u8 buf[256];
	u32 len;

	REGION("\xe8\x00\x10\x00\x00");
	assert_int_equal(emit_at(0xffffffff81000000, 0xffffffffc0000000, buf, &len), 0);
	assert_int_equal(len, BEFORE + 10);
	assert_int_equal(buf[BEFORE], 0x68); /* push */
	assert_int_equal(gtp_get_le(buf + BEFORE + 1, 4), 0x81000005);
	assert_int_equal(buf[BEFORE + 5], 0xe9); /* jmp */
	assert_int_equal(0xffffffffc0000000 + len + (u64)(s32)gtp_get_le(buf + BEFORE + 6, 4),
			 0xffffffff81001005);
}

static void test_out_of_reach(void **state)
{
	u8 buf[256];
	u32 len;

	REGION("\x0f\x1f\x44\x00\x00");
	assert_int_equal(emit_at(0x200000000, 0x100000000, buf, &len), -ERANGE);
	assert_int_equal(emit_at(0x170000000, 0x100000000, buf, &len), 0);
	REGION("\x48\x8b\x05\x00\x00\x00\x7f"); /* mov rax, [rip + 0x7f000000] */
	assert_int_equal(emit_at(0x100000000, 0x110000000, buf, &len), 0);
	assert_int_equal(emit_at(0x110000000, 0x100000000, buf, &len), -ERANGE);
	REGION("\x0f\x84\x00\x00\x00\x7f"); /* je */
	assert_int_equal(emit_at(0x110000000, 0x100000000, buf, &len), -ERANGE);
}

/* No displaced instruction may be at an offset where the fault handler expects a load. */
static void test_no_load_place(void **state)
{
	u8 buf[256];
	u32 len;

	REGION("\x66\x90\xff\x53\x08"); /* needs no nop between push and jump */
	assert_int_equal(emit_at(0x10000000, 0x20000000, buf, &len), 0);
	assert_memory_equal(buf + BEFORE, "\x66\x90\x68\x05\x00\x00\x10\xff\x63\x08", 10);
	REGION("\xff\x93\x08\x00\x00\x00"); /* without the nop the jump would be at 16 */
	assert_int_equal(emit_at(0x10000000, 0x20000000, buf, &len), 0);
	assert_memory_equal(buf + BEFORE, "\x68\x06\x00\x00\x10\x90\xff\xa3", 8);
}

/* Check the same after conditions of several lengths. */
static void test_no_load_place_conditional(void **state)
{
	static const char *const conds[] = {
		"reg 5; end",
		EQUAL,
		FIELD,
		"reg 8; reg 9; equal; end",
		"reg 5; ref8; end",
		"reg 5; const32 0x12345678; equal; end",
		"reg 8; const16 1000; swap; less_signed; end",
		"reg 5; reg 4; add; ref16; end",
	};
	static const u8 code[] = { 0x50, 0x51, 0x52, 0x53, 0x56 };
	u32 moved = 0;

	for (u32 i = 0; i < ARRAY_SIZE(conds); i++) {
		u8 buf[256], *p;
		u32 len;

		REGION("\x50\x51\x52\x53\x56");
		assert_int_equal(emit(conds[i], 0x110000000, 0x100000000, buf, &len), 0);
		p = memchr(buf, 0x51, len); /* no condition needs rcx */
		assert_non_null(p);
		p -= p[-1] == 0x90 ? 2 : 1;
		for (u32 k = 0; k < sizeof(code); k++, p++) {
			if (*p == 0x90) {
				moved++;
				p++;
			}
			assert_int_equal(*p, code[k]);
			assert_int_not_equal((p - buf) % AX_JIT_LOAD_ALIGN, 0);
		}
	}
	assert_int_not_equal(moved, 0);
}

/* With keep_flags, pad_hit gets the flags of the hit even if they are dead. */
static void test_flags_kept(void **state)
{
	for (u32 keep = 0; keep < 2; keep++) {
		REGION("\x48\x31\xc0\x66\x90"); /* xor rax, rax */
		t.region.flags_dead = true;
		ask("reg 5; const8 1; equal; end");
		t.req.keep_flags = keep;
		padworld_put(t.region.bytes, t.region.len);
		t.entry = padworld_make(&t.req, &t.len);
		run(1, false);
		assert_int_equal(t.hit.count, 1);
		/* The condition has compared equal values; without keep_flags its flags remain. */
		assert_int_equal(t.hit.regs.flags & GTP_FLAG_ZF, keep ? 0 : GTP_FLAG_ZF);
	}
}

/*
 * 4000 random pads. The first (n = 0) is that of `random_pad 1 8293024`, which once failed: its
 * condition divides by a remainder, which is in rdx, a register that the division overwrites.
 */
static void test_random(void **state)
{
	static struct axgen g;

	jit_user_catch_faults();
	for (u64 n = 0; n <= 4000; n++) {
		g.rng = n ? n * 0x9e3779b97f4a7c15 : 0x49985f7a7c1fe825;
		paddiff(&g);
	}
	assert_true(paddiff_stats.held > 300 && paddiff_stats.not_held > 100);
	assert_true(paddiff_stats.punted > 300 && paddiff_stats.joined > 300);
}

/* The jump is after the no-op at which the tracepoint is: the pc of hits is that of the no-op. */
static void test_skip(void **state)
{
	static const char pc[] = "reg 16; const32 0x40000000; equal; end";
	u8 place[256], behind[256];
	u32 len, len_behind;

	REGION("\xe8\x00\x10\x00\x00"); /* a call, whose copy depends on the original address */
	assert_int_equal(emit_at(0x40000000, 0x41000000, place, &len), 0);
	t.skip = 5;
	assert_int_equal(emit_at(0x40000000, 0x41000000, behind, &len_behind), 0);
	assert_int_equal(len, len_behind);
	assert_memory_equal(place, behind, len);
	assert_int_equal(emit(pc, 0x40000005, 0x41000000, behind, &len_behind), 0);
	t.skip = 0;
	assert_int_equal(emit(pc, 0x40000000, 0x41000000, place, &len), 0);
	/* The condition, which reads the pc, is the same code; the call has another target. */
	assert_int_equal(len, len_behind);
	assert_memory_not_equal(place, behind, len);
	t.region.insn[0].kind = GTP_INSN_PLAIN;
	assert_int_equal(emit(pc, 0x40000000, 0x41000000, place, &len), 0);
	t.skip = 5;
	assert_int_equal(emit(pc, 0x40000000, 0x41000000, behind, &len_behind), 0);
	assert_memory_not_equal(place, behind, len);
	t.skip = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_hit),
		cmocka_unit_test(test_called),
		cmocka_unit_test(test_jumped_to),
		cmocka_unit_test(test_jumped_to_endbr),
		cmocka_unit_test(test_pressure),
		cmocka_unit_test(test_spills),
		cmocka_unit_test(test_conditions_refused),
		cmocka_unit_test(test_instructions_refused),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_skip),
		cmocka_unit_test(test_out_of_reach),
		cmocka_unit_test(test_no_load_place),
		cmocka_unit_test(test_no_load_place_conditional),
		cmocka_unit_test(test_flags_kept),
		cmocka_unit_test(test_random),
	};

	padworld();
	return cmocka_run_group_tests_name("pad", tests, NULL, NULL);
}
