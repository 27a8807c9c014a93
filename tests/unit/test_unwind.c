// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests stacks that are taken from the kernel's unwinder: complete and incomplete stacks, and
 * stacks with gates, through which followed calls return. Also tests the bytes for $bt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <asm/ptrace.h>
#include <asm/unwind.h>
#include "kernel/base/params_kernel.h"
#include "kernel/hit/stack_kernel.h"
#include "kernel/hit/walk_kernel.h"
#include <cmocka.h>

enum { MAX = 8, KERNEL_CS = 0x10, USER_CS = 0x33, PC = 0x1000 };

/* The unwinder's results: callers, ended by a 0, and its state after the last caller. */
static const u64 *callers;
static u64 interrupted;
static bool is_error, is_user, goes_on;
static struct pt_regs begun_with, entry;
unsigned int gtp_bt_bytes = 4096, gtp_stack_walk;
unsigned long gtp_stack_walked, gtp_stack_handed, gtp_stack_differed;

/* true: gtp_walk_ask() reports the end of the stack at any address; false: it knows no step. */
static bool is_known;

bool gtp_walk_ask(void *ctx, u64 at, u32 *step, bool *stays)
{
	*step = GTP_WALK_STEP(GTP_WALK_END, 0, 0);
	*stays = true;
	memset(ctx, 0xff, GTP_WALK_ASK_BYTES);
	return is_known;
}

u32 gtp_module_text_changes(void)
{
	return 1;
}

void unwind_start(struct unwind_state *state, void *task, struct pt_regs *regs, void *first_frame)
{
	begun_with = *regs;
	state->at = 0;
	state->stack_info = (struct stack_info){ (u64 *)0x50000, (u64 *)0x51000 };
}

bool unwind_next_frame(struct unwind_state *state)
{
	state->at++;
	return true;
}

/* An unwinder that stops at registers of userspace or at an unknown address is not done. */
bool unwind_done(struct unwind_state *state)
{
	return !callers[state->at] && !is_user && !goes_on;
}

bool unwind_error(struct unwind_state *state)
{
	return is_error;
}

unsigned long unwind_get_return_address(struct unwind_state *state)
{
	return callers[state->at];
}

struct pt_regs *unwind_get_entry_regs(struct unwind_state *state, bool *partial)
{
	u64 at = callers[state->at];

	entry.cs = at ? KERNEL_CS : USER_CS;
	return (at ? at == interrupted : is_user) ? &entry : NULL;
}

bool on_stack(struct stack_info *info, void *addr, size_t len)
{
	return (u64 *)addr >= info->begin && (u64 *)addr < info->end;
}

static int setup(void **state)
{
	is_error = false;
	is_user = false;
	goes_on = false;
	interrupted = 0;
	is_known = false;
	gtp_stack_walk = 0;
	gtp_stack_hide(0, 0);
	return 0;
}

/* Take a stack with the callers @from. The addresses must be those in @want, up to a 0xff. */
static void expect(const u64 *from, const u64 *want)
{
	const struct gtp_regs regs = { .rsp = 0x11000, .rip = 0x999 };
	u64 to[MAX] = { 0 };
	u32 i, n;

	callers = from;
	n = gtp_stack_take(NULL, NULL, &regs, PC, to, MAX);
	assert_int_equal(begun_with.ip, PC);
	assert_int_equal(begun_with.sp, 0x11000);
	for (i = 0; want[i] != 0xff; i++)
		assert_int_equal(to[i], want[i]);
	assert_int_equal(n, i);
}

#define LIST(...) ((const u64[]){ __VA_ARGS__ })
#define EXPECT(from, ...) expect(from, LIST(PC, __VA_ARGS__, 0xff))

static void whole(void **state)
{
	EXPECT(LIST(0x2000, 0x3000, 0), 0x2000, 0x3000);
	is_user = true;
	EXPECT(LIST(0x2000, 0x3000, 0), 0x2000, 0x3000);
}

/* The unwinder reports an error, meets userspace registers, or stops before the end. */
static void cut(void **state)
{
	is_error = true;
	EXPECT(LIST(0x2000, 0x3000, 0), 0x2000, 0x3000, GTP_STACKS_LOST);
	EXPECT(LIST(0), GTP_STACKS_LOST);
	is_user = true;
	EXPECT(LIST(0x2000, 0), 0x2000, GTP_STACKS_LOST);
	is_error = false;
	is_user = false;
	goes_on = true;
	EXPECT(LIST(0x2000, 0), 0x2000, GTP_STACKS_LOST);
}

