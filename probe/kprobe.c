// SPDX-License-Identifier: GPL-2.0-only
/* Hits from kprobes: one kprobe per location, and what its handler may assume. */
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rbtree.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>

#include "kernel/kernel.h"
#include "probe/blacklist.h"
#include "probe/jump/can_jump.h"

enum {
	JUMP = 5,  /* bytes of the jump by which the kernel may replace the breakpoint */
	ENDBR = 4, /* bytes that it may step over to put the breakpoint behind them */
};

/**
 * struct location_probe - a location's kprobe
 * @kp: the kernel's part; its address may differ from @loc->addr: the kernel steps over an endbr64
 * @loc: where a hit belongs
 * @armed: in the tree of all of them, by @loc->addr
 * @was: the code without it, as far as a jump of the kernel's may cover it; all int3: not known
 * @no_buffer: hits on CPUs that have no buffer
 */
struct location_probe {
	struct kprobe kp;
	struct gtp_location *loc;
	struct rb_node armed;
	u8 was[JUMP];
	atomic_long_t no_buffer;
};

/*
 * With a spinlock of its own, for gtp_kprobe_range_in(), which must not wait for gtp_host.lock.
 */
static struct rb_root armed_probes = RB_ROOT;
static DEFINE_SPINLOCK(armed_lock);

/*
 * What unregister_kprobes() takes off at once. It waits for a grace period once, so one by one
 * would be slow; but a probe on an ftrace site takes it milliseconds, and GDB waits for no more
 * than six seconds without a word. Under gtp_host.lock.
 */
enum { BATCH = 64 };
static struct kprobe *batch[BATCH];

/* The connected GDB's process; -1 is nobody (0 would be the idle tasks). */
pid_t gtp_kprobe_self_tgid = -1;
static DEFINE_PER_CPU(u64, self_skipped);

void gtp_kprobe_set_self(pid_t tgid)
{
	WRITE_ONCE(gtp_kprobe_self_tgid, tgid);
}

u64 gtp_kprobe_self_skipped(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(self_skipped, cpu);
	return sum;
}

/*
 * Does the interrupted code run for its task, rather than in an interrupt on top of it? in_task()
 * cannot tell: the breakpoint form of a kprobe arrives as an exception that counts as an NMI, so
 * one such level is taken off. A probe in jump form that is hit in a real NMI looks the same as
 * that; it is then judged as its task's.
 */
static unsigned int context_of_hit(void)
{
	unsigned int count = preempt_count();

	if (count & NMI_MASK)
		count -= NMI_OFFSET + HARDIRQ_OFFSET;
	return count;
}

bool gtp_kprobe_skip_self(unsigned int context)
{
	if (likely(!gtp_kprobe_maybe_self()) || READ_ONCE(gtp_self_trace) ||
	    context & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))
		return false;
	this_cpu_inc(self_skipped);
	return true;
}

static void assert_regs_layout(void)
{
#define SAME(ours, theirs) \
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

/*
 * Preemption is off in all three forms that a kprobe takes on x86: as a breakpoint, because
 * exceptions from the kernel run with interrupts off; optimised, because the kernel's callback
 * disables it; on an ftrace site, because ftrace's recursion lock does. So this CPU's part stays
 * ours. Interrupts may be on in the latter two: what hits then is not nested; the kernel counts
 * it in nmissed of the kprobe that was hit.
 *
 * The kprobes core keeps a probe inside anything this calls from recursing: it counts and steps
 * over.
 */
static int handle_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct location_probe *p = container_of(kp, struct location_probe, kp);
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (unlikely(gtp_kprobe_skip_self(context_of_hit())))
		return 0;
	if (unlikely(!cpu))
		atomic_long_inc(&p->no_buffer);
	else
		gtp_hit(p->loc, cpu, (const struct gtp_regs *)regs);
	return 0;
}

