// SPDX-License-Identifier: GPL-2.0-only
/* Tests jump pads whose conditions read or set a variable that has a value for each task. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "aggregate/tasks.h"
#include "tests/fuzz/padworld.h"
#include "pad_case.h"
#include "pad_steps.h"

enum { STACK_TOP = PADWORLD_STACK + PADWORLD_STACK_SIZE - 512, PUSHED = 16 };
enum { OF_TASK = 40, OF_CPU, NR_WAYS = 64, ANY = 0xffff };

static struct {
	struct pad_case_expr e;
	struct gtp_region region;
	struct gtp_pad_request req;
	struct padworld_regs regs;
	struct padworld_hit hit;
	u64 entry;
	u32 len;
} t;

static const u8 task_ways[NR_WAYS] = { [OF_TASK] = AX_TSV_TASK, [OF_CPU] = AX_TSV_LOCAL };

static u32 *used_here(void)
{
	return &gtp_tasks_used[gtp_tasks_bucket(padworld()->task.self)];
}

/* The pad displaces push rbp; mov rbp, rsp; push rbx. */
static void set_region(bool dead)
{
	static const u8 bytes[] = { 0x55, 0x48, 0x89, 0xe5, 0x53 };
	struct gtp_region *r = &t.region;

	memset(r, 0, sizeof(*r));
	r->len = sizeof(bytes);
	r->falls_out = true;
	r->flags_dead = dead;
	memcpy(r->bytes, bytes, sizeof(bytes));
	for (u32 at = 0; at < sizeof(bytes); at += r->insn[r->n++].len)
		assert_int_equal(gtp_insn_decode(&r->insn[r->n], bytes + at, sizeof(bytes) - at),
				 0);
	padworld_put(bytes, sizeof(bytes));
}

static void make(const char *cond, bool dead)
{
	set_region(dead);
	pad_case_assemble(&t.e, cond, AX_CONDITION);
	ax_settle_tsvs(&t.e.v, task_ways);
	t.req = (struct gtp_pad_request){
		.region = &t.region,
		.at = padworld_at(),
		.number = PADWORLD_NUMBER,
		.cond = &t.e.v,
		.ways = task_ways,
	};
	padworld()->code->target.task = (s32)offsetof(struct padtask, self);
	padworld()->code->target.tasks_used = (u64)(uintptr_t)gtp_tasks_used;
	t.entry = padworld_make(&t.req, &t.len);
	padworld()->code->target.task = 0;
}

/* Run the pad with 42 in rdi. @step: with the trap flag set, so that instructions are counted. */
static u32 run(bool step)
{
	t.regs = (struct padworld_regs){ .flags = 0x202 | (step ? PAD_TRAP_FLAG : 0) };
	t.regs.gpr[X86_RDI] = 42;
	t.regs.gpr[X86_RSP] = STACK_TOP;
	pad_steps_begin(t.entry, t.len);
	return padworld_run(&t.regs, t.entry, &t.hit);
}

/*
 * Without a value in the task's bucket, the pad decides; otherwise C evaluates the condition. rdi
 * is 42.
 */
static void test_variables_of_tasks(void **state)
{
	static const struct {
		const char *cond;
		u32 none;  /* pad_hit's word if no task has a value; 0: the condition is false */
		u32 some;  /* the same if a task of the bucket has one */
		u32 steps; /* the most instructions of the pad without a value, if flags are dead */
	} rows[] = {
		{ "getv 40; end", 0, PADWORLD_NUMBER << 1, 11 },
		{ "getv 40; log_not; end", PADWORLD_NUMBER << 1 | 1, PADWORLD_NUMBER << 1, ANY },
		/* $task && rdi == 42, as GDB compiles it */
		{ "getv 40; if_goto 9; goto 24; reg 5; const8 42; equal; if_goto 21; goto 24; "
		  "const8 1; end; const8 0; end",
		  0, PADWORLD_NUMBER << 1, 11 },
		{ "reg 5; const8 42; equal; getv 40; log_not; bit_and; end",
		  PADWORLD_NUMBER << 1 | 1, PADWORLD_NUMBER << 1, ANY },
		{ "reg 5; const8 43; equal; getv 40; log_not; bit_and; end", 0,
		  PADWORLD_NUMBER << 1, ANY },
		/* rdi == 42 && ($task = 7); then rdi == 43 */
		{ "reg 5; const8 42; equal; if_goto 12; goto 18; const8 7; setv 40; end; "
		  "const8 0; end",
		  PADWORLD_NUMBER << 1, PADWORLD_NUMBER << 1, ANY },
		{ "reg 5; const8 43; equal; if_goto 12; goto 18; const8 7; setv 40; end; "
		  "const8 0; end",
		  0, 0, ANY },
		{ "const8 7; setv 40; end", PADWORLD_NUMBER << 1, PADWORLD_NUMBER << 1, ANY },
	};

	for (u32 i = 0; i < 4 * ARRAY_SIZE(rows); i++) {
		bool dead = i & 1, some = i & 2;
		u32 row = i / 4, want = some ? rows[row].some : rows[row].none;

		make(rows[row].cond, dead);
		if (!t.entry)
			fail_msg("row %u: no pad", row);
		*used_here() = some;
		for (u32 with_steps = 0; with_steps < 2; with_steps++) {
			assert_int_equal(run(with_steps), PADWORLD_BEHIND);
			if (t.hit.count != !!want || (want && t.hit.number != want))
				fail_msg("row %u, some %u: %llu hits, %llx", row, some, t.hit.count,
					 t.hit.number);
			assert_int_equal(t.regs.gpr[X86_RSP], STACK_TOP - PUSHED);
			assert_int_equal(t.regs.gpr[X86_RDI], 42);
		}
		*used_here() = 0;
		/* In the kernel the address of gtp_tasks_used fits a displacement: fewer yet. */
		if (!some)
			assert_in_range(pad_steps() - t.region.n, 0,
					rows[row].steps + (dead ? 0 : 6));
	}
}

/*
 * A pad never leaves a hit to C after an effect: it sets nothing else, and reads nothing that takes
 * a call. Without the offset of the task there is no bucket.
 */
static void test_refused(void **state)
{
	static const char *const conds[] = { "getv 40; setv 3; end",
					     "getv 40; getv 41; bit_and; end",
					     "const8 1; setv 41; end" };

	for (u32 i = 0; i < ARRAY_SIZE(conds); i++) {
		make(conds[i], true);
		assert_int_equal(t.entry, 0);
	}
	make("getv 40; end", true);
	assert_int_not_equal(t.entry, 0);
	padworld_make(&t.req, &t.len);
	assert_int_equal(padworld_make(&t.req, &t.len), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variables_of_tasks),
		cmocka_unit_test(test_refused),
	};

	padworld();
	return cmocka_run_group_tests_name("pad_tasks", tests, NULL, NULL);
}
