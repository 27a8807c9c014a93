// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ask the kernel's unwinder what it does at an address.
 *
 * The unwinder is given an unwind state at that address, on a made-up stack: an array of words that
 * all differ. The unwinder's results for two such states show what it does at the address on any
 * stack (gtp_walk_judge()). So we need to know neither its tables nor their format, and we notice
 * if it has no entry for the address.
 *
 * An answer is valid while the code exists. The kernel's own code always exists. A module's code is
 * recognized (gtp_module_text_has()), and answers about it are valid until a module is loaded or
 * unloaded. The function tracer's trampolines, BPF programs, optimised kprobes and pads are freed
 * without notice, so stacks that lead through them are left to the unwinder.
 *
 * The addresses that tracers put in place of a return address (return_to_handler, the trampoline of
 * kretprobes) are an exception: there the step depends on more than the address, because the
 * unwinder looks up the original return address elsewhere. All of them are the first byte of a
 * kernel function, so a return address that is the first byte of a symbol is left to the unwinder.
 */
#include <linux/kallsyms.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <asm/pgtable.h>
#include <asm/ptrace.h>
#include <asm/unwind.h>

#include "kernel/hit/module_text.h"
#include "kernel/hit/walk_kernel.h"

#ifdef CONFIG_UNWINDER_ORC

static u64 made_up[GTP_WALK_MADE_UP];

void gtp_walk_init(void)
{
	u32 i;

	for (i = 0; i < GTP_WALK_MADE_UP; i++)
		made_up[i] = GTP_WALK_MARK + i;
}

/*
 * Make the state that of an interrupted instruction: for such a state the unwinder looks up the
 * address itself, not the byte before it. Make the state another task's, so that the unwinder logs
 * no warning about its tables.
 */
static void stand_at(struct unwind_state *state, struct pt_regs *regs, u64 at)
{
	memset(state, 0, sizeof(*state));
	state->task = &init_task;
	state->stack_info.type = STACK_TYPE_TASK;
	state->stack_info.begin = (unsigned long *)made_up;
	state->stack_info.end = (unsigned long *)made_up + GTP_WALK_MADE_UP;
	state->ip = at;
	state->regs = regs;
	state->full_regs = true;
	state->signal = true;
}

static void try_at(u64 at, struct pt_regs *regs, struct gtp_walk_try *try)
{
	struct unwind_state state;

	stand_at(&state, regs, at);
	state.sp = try->sp;
	state.bp = try->bp;
	unwind_next_frame(&state);
	try->to_sp = state.sp;
	try->to_bp = state.bp;
	try->to_ip = state.ip;
	try->regs = (u64)state.regs;
	try->done = unwind_done(&state);
	try->error = unwind_error(&state);
}

/* True if the unwinder returns the return address @addr unchanged. */
static bool is_text(u64 addr)
{
	struct unwind_state state;

	stand_at(&state, NULL, addr);
	return unwind_get_return_address(&state) == addr;
}

/* True for "name+0x12/0x345" of the kernel itself; a module's name would follow in brackets. */
static bool is_in_function(u64 addr, char *name)
{
	const char *offset;

	sprint_symbol(name, addr);
	offset = strchr(name, '+');
	return offset && !strchr(name, '[') && !str_has_prefix(offset, "+0x0/");
}

static bool is_known_code(u64 at, char *name, bool *stays)
{
	*stays = at < MODULES_VADDR;
	return *stays ? is_in_function(at + 1, name) : gtp_module_text_has(at, 2);
}

bool gtp_walk_ask(void *ctx, u64 at, u32 *step, bool *stays)
{
	struct gtp_walk_try try[2];
	struct pt_regs regs;

	BUILD_BUG_ON(GTP_WALK_ASK_BYTES < KSYM_SYMBOL_LEN);
	if (current == &init_task)
		return false;
	*step = GTP_WALK_STEP(GTP_WALK_HAND_OVER, 0, 0);
	if (!is_known_code(at, ctx, stays) || !is_text(at + 1))
		return true;
	gtp_walk_make_up((u64)made_up, try);
	memset(&regs, 0, sizeof(regs));
	try_at(at, &regs, &try[0]);
	try_at(at, &regs, &try[1]);
	*step = gtp_walk_judge((u64)made_up, try);
	return true;
}

#else /* CONFIG_UNWINDER_ORC */

void gtp_walk_init(void)
{
}

/* The frame-pointer and guess unwinders have another unwind state, which this file cannot make. */
bool gtp_walk_ask(void *ctx, u64 at, u32 *step, bool *stays)
{
	return false;
}

#endif /* CONFIG_UNWINDER_ORC */