int gtp_kprobe_refuse(u64 addr, struct gtp_why *why)
{
	int err = security_locked_down(LOCKDOWN_KPROBES);
	const char *words;

	if (err) {
		gtp_why(why, "the kernel is locked down: it allows no probes");
		return err;
	}
	/* GDB has been killed while many probes are being armed: nobody waits for the rest. */
	if (fatal_signal_pending(current)) {
		gtp_why(why, "interrupted");
		return -EINTR;
	}
	if (within_module(addr, THIS_MODULE)) {
		gtp_why(why, "that is in gdbtp itself, which cannot trace itself");
		return -EINVAL;
	}
	words = gtp_blacklist_probe(addr);
	if (words) {
		gtp_why(why, "%s", words);
		return -EINVAL;
	}
	return 0;
}

void gtp_kprobe_explain(int err, struct gtp_why *why)
{
	switch (err) {
	case -EINVAL:
		gtp_why(why,
			"the kernel allows no probe here: not its code, or code that probes and patching rely on (see kprobes/blacklist in debugfs)");
		break;
	case -EILSEQ:
		gtp_why(why, "this is not the start of an instruction");
		break;
	case -ENOENT:
	case -EADDRNOTAVAIL:
		gtp_why(why,
			"there is no function here: is its module loaded, and its init code not freed yet?");
		break;
	case -ENOMEM:
		gtp_why(why, "no memory for a probe");
		break;
	default:
		gtp_why(why, "the kernel refused the probe (%pe)", ERR_PTR(err));
	}
}

static struct location_probe *to_probe(struct rb_node *node)
{
	return rb_entry(node, struct location_probe, armed);
}

static bool is_less(struct rb_node *a, const struct rb_node *b)
{
	return to_probe(a)->loc->addr < to_probe((struct rb_node *)b)->loc->addr;
}

static void list_armed(struct location_probe *p)
{
	spin_lock(&armed_lock);
	rb_add(&p->armed, &armed_probes, is_less);
	spin_unlock(&armed_lock);
}

static void unlist_armed(struct location_probe *p)
{
	spin_lock(&armed_lock);
	rb_erase(&p->armed, &armed_probes);
	spin_unlock(&armed_lock);
}

/* first_from - the first that is not below @addr; under armed_lock */
static struct location_probe *first_from(u64 addr)
{
	struct rb_node *node = armed_probes.rb_node, *best = NULL;

	while (node) {
		if (to_probe(node)->loc->addr < addr) {
			node = node->rb_right;
		} else {
			best = node;
			node = node->rb_left;
		}
	}
	return best ? to_probe(best) : NULL;
}

static struct location_probe *next_of(struct location_probe *p)
{
	struct rb_node *node = rb_next(&p->armed);

	return node ? to_probe(node) : NULL;
}

static bool is_in(const struct location_probe *p, const struct module *mod, bool init)
{
	return init ? within_module_init(p->loc->addr, mod) : within_module_core(p->loc->addr, mod);
}

bool gtp_kprobe_range_in(const struct module *mod, bool init, u64 *start, u64 *end)
{
	struct location_probe *p;

	*start = U64_MAX;
	*end = 0;
	spin_lock(&armed_lock);
	for (p = first_from(0); p; p = next_of(p)) {
		if (!is_in(p, mod, init))
			continue;
		*start = min(*start, p->loc->addr);
		*end = max(*end, p->loc->addr + 1);
	}
	spin_unlock(&armed_lock);
	return *end;
}

/* Somebody's breakpoint that was there before ours is none of ours. */
static void undo_in_copy(const struct location_probe *p, u64 addr, u8 *buf, u32 len)
{
	u64 at = (u64)p->kp.addr - addr;
	u32 n = 0, i;

	if (p->kp.flags & KPROBE_FLAG_FTRACE)
		return;
	if (at < len && buf[at] == 0xcc)
		n = 1;
	else if (at < len && buf[at] == 0xe9)
		n = JUMP;
	for (i = 0; i < n && at + i < len; i++)
		buf[at + i] = p->was[i];
}

void gtp_kprobe_shadow(u64 addr, u8 *buf, u32 len)
{
	struct location_probe *p;

	u64 from = addr - min_t(u64, addr, ENDBR);

	/* Under gtp_host.lock nothing comes or goes. */
	for (p = first_from(from); p && p->loc->addr < addr + len; p = next_of(p))
		undo_in_copy(p, addr, buf, len);
}

