// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the kernel stack at a hit. gtp_stack_take() repeats the steps that the kernel's unwinder
 * took at the same addresses before (hit/walk.c). Where such a step is unknown or not simple
 * enough, the unwinder itself takes the stack.
 *
 * Unwinding begins at the instruction that was hit, with the registers of that moment. So the
 * unwinder sees neither the pad nor the exception that led here. The kernel's unwind data describes
 * the stack correctly at that instruction, whether it is before, inside or after the function's
 * prologue.
 *
 * The address of a caller is a return address, which may be the first byte after the function. The
 * address of interrupted code is that of an instruction that has not run yet; 1 is added to that
 * address. So for every address except the first, the byte before it belongs to the function.
 *
 * The stack may lead to an interrupt that came inside a pad, which no unwind table describes, or
 * through code where the unwinder guesses. Such a stack ends with GTP_STACKS_LOST.
 *
 * perf unwinds the same way in NMIs: the unwinder takes no lock and reads only stacks that it
 * knows.
 */
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <asm/ptrace.h>
#include <asm/unwind.h>

#include "kernel/base/params_kernel.h"
#include "kernel/hit/module_text.h"
#include "kernel/hit/stack_kernel.h"
#include "kernel/hit/walk_kernel.h"

static void begin(struct unwind_state *state, struct pt_regs *at, const struct gtp_regs *regs,
		  u64 pc)
{
	BUILD_BUG_ON(sizeof(*at) != sizeof(*regs)); /* probe/kprobe/kprobe.c compares the members */
	memcpy(at, regs, sizeof(*at));
	at->ip = pc;
	unwind_start(state, current, at, NULL);
}

/*
 * Return addresses in this range are left out of stacks. Set before any stack can contain one of
 * them.
 */
static u64 hidden_from, hidden_bytes;

void gtp_stack_hide(u64 from, u64 to)
{
	WRITE_ONCE(hidden_from, from);
	WRITE_ONCE(hidden_bytes, to - from);
}

static bool is_hidden(u64 addr)
{
	return addr - READ_ONCE(hidden_from) < READ_ONCE(hidden_bytes);
}

static bool is_interrupted(struct unwind_state *state)
{
	return unwind_get_entry_regs(state, NULL);
}

/*
 * True if the stack is complete: the unwinder reached the entry from userspace or the start of a
 * task, without having to guess. An interrupted instruction is never a task's first one, although
 * the ORC data of older kernels marks a retpoline's thunk as the end of the stack.
 */
static bool is_whole(struct unwind_state *state, bool interrupted)
{
	struct pt_regs *entry = unwind_get_entry_regs(state, NULL);

	if (unwind_error(state))
		return false;
	return entry ? user_mode(entry) : unwind_done(state) && !interrupted;
}

static u32 take_by_unwinder(const struct gtp_regs *regs, u64 pc, u64 *to, u32 max)
{
	struct unwind_state state;
	bool interrupted = false;
	struct pt_regs at;
	u32 n = 0;

	to[n++] = pc;
	for (begin(&state, &at, regs, pc); !unwind_done(&state); unwind_next_frame(&state)) {
		unsigned long addr = unwind_get_return_address(&state);

		if (!addr)
			break;
		interrupted = is_interrupted(&state);
		if (is_hidden(addr))
			continue;
		if (n == max)
			return n;
		to[n++] = addr + interrupted;
	}
	if (n < max && !is_whole(&state, interrupted))
		to[n++] = GTP_STACKS_LOST;
	return n;
}

/*
 * Take the stack with the known steps. Return 0 if the unwinder has to take it, as it always has to
 * when rsp is not on the task's own stack.
 */
static u32 take_by_steps(struct gtp_walk *walk, const struct gtp_regs *regs, u64 pc, u64 *to,
			 u32 max)
{
	const struct gtp_walk_ops ops = { .ask = gtp_walk_ask, .ctx = to + max };
	u64 task = (u64)task_stack_page(current);
	struct gtp_walk_from from = {
		.begin = task,
		.end = task + THREAD_SIZE,
		.pc = pc,
		.sp = regs->rsp,
		.bp = regs->rbp,
		.hidden = READ_ONCE(hidden_from),
		.hidden_bytes = READ_ONCE(hidden_bytes),
		.now = gtp_module_text_changes(),
	};

	BUILD_BUG_ON(GTP_STACKS_TAKE * sizeof(*to) < GTP_WALK_ASK_BYTES);
	if (regs->rsp - task >= THREAD_SIZE)
		return 0;
	return gtp_walk_take(walk, &ops, &from, to, max);
}

/* Take the stack by steps and by the unwinder, for tests. The result is the unwinder's. */
static u32 take_both(struct gtp_walk *walk, const struct gtp_regs *regs, u64 pc, u64 *to, u32 max)
{
	u32 mine = take_by_steps(walk, regs, pc, to, max), n;

	n = take_by_unwinder(regs, pc, to + max, max);
	gtp_fetch_add(mine ? &gtp_stack_walked : &gtp_stack_handed, 1);
	if (mine && (mine != n || memcmp(to, to + max, n * sizeof(*to))))
		gtp_fetch_add(&gtp_stack_differed, 1);
	memcpy(to, to + max, n * sizeof(*to));
	return n;
}

u32 gtp_stack_take(void *ctx, struct gtp_walk *walk, const struct gtp_regs *regs, u64 pc, u64 *to,
		   u32 max)
{
	u32 n = 0;

	switch (READ_ONCE(gtp_stack_walk)) {
	case 0:
		break;
	case 2:
		return take_both(walk, regs, pc, to, max);
	default:
		n = take_by_steps(walk, regs, pc, to, max);
	}
	return n ? n : take_by_unwinder(regs, pc, to, max);
}

/* Return the end of the stack (of a task, an interrupt or an NMI) that contains @regs' rsp. */
static u64 end_of(const struct gtp_regs *regs, u64 pc)
{
	u64 sp = regs->rsp, task = (u64)task_stack_page(current);
	struct unwind_state state;
	struct pt_regs at;

	if (sp - task < THREAD_SIZE)
		return task + THREAD_SIZE;
	begin(&state, &at, regs, pc);
	if (on_stack(&state.stack_info, (void *)sp, sizeof(long)))
		return (u64)state.stack_info.end;
	return PAGE_ALIGN(sp + 1);
}

u32 gtp_stack_bytes(void *ctx, const struct gtp_regs *regs, u64 pc)
{
	u64 most = min_t(u32, READ_ONCE(gtp_bt_bytes), GTP_FRAME_MAX / 2) & ~7U;

	return (u32)min(most, end_of(regs, pc) - regs->rsp);
}