/* A stack that is too deep has no mark of truncation, because its depth shows this. */
static void deep(void **state)
{
	const u64 nine[] = { 2, 3, 4, 5, 6, 7, 8, 9, 10, 0 };

	is_error = true;
	EXPECT(nine, 2, 3, 4, 5, 6, 7, 8);
	EXPECT(nine + 2, 4, 5, 6, 7, 8, 9, 10);
	EXPECT(nine + 3, 5, 6, 7, 8, 9, 10, GTP_STACKS_LOST);
}

/* Addresses of gates, by which traced returns go, are left out of a stack. */
static void gates(void **state)
{
	const u64 way[] = { 0x2000, 0x5000, 0x3000, 0x5fff, 0x6000, 0x4fff, 0 };

	EXPECT(way, 0x2000, 0x5000, 0x3000, 0x5fff, 0x6000, 0x4fff);
	gtp_stack_hide(0x5000, 0x6000);
	EXPECT(way, 0x2000, 0x3000, 0x6000, 0x4fff);
	/* The addresses of gates do not count towards the depth. */
	EXPECT(LIST(2, 0x5000, 3, 0x5000, 4, 0x5000, 5, 6, 7, 0), 2, 3, 4, 5, 6, 7);
}

/* For an interrupted function, the address in the stack is 1 higher: it is not a return address. */
static void interrupts(void **state)
{
	interrupted = 0x3000;
	EXPECT(LIST(0x2000, 0x3000, 0x4000, 0), 0x2000, 0x3001, 0x4000);
	EXPECT(LIST(0x2000, 0x3000, 0), 0x2000, 0x3001, GTP_STACKS_LOST);
	is_user = true;
	EXPECT(LIST(0x2000, 0x3000, 0), 0x2000, 0x3001);
	is_user = false;
	is_error = true;
	EXPECT(LIST(0x2000, 0x3000, 0), 0x2000, 0x3001, GTP_STACKS_LOST);
}

enum { TASK = 0x10000, NO_TASK = 0x50000 };

/* Take a stack. Return the number of addresses: 3 if the unwinder was used. */
static u32 taken(u64 rsp)
{
	const u64 pc = 0xffffffff81000010;
	const struct gtp_regs regs = { .rsp = rsp };
	static u64 to[2 * GTP_STACKS_TAKE];
	struct gtp_walk *walk = calloc(1, sizeof(*walk));
	u32 n;

	callers = LIST(0x2000, 0x3000, 0);
	n = gtp_stack_take(NULL, walk, &regs, pc, to, GTP_STACKS_TAKE);
	assert_int_equal(to[0], pc);
	assert_true(n == 1 || (to[1] == 0x2000 && to[2] == 0x3000));
	free(walk);
	return n;
}

/* The unwinder is used if a step is not known, and on other stacks than the task's. */
static void by_steps(void **state)
{
	gtp_stack_walk = 1;
	assert_int_equal(taken(TASK), 3);
	is_known = true;
	assert_int_equal(taken(TASK), 1);
	assert_int_equal(taken(NO_TASK), 3);
	gtp_stack_walk = 0;
	assert_int_equal(taken(TASK), 3);
}

static void both_ways(void **state)
{
	gtp_stack_walk = 2;
	gtp_stack_walked = 0;
	gtp_stack_handed = 0;
	assert_int_equal(taken(TASK), 3);
	assert_int_equal(gtp_stack_handed, 1);
	is_known = true;
	assert_int_equal(taken(NO_TASK), 3);
	assert_int_equal(gtp_stack_handed, 2);
	assert_int_equal(gtp_stack_walked + gtp_stack_differed, 0);
	assert_int_equal(taken(TASK), 3);
	assert_int_equal(gtp_stack_walked, 1);
	assert_int_equal(gtp_stack_differed, 1);
}

static void expect_bytes(u64 rsp, u32 want)
{
	const struct gtp_regs regs = { .rsp = rsp };

	assert_int_equal(gtp_stack_bytes(NULL, &regs, PC), want);
}

/* $bt ends where the task's stack ends, else the unwinder's stack, else the page. */
static void bytes(void **state)
{
	gtp_bt_bytes = 512;
	expect_bytes(0x10000, 512);
	expect_bytes(0x13f00, 0x100);
	expect_bytes(0x50f80, 0x80);
	expect_bytes(0x7ff0, 0x10);
	gtp_bt_bytes = 13;
	expect_bytes(0x10000, 8);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = { T(whole),	   T(cut),	T(deep),      T(gates),
					    T(interrupts), T(by_steps), T(both_ways), T(bytes) };
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