/*
 * Right after it was armed: what jumps covered the place have been taken back by the kernel, and
 * its own comes some time later. Otherwise nothing is known, which costs a jump near it, no more.
 */
static void remember_code(struct location_probe *p)
{
	if (copy_from_kernel_nofault(p->was, p->kp.addr, JUMP) || p->was[0] != 0xcc)
		memset(p->was, 0xcc, JUMP);
	else
		p->was[0] = p->kp.opcode;
}

/*
 * With a post_handler the kernel does not replace the breakpoint by a jump. Where its rule would
 * let a jump be entered in the middle, that is the only way to keep it from it.
 */
static void keep_breakpoint(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

static const char *mechanism(const struct kprobe *kp)
{
	if (kp->flags & KPROBE_FLAG_FTRACE)
		return "kprobe on ftrace";
	if (kp->post_handler)
		return "kprobe, kept a breakpoint: something enters the bytes of a jump";
	return "kprobe";
}

/**
 * gtp_kprobe_arm() - struct gtp_target_ops' arm
 * @ctx: unused
 * @loc: the location
 * @why: the refusal
 *
 * Context: process, under gtp_host.lock. Return: 0 or -errno.
 */
int gtp_kprobe_arm(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	struct location_probe *p;
	int err = gtp_kprobe_refuse(loc->addr, why);

	assert_regs_layout();
	if (err)
		return err;
	p = gtp_mem_alloc(sizeof(*p));
	if (!p) {
		gtp_kprobe_explain(-ENOMEM, why);
		return -ENOMEM;
	}
	p->loc = loc;
	p->kp.addr = (kprobe_opcode_t *)loc->addr;
	p->kp.pre_handler = handle_hit;
	if (gtp_can_jump_denied(loc->addr))
		p->kp.post_handler = keep_breakpoint;

	/*
	 * Listed first: a module that goes between the two steps must find the probe (see
	 * gtp_kprobe_range_in).
	 */
	list_armed(p);
	err = register_kprobe(&p->kp);
	if (err) {
		unlist_armed(p);
		gtp_mem_free(p);
		gtp_kprobe_explain(err, why);
		return err;
	}
	remember_code(p);
	loc->probe = p;
	loc->mechanism = mechanism(&p->kp);
	return 0;
}

static void forget(struct gtp_location *loc)
{
	struct location_probe *p = loc->probe;

	loc->missed = p->kp.nmissed + atomic_long_read(&p->no_buffer);
	loc->probe = NULL;
	unlist_armed(p);
	gtp_mem_free(p);
}

static bool is_armed(const struct gtp_location *loc)
{
	return loc->kind == GTP_LOCATION_CODE && loc->probe;
}

/* take_off - a batch from the front of a list; what is behind it */
static struct gtp_location *take_off(struct gtp_location *first, u32 *done)
{
	struct gtp_location *loc, *rest;
	u32 n = 0;

	for (rest = first; rest && n < BATCH; rest = rest->next) {
		struct location_probe *p = rest->probe;

		if (is_armed(rest))
			batch[n++] = &p->kp;
	}
	if (n)
		unregister_kprobes(batch, n);
	for (loc = first; loc != rest; loc = loc->next) {
		if (is_armed(loc))
			forget(loc);
	}
	*done += n;
	return rest;
}

/**
 * gtp_kprobe_disarm() - struct gtp_target_ops' disarm
 * @ctx: unused
 * @first: list of locations; those without a kprobe are skipped
 *
 * unregister_kprobes() waits for a grace period, and handlers run with preemption off: when it
 * returns, none runs on any CPU, and the memory of all may go.
 * Context: process, under gtp_host.lock; sleeps.
 */
void gtp_kprobe_disarm(void *ctx, struct gtp_location *first)
{
	struct gtp_location *loc;
	u32 done = 0, total = 0;

	for (loc = first; loc; loc = loc->next)
		total += is_armed(loc);
	for (loc = first; loc;) {
		loc = take_off(loc, &done);
		gtp_host_progress(NULL, "taking off probes", done, total);
	}
}
