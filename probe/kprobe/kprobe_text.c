// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the original bytes of the text that our kprobes and kretprobes change, and removes the
 * probes.
 */
#include <linux/delay.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/text-patching.h>

#include "kernel/base/lock_kernel.h"
#include "probe/kprobe/kprobe_list.h"
#include "probe/kprobe/kprobe_text.h"
#include "probe/wait.h"

enum {
	POLL_MS = 5,
	/*
	 * Wait at most so long for the optimizer, which delays its work by only 5 jiffies, but may
	 * handle many other kprobes first.
	 */
	UNOPTIMIZED_MS = 5000,
};

/*
 * Remember the original bytes. When register_kprobe() has returned, no other kprobe's jump covers
 * the place, and this kprobe is not optimized yet. If the first byte is not its int3, the original
 * bytes are not known: remember them as int3s, so that no jump is made nearby.
 */
void gtp_kprobe_text_remember(struct gtp_kprobe_text *p)
{
	const struct kprobe *kp = p->kp;
	struct gtp_shadow *a = &p->shadow;

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

/*
 * True if no other kprobe is at the address. The kernel chains the kprobes of one address to a
 * kprobe of its own, the head of the list.
 */
static bool is_alone(const struct kprobe *kp)
{
	bool alone;

	rcu_read_lock();
	alone = READ_ONCE(READ_ONCE(kp->list.next)->next) == &kp->list;
	rcu_read_unlock();
	return alone;
}

static bool has_kernels_jump(const struct gtp_kprobe_text *p)
{
	u8 now;

	return !copy_from_kernel_nofault(&now, p->kp->addr, 1) && now == JMP32_INSN_OPCODE &&
	       p->shadow.old[0] != JMP32_INSN_OPCODE;
}

/*
 * Wait until the kernel has removed an unregistered kprobe's jump. Some time after the last kprobe
 * at a place was unregistered, the kernel removes its jump in a work item, and then frees its own
 * record of the place. If the text belongs to a module that is being unloaded, the module notifier
 * of kprobes runs after ours. That notifier would take such a record off the list of records to
 * free, but leave it in the kernel's table, so that no kprobe could be registered at the address
 * any more (kill_optimized_kprobe()). Call this only for places where no other kprobe is
 * registered.
 */
static void wait_unoptimized(const struct gtp_kprobe_text *p)
{
	u32 ms;

	if (!p->shadow.len || p->shadow.addr < MODULES_VADDR || p->shadow.addr >= MODULES_END)
		return;
	for (ms = 0; ms < UNOPTIMIZED_MS && has_kernels_jump(p); ms += POLL_MS) {
		msleep(POLL_MS);
		gtp_progress("waiting for the kernel's jumps, ms", ms, UNOPTIMIZED_MS);
	}
	gtp_kprobe_list_flush();
}

/*
 * BATCH is the number of probes per call of unregister_kprobes(). Each call waits for a grace
 * period, so unregistering the probes one by one would be slow. But removing a probe from an ftrace
 * site takes milliseconds, and GDB gives up after six seconds without a reply. @batch is used under
 * gtp_lock.
 */
enum { BATCH = 64 };
static struct kprobe *batch[BATCH];

/* Take a batch of probes from the front of a list; return the rest of the list. */
static struct gtp_location *take_batch(struct gtp_location *first,
				       void (*unregister)(struct kprobe **kps, int n), u32 *done)
{
	struct gtp_location *loc, *rest;
	int n = 0;

	for (rest = first; rest && n < BATCH; rest = rest->next_own) {
		struct gtp_kprobe_text *p = rest->probe;

		p->alone = is_alone(p->kp);
		batch[n++] = p->kp;
	}
	unregister(batch, n);
	for (loc = first; loc != rest; loc = loc->next_own) {
		const struct gtp_kprobe_text *p = loc->probe;

		if (p->alone)
			wait_unoptimized(p);
	}
	*done += n;
	return rest;
}

/*
 * Remove the probes. The kernel's functions wait for a grace period, and handlers run with
 * preemption off. But RCU is not watching a CPU that is about to halt in its idle task. Before 6.2
 * the code that runs there can be probed, and of the three forms of a kprobe only the breakpoint
 * makes RCU watch again. So wait until each CPU has left its idle task once. After that no handler
 * runs on any CPU, and the memory of all probes can be freed.
 */
void gtp_kprobe_text_take_off(struct gtp_location *first,
			      void (*unregister)(struct kprobe **kps, int n),
			      void (*forget)(struct gtp_location *loc))
{
	struct gtp_location *loc;
	u32 done = 0, total = 0;

	for (loc = first; loc; loc = loc->next_own)
		total++;
	for (loc = first; loc;) {
		loc = take_batch(loc, unregister, &done);
		gtp_progress("taking off probes", done, total);
	}
	gtp_wait_for_idle();
	for (loc = first; loc; loc = loc->next_own)
		forget(loc);
}
