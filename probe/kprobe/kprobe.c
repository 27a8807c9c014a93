// SPDX-License-Identifier: GPL-2.0-only
/* Probes kernel code by kprobes: one kprobe for each location. */
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <asm/ptrace.h>

#include "hit/hit.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/hit/access_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "probe/shadow.h"
#include "probe/backend.h"
#include "probe/kprobe/kprobe_text.h"
#include "probe/policy/overrun.h"
#include "probe/policy/refuse.h"
#include "probe/self.h"
#include "probe/tables.h"

/**
 * struct location_probe - the kprobe of a location
 * @text: the part that this struct shares with kretprobes
 * @kp: the kernel's own struct kprobe
 * @loc: the location
 * @no_buffer: hits that were missed on CPUs without a buffer
 */
struct location_probe {
	struct gtp_kprobe_text text;
	struct kprobe kp;
	struct gtp_location *loc;
	atomic_long_t no_buffer;
};

static void assert_regs_layout(void)
{
#define SAME(ours, theirs)                                                                         \
	BUILD_BUG_ON(offsetof(struct gtp_regs, ours) != offsetof(struct pt_regs, theirs))
	SAME(r15, r15);
	SAME(r14, r14);
	SAME(r13, r13);
	SAME(r12, r12);
	SAME(rbp, bp);
	SAME(rbx, bx);
	SAME(r11, r11);
	SAME(r10, r10);
	SAME(r9, r9);
	SAME(r8, r8);
	SAME(rax, ax);
	SAME(rcx, cx);
	SAME(rdx, dx);
	SAME(rsi, si);
	SAME(rdi, di);
	SAME(orig_rax, orig_ax);
	SAME(rip, ip);
	SAME(cs, cs);
	SAME(eflags, flags);
	SAME(rsp, sp);
	SAME(ss, ss);
#undef SAME
	BUILD_BUG_ON(sizeof(struct gtp_regs) != sizeof(struct pt_regs));
}

typedef void (*hit_fn)(struct gtp_tracepoint *first, struct gtp_cpu *cpu,
		       const struct gtp_regs *regs, u32 entered);

static __always_inline int hit(struct location_probe *p, struct pt_regs *regs, hit_fn run)
{
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);
	unsigned int count = preempt_count();
	u32 added = gtp_kprobe_entered(&p->kp, count);

	if (unlikely(gtp_self_maybe()) && gtp_self_skip(p->loc, count - added))
		return 0;
	if (unlikely(!cpu))
		atomic_long_inc(&p->no_buffer);
	else
		run(p->loc->first, cpu, (const struct gtp_regs *)regs, added);
	return 0;
}

/*
 * Handle a hit. Preemption is off in all three forms that a kprobe takes on x86: as a breakpoint,
 * because exceptions from the kernel run with interrupts off; optimized, because the kernel's
 * callback disables it; on an ftrace site, because ftrace's recursion lock does. So this hit stays
 * on its CPU. Interrupts may be on in the latter two forms. If an interrupt hits a kprobe then, the
 * kernel skips that hit and counts it in nmissed of that kprobe; we do not see it as nested.
 *
 * A probe in code that this function calls does not recurse: the kprobes core counts it in nmissed
 * and steps over it.
 */
static int handle_hit(struct kprobe *kp, struct pt_regs *regs)
{
	return hit(container_of(kp, struct location_probe, kp), regs, gtp_hit);
}

/*
 * Handle a hit whose condition is not known. Out of line, so that a hit whose condition is false
 * saves few registers.
 */
static noinline int hit_open(struct location_probe *p, struct pt_regs *regs)
{
	return hit(p, regs, gtp_hit);
}

static noinline int hit_held(struct location_probe *p, struct pt_regs *regs)
{
	return hit(p, regs, gtp_hit_held);
}

/*
 * struct late - an environment for conditions on a CPU that came online after tstart and so has no
 * struct gtp_cpu. One for each CPU is enough: no other kprobe's handler interrupts this one.
 */
struct late {
	struct ax_env env;
	u64 stack[AX_MAX_DEPTH];
};

static DEFINE_PER_CPU(struct late, late);

/*
 * True if the condition is false, so that the hit need not be counted as missed. Return false if
 * the condition is true or cannot be evaluated.
 */
