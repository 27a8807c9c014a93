// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports function returns by kretprobes: one kretprobe for each location of kind
 * GTP_LOCATION_RETURN.
 *
 * The kernel replaces the return address of each call that it follows, and gives the call a struct
 * kretprobe_instance, which holds the record of the entry. The number of instances is limited
 * (maxactive): a call that finds none is counted as missed. If the condition is false at the entry,
 * the instance is freed at once.
 *
 * If a task dies inside the function, or the probe is removed before a call returns, the kernel
 * frees the instance and calls none of our code.
 */
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/mm.h>

#include "kernel/base/mem_kernel.h"
#include "kernel/base/params_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "hit/returns.h"
#include "probe/shadow.h"
#include "probe/backend.h"
#include "probe/policy/entry.h"
#include "probe/kprobe/kprobe_text.h"
#include "probe/policy/overrun.h"
#include "probe/policy/refuse.h"
#include "probe/self.h"
#include "probe/policy/symbol.h"
#include "probe/tables.h"

/**
 * struct return_probe - a location's kretprobe
 * @text: the part that this struct shares with kprobes
 * @rp: the kernel's own struct kretprobe
 * @loc: the location whose returns are reported
 * @no_buffer: entries and returns that were missed on CPUs without a buffer
 */
struct return_probe {
	struct gtp_kprobe_text text;
	struct kretprobe rp;
	struct gtp_location *loc;
	atomic_long_t no_buffer;
};

enum {
	MAXACTIVE_MOST = 65536,
	MAXACTIVE_LEAST = 32,
	SHARE = 32, /* all instances together take at most 1/32 of the machine's memory */
};

static unsigned long bytes; /* size of all kretprobes' instances; under gtp_lock */

/* --- entries and returns of calls --- */

static struct return_probe *of_instance(struct kretprobe_instance *ri)
{
	return container_of(get_kretprobe(ri), struct return_probe, rp);
}

/*
 * Handle the entry of a call; preemption is off, as in a kprobe's handler. Return 0 if the call is
 * followed to its return.
 */
static int kretprobe_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct return_probe *p = of_instance(ri);
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);
	unsigned int count = preempt_count();
	u32 entered = gtp_kprobe_entered(&p->rp.kp, count);

	if (unlikely(gtp_self_maybe()) && gtp_self_skip(p->loc, count - entered))
		return 1;
	if (unlikely(!cpu)) {
		atomic_long_inc(&p->no_buffer);
		return 1;
	}
	return !gtp_returns_enter(p->loc->first, cpu, (const struct gtp_regs *)regs,
				  (struct gtp_pending *)ri->data, false, entered);
}

/*
 * Handle the return of a call. Preemption is off here, too; the task may be on another CPU than at
 * the entry.
 */
static int kretprobe_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct return_probe *p = of_instance(ri);
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (unlikely(!cpu))
		atomic_long_inc(&p->no_buffer);
	else
		gtp_returns_leave(p->loc->first, cpu, (const struct gtp_pending *)ri->data,
				  regs_return_value(regs));
	return 0;
}

/* --- arming --- */

static int check_entry(u64 addr, struct gtp_why *why)
{
	u64 start;
	u32 size;

	if (!gtp_symbol_bounds(addr, &start, &size)) {
		gtp_probe_explain(-ENOENT, why);
		return -ENOENT;
	}
	if (start == addr)
		return 0;
	gtp_why(why,
		"returns are reported at a function's first instruction; this is %s (an inlined copy has none)",
		gtp_symbol_at(addr));
	return -EINVAL;
}

/*
 * True if the address is compiled code. Assembly code may keep its return address elsewhere than at
 * the top of the stack.
 */
static bool is_compiled(u64 addr)
{
	return gtp_tables_wraps(addr) || gtp_entry_ask(addr) != -EINVAL;
}

/* Refuse a place where no kprobe is possible, or where the kernel must not optimize a kprobe. */
static int check_place(u64 addr, struct gtp_why *why)
{
	int err = gtp_probe_refuse(addr, why);

	if (!err)
		err = check_entry(addr, why);
	if (err)
		return err;
	if (gtp_overruns(addr)) {
		gtp_probe_explain(-EFAULT, why);
		return -EFAULT;
	}
	if (!is_compiled(addr)) {
		gtp_why(why, "%s is no compiled function, and may return in another way",
			gtp_symbol_at(addr));
		return -EINVAL;
	}
	if (gtp_tables_deny(addr)) {
		gtp_why(why,
			"the function jumps into the bytes that the kernel may replace for a kretprobe");
		return -EINVAL;
	}
	return 0;
}

