// SPDX-License-Identifier: GPL-2.0-only
/* What a kprobe of ours means for the text where it is, whichever kind of kprobe it is. */
#include <linux/delay.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/text-patching.h>

#include "base/lock_kernel.h"
#include "probe/kprobe_list.h"
#include "probe/kprobe_text.h"

enum {
	POLL_MS = 5,
	/* the optimizer begins after 5 jiffies; another one may be under way */
	UNOPTIMIZED_MS = 5000,
};

/*
 * The kernel has unoptimized kprobes whose jumps covered the place, and optimizes this one later.
 * If the first byte is not the int3, the bytes are not known: all int3 refuses a jump nearby.
 */
void gtp_kprobe_text_remember(const struct kprobe *kp, struct gtp_armed *a)
{
	if (kp->flags & KPROBE_FLAG_FTRACE)
		return;
	if (copy_from_kernel_nofault(a->old, kp->addr, JMP32_INSN_SIZE) ||
	    a->old[0] != INT3_INSN_OPCODE)
		memset(a->old, INT3_INSN_OPCODE, JMP32_INSN_SIZE);
	else
		a->old[0] = kp->opcode;
	a->text = (u64)kp->addr;
	a->len = JMP32_INSN_SIZE;
}

/* The kernel chains the kprobes of one address, with a head of its own. */
bool gtp_kprobe_text_alone(const struct kprobe *kp)
{
	bool alone;

	rcu_read_lock();
	alone = READ_ONCE(READ_ONCE(kp->list.next)->next) == &kp->list;
	rcu_read_unlock();
	return alone;
}

static bool has_kernels_jump(const struct kprobe *kp, const struct gtp_armed *a)
{
	u8 now;

	return !copy_from_kernel_nofault(&now, kp->addr, 1) && now == JMP32_INSN_OPCODE &&
	       a->old[0] != JMP32_INSN_OPCODE;
}

/*
 * The kernel takes its jump back from a work item some time after the last kprobe there is gone,
 * and forgets the place after that. Where the text belongs to a module that goes, kprobes' own
 * module notifier comes next: it would take such a place off the list from which it is to be freed,
 * and leave it in the kernel's table, so that no kprobe can be registered at the address any more
 * (kill_optimized_kprobe()). A place that other kprobes keep is not waited for.
 */
void gtp_kprobe_text_wait(const struct kprobe *kp, const struct gtp_armed *a)
{
	u32 ms;

	if (!a->len || a->addr < MODULES_VADDR || a->addr >= MODULES_END)
		return;
	for (ms = 0; ms < UNOPTIMIZED_MS && has_kernels_jump(kp, a); ms += POLL_MS) {
		msleep(POLL_MS);
		gtp_progress("waiting for the kernel's jumps, ms", ms, UNOPTIMIZED_MS);
	}
	gtp_kprobe_list_flush();
}