static noinline bool is_false_late(const struct gtp_tracepoint *first, const struct gtp_regs *regs)
{
	static const struct ax_ops ops = { .read = gtp_access_read };
	ax_jit_fn cond = (ax_jit_fn)gtp_acquire(&first->plan.early);
	struct late *l = raw_cpu_ptr(&late);
	struct ax_jit_result r;

	if (!READ_ONCE(first->on))
		return true;
	if (!cond)
		return false;
	l->env = (struct ax_env){ .ops = &ops, .stack = l->stack };
	r = cond(regs, &l->env);
	return !r.status && !r.value;
}

/* Handle a hit of a kprobe that evaluates the location's condition first, if that is possible. */
static int handle_condition(struct kprobe *kp, struct pt_regs *regs)
{
	struct location_probe *p = container_of(kp, struct location_probe, kp);
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);
	enum gtp_early early = GTP_EARLY_OPEN;

	if (likely(cpu))
		early = gtp_hit_early(p->loc->first, cpu, (const struct gtp_regs *)regs);
	else if (is_false_late(p->loc->first, (const struct gtp_regs *)regs))
		early = GTP_EARLY_FALSE;
	if (early == GTP_EARLY_FALSE)
		return 0;
	return early == GTP_EARLY_HOLDS ? hit_held(p, regs) : hit_open(p, regs);
}

/*
 * A post_handler that does nothing: the kernel does not optimize a kprobe that has one. The handler
 * is set at places where the kernel's own check misses a jump into the bytes that would be
 * replaced.
 */
static void keep_breakpoint(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

static const char *probe_kind(const struct kprobe *kp)
{
	if (kp->flags & KPROBE_FLAG_FTRACE)
		return "kprobe on ftrace";
	if (kp->post_handler)
		return "kprobe, kept a breakpoint: something enters the bytes of a jump";
	return "kprobe";
}

static int kprobe_arm(struct gtp_location *loc, struct gtp_why *why)
{
	struct location_probe *p;
	int err = gtp_probe_refuse(loc->addr, why);

	assert_regs_layout();
	if (err)
		return err;
	if (gtp_overruns(loc->addr)) {
		gtp_probe_explain(-EFAULT, why);
		return -EFAULT;
	}
	p = gtp_mem_alloc(sizeof(*p));
	if (!p) {
		gtp_probe_explain(-ENOMEM, why);
		return -ENOMEM;
	}
	p->loc = loc;
	p->kp.addr = (kprobe_opcode_t *)loc->addr;
	p->kp.pre_handler = loc->first->plan.early ? handle_condition : handle_hit;
	if (gtp_tables_deny(loc->addr))
		p->kp.post_handler = keep_breakpoint;

	p->text.kp = &p->kp;
	p->text.shadow.addr = loc->addr;
	p->text.shadow.by_kprobe = true;
	/*
	 * Add the kprobe to the index of probed places first, so that unloading of its module finds
	 * it.
	 */
	gtp_shadow_add(&p->text.shadow);
	err = register_kprobe(&p->kp);
	if (err) {
		gtp_shadow_remove(&p->text.shadow);
		gtp_mem_free(p);
		gtp_probe_explain(err, why);
		return err;
	}
	gtp_kprobe_text_remember(&p->text);
	loc->probe = p;
	loc->probe_kind = probe_kind(&p->kp);
	return 0;
}

static u64 kprobe_missed(const struct gtp_location *loc)
{
	const struct location_probe *p = loc->probe;

	return p->kp.nmissed + atomic_long_read(&p->no_buffer);
}

static void kprobe_forget(struct gtp_location *loc)
{
	struct location_probe *p = loc->probe;

	loc->missed += kprobe_missed(loc);
	loc->probe = NULL;
	gtp_shadow_remove(&p->text.shadow);
	gtp_mem_free(p);
}

static void kprobe_disarm(struct gtp_location *first)
{
	gtp_kprobe_text_take_off(first, unregister_kprobes, kprobe_forget);
}

const struct gtp_probe_backend gtp_kprobe_backend = {
	.name = "kprobe",
	.slow = true,
	.arm = kprobe_arm,
	.disarm = kprobe_disarm,
	.missed = kprobe_missed,
};
