// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ask the kernel's unwinder what it does at an address.
 *
 * It is given a state of its own that stands at that address, on a stack that is made up: the words
 * of an array, each of which is different. Its results for two such states tell what it does at
 * the address whatever the stack (gtp_walk_judge()). So neither its tables nor their format need to
 * be known, and what it does not know itself is seen as such.
 *
 * That is true for as long as the code is there. The kernel's own stays. A module's is recognized
 * (gtp_module_text_has()), and facts about it are valid until a module is loaded or unloaded. The
 * function tracer's trampolines, BPF's programs, optimised kprobes and pads come and go without
 * notice: their stacks are handed over.
 *
 * The step at a return address does not depend on the address alone where it is one
 * of those that tracers put in the place of a caller's (return_to_handler, kretprobe's trampoline):
 * it looks for the caller's. All of these are functions of the kernel, of which the address is the
 * first byte; a return address that is the first byte of a symbol is handed over.
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
 * The state is at an instruction that was interrupted: then it is that very address that is looked
 * up. The task is another one, so that the unwinder does not complain of its tables in the log.
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

/* Is what the unwinder gives back of a return address that address? */
static bool is_text(u64 addr)
{
	struct unwind_state state;

	stand_at(&state, NULL, addr);
	return unwind_get_return_address(&state) == addr;
}

/* "name+0x12/0x345", of the kernel itself: not a module's, which has its name behind it. */
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

/* The unwinders by frame pointer and by guess have another state. */
bool gtp_walk_ask(void *ctx, u64 at, u32 *step, bool *stays)
{
	return false;
}

#endif /* CONFIG_UNWINDER_ORC */
