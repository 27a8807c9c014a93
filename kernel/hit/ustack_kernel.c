// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds where the user stack of a hit's task begins: its registers, and the process that it belongs
 * to.
 *
 * A process is identified by its PID, its start time, and how often it has called exec. The last
 * word of a recorded stack stands for all three: the stack's addresses mean nothing without the
 * memory map of the process, and both a PID and the address of a struct mm_struct are soon reused.
 */
#include <linux/hash.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <asm/cpu_entry_area.h>
#include <asm/ptrace.h>
#include <asm/segment.h>

#include "kernel/hit/cfi_kernel.h"
#include "kernel/hit/ustack_kernel.h"

static u64 whose(void)
{
	const struct task_struct *leader = READ_ONCE(current->group_leader);
	u64 begun = leader->start_boottime + READ_ONCE(current->self_exec_id) * GOLDEN_RATIO_64;

	return gtp_ustack_tag(current->tgid, hash_64(begun, GTP_USTACK_PID_SHIFT));
}

static gtp_ustack_find find_map(void)
{
	return gtp_cfi_any() ? gtp_cfi_map : NULL;
}

static void none(struct gtp_ustack_from *from, enum gtp_ustack_none why)
{
	*from = (struct gtp_ustack_from){ .whose = gtp_ustack_tag(0, why) };
}

void gtp_ustack_begin_at(const struct gtp_user_hit *user, struct gtp_ustack_from *from)
{
	const struct gtp_user_place *place = user->place;

	*from = (struct gtp_ustack_from){
		.pc = user->at,
		.sp = user->regs->rsp,
		.bp = user->regs->rbp,
		.bx = user->regs->rbx,
		.whose = whose(),
		.file = user->at - place->from_code,
		.file_bytes = place->code_bytes,
		.to_space = place->here - user->at,
		.at = place->says,
		.is_hit = true,
		.find = find_map(),
	};
}

/*
 * True if @regs may be those of the code that enters the kernel and has not stored the program's
 * registers yet: @entry still holds those of an earlier entry. Only an NMI can interrupt that code.
 * It runs on the program's stack, on the CPU's entry stack, or on the words of @entry that it
 * pushes. The code that returns to the program looks the same. perf_get_regs_user() has a check
 * like this one.
 */
static bool is_entering(const struct gtp_regs *regs, const struct pt_regs *entry)
{
	const struct entry_stack_page *page =
		&get_cpu_entry_area(raw_smp_processor_id())->entry_stack_page;

	if (!in_nmi() || gtp_regs_in_user(regs))
		return false;
	return !(regs->rsp >> 63) || regs->rsp - (u64)page <= sizeof(*page) ||
	       (regs->rsp > (u64)&entry->bp && regs->rsp <= (u64)(entry + 1));
}

/*
 * Begin with the registers with which the task has entered the kernel. A kernel thread has no such
 * registers. A thread that the kernel has made for a process (io_uring's, for example) has the
 * process's memory, but its registers are zero.
 *
 * An NMI may arrive during a hit in a program and have a hit itself. Then @regs are the kernel's,
 * and only @user has the program's.
 */
void gtp_ustack_begin(void *ctx, const struct gtp_regs *regs, struct gtp_ustack_from *from)
{
	const struct gtp_user_hit *user = this_cpu_read(gtp_user_now);
	struct pt_regs *entry = task_pt_regs(current);

	if (user) {
		gtp_ustack_begin_at(user, from);
	} else if (!current->mm && !(current->flags & PF_KTHREAD)) {
		none(from, GTP_USTACK_ENDING);
	} else if (current->flags & PF_KTHREAD || !user_mode(entry) || !(entry->ip | entry->sp)) {
		none(from, GTP_USTACK_KERNEL);
	} else if (is_entering(regs, entry)) {
		none(from, GTP_USTACK_ENTERING);
	} else if (entry->cs != __USER_CS) {
		none(from, GTP_USTACK_NARROW);
	} else {
		*from = (struct gtp_ustack_from){
			.pc = entry->ip,
			.sp = entry->sp,
			.bp = entry->bp,
			.bx = entry->bx,
			.whose = whose(),
			.find = find_map(),
		};
	}
}