/*
 * Return an estimate of the size of an instance: the kernel keeps free instances in a list, and
 * since 6.7 in an array for each CPU.
 */
static unsigned long instance_bytes(void)
{
	return sizeof(struct kretprobe_instance) + sizeof(struct gtp_pending) +
	       num_possible_cpus() * sizeof(void *);
}

/*
 * Return the number of instances for one more kretprobe: fewer if less memory is left, 0 to refuse
 * the kretprobe.
 */
static int maxactive(void)
{
	unsigned long all = (totalram_pages() << PAGE_SHIFT) / SHARE;
	unsigned long left = (all - min(bytes, all)) / instance_bytes();
	long most = clamp_t(long, READ_ONCE(gtp_maxactive), 1, MAXACTIVE_MOST);

	if (left < MAXACTIVE_LEAST)
		return 0;
	return min_t(long, most, max_t(long, left / 16, MAXACTIVE_LEAST));
}

static int kretprobe_arm(struct gtp_location *loc, struct gtp_why *why)
{
	struct return_probe *p;
	int err, most;

	if (loc->kind != GTP_LOCATION_RETURN)
		return -EOPNOTSUPP;
	err = check_place(loc->addr, why);
	if (err)
		return err;
	most = maxactive();
	if (!most) {
		gtp_why(why,
			"kretprobes have all the memory that they may; give gdbtp a table of the kernel (gdbtp-tables), which makes most of them jumps, or fewer tracepoints");
		return -ENOMEM;
	}
	p = gtp_mem_alloc(sizeof(*p));
	if (!p) {
		gtp_probe_explain(-ENOMEM, why);
		return -ENOMEM;
	}
	p->loc = loc;
	p->rp.kp.addr = (kprobe_opcode_t *)loc->addr;
	p->rp.entry_handler = kretprobe_entered;
	p->rp.handler = kretprobe_returned;
	p->rp.maxactive = most;
	p->rp.data_size = sizeof(struct gtp_pending);
	p->text.kp = &p->rp.kp;
	p->text.shadow.addr = loc->addr;
	p->text.shadow.by_kprobe = true;
	/*
	 * Add the kretprobe to the index of probed places first, so that unloading of its module
	 * finds it.
	 */
	gtp_shadow_add(&p->text.shadow);
	err = register_kretprobe(&p->rp);
	if (err) {
		gtp_shadow_remove(&p->text.shadow);
		gtp_mem_free(p);
		gtp_probe_explain(err, why);
		return err;
	}
	bytes += p->rp.maxactive * instance_bytes();
	gtp_kprobe_text_remember(&p->text);
	loc->probe = p;
	loc->probe_kind = "kretprobe";
	return 0;
}

static u64 kretprobe_missed(const struct gtp_location *loc)
{
	const struct return_probe *p = loc->probe;

	return (u32)p->rp.nmissed + p->rp.kp.nmissed + atomic_long_read(&p->no_buffer);
}

static void forget(struct gtp_location *loc)
{
	struct return_probe *p = loc->probe;

	loc->missed += kretprobe_missed(loc);
	loc->probe = NULL;
	bytes -= p->rp.maxactive * instance_bytes();
	gtp_shadow_remove(&p->text.shadow);
	gtp_mem_free(p);
}

/*
 * Unregister kretprobes. Calls that have not returned yet are no longer reported; the kernel
 * returns them as usual.
 */
static void unregister(struct kprobe **kps, int n)
{
	BUILD_BUG_ON(offsetof(struct kretprobe, kp));
	unregister_kretprobes((struct kretprobe **)kps, n);
}

static void kretprobe_disarm(struct gtp_location *first)
{
	gtp_kprobe_text_take_off(first, unregister, forget);
}

const struct gtp_probe_backend gtp_kretprobe_backend = {
	.name = "kretprobe",
	.slow = true,
	.arm = kretprobe_arm,
	.disarm = kretprobe_disarm,
	.missed = kretprobe_missed,
};
