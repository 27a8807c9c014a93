// SPDX-License-Identifier: GPL-2.0-only
/* Jumps in the text: what hits one, which there are, and waiting for who may be in one. */
#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>

#include "probe/jump/jump_internal.h"
#include "probe/jump/can_jump.h"
#include "hit/hit_inline.h"
#include "hit/irqsave_notrace.h"

/*
 * By the word that its pad pushes, so there are two for each. What is disarmed is taken out here
 * before anything of it is freed; interrupts are off at a hit, so a grace period of RCU waits for
 * those that saw it.
 */
static struct gtp_location *by_word[2 * GTP_JUMP_MAX];
static DECLARE_BITMAP(numbers, GTP_JUMP_MAX);

/* Written under gtp_host.lock; the spinlock is for gtp_jump_range_in(), as in kprobe.c. */
static struct list_head lists[GTP_JUMP_STATES] = {
	LIST_HEAD_INIT(lists[GTP_JUMP_STAGED]),
	LIST_HEAD_INIT(lists[GTP_JUMP_ARMED]),
	LIST_HEAD_INIT(lists[GTP_JUMP_STUCK]),
	LIST_HEAD_INIT(lists[GTP_JUMP_CALLED]),
};

static DEFINE_SPINLOCK(lists_lock);

/* --- hits --- */

/* GDB's own tasks: they are hit when they are in an interrupt, and when the user wants that. */
static noinline void hit_self(struct gtp_location *loc, struct gtp_regs *regs, u32 held)
{
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (!gtp_kprobe_skip_self(preempt_count()))
		gtp_hit_inline(loc, cpu, regs, held);
}

static noinline void hit_no_buffer(struct gtp_location *loc)
{
	struct gtp_jump *d = loc->jump;

	atomic_long_inc(&d->no_buffer);
}

/*
 * What is called here may be the very function that has been hit, so nothing is before this CPU is
 * marked as in a hit. The context is the hit's own: there is no exception in between.
 */
static __always_inline void hit(struct gtp_location *loc, struct gtp_regs *regs, u32 held)
{
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (unlikely(!cpu))
		hit_no_buffer(loc);
	else if (unlikely(gtp_kprobe_maybe_self()))
		hit_self(loc, regs, held);
	else
		gtp_hit_inline(loc, cpu, regs, held);
}

void gtp_jump_hit(struct gtp_regs *regs, u32 word)
{
	struct gtp_location *loc;
	bool tell = gtp_irqs_off_notrace(regs->eflags);

	loc = gtp_acquire(&by_word[word]);
	if (likely(loc))
		hit(loc, regs, word & GTP_PAD_HELD);
	gtp_irqs_restored_notrace(tell);
}

NOKPROBE_SYMBOL(gtp_jump_hit);

void gtp_jump_connect(struct gtp_jump *d)
{
	gtp_publish(&by_word[d->number << 1], d->loc);
	gtp_publish(&by_word[d->number << 1 | GTP_PAD_HELD], d->loc);
}

void gtp_jump_disconnect(struct gtp_jump *d)
{
	gtp_publish(&by_word[d->number << 1], NULL);
	gtp_publish(&by_word[d->number << 1 | GTP_PAD_HELD], NULL);
}

/* --- which there are --- */

struct gtp_jump *gtp_jump_add(struct gtp_location *loc)
{
	static u32 next;
	struct gtp_jump *d;
	u32 number = find_next_zero_bit(numbers, GTP_JUMP_MAX, next);

	if (cpu_feature_enabled(X86_FEATURE_XENPV)) { /* see hit/irqsave_notrace.h */
		loc->no_jump = "this is a paravirtual guest of Xen";
		return NULL;
	}
	if (number == GTP_JUMP_MAX)
		number = find_first_zero_bit(numbers, GTP_JUMP_MAX);
	if (number == GTP_JUMP_MAX) {
		loc->no_jump = "there are as many jumps as there may be";
		return NULL;
	}
	d = gtp_mem_alloc(sizeof(*d));
	if (!d) {
		loc->no_jump = GTP_JUMP_NO_MEMORY;
		return NULL;
	}
	__set_bit(number, numbers);
	next = number + 1;
	d->number = number;
	d->loc = loc;
	d->patch.addr = loc->addr;
	spin_lock(&lists_lock);
	list_add_tail(&d->list, &lists[GTP_JUMP_STAGED]);
	spin_unlock(&lists_lock);
	loc->jump = d;
	return d;
}

void gtp_jump_drop(struct gtp_jump *d)
{
	if (d->loc) {
		d->loc->missed += atomic_long_read(&d->no_buffer);
		d->loc->jump = NULL;
	}
	if (d->holds)
		module_put(THIS_MODULE);
	if (d->pad.len)
		gtp_jit_pad_free(&d->pad);
	if (d->old_pad.len)
		gtp_jit_pad_free(&d->old_pad);
	gtp_mem_free(d->call);
	__clear_bit(d->number, numbers);
	spin_lock(&lists_lock);
	list_del(&d->list);
	spin_unlock(&lists_lock);
	gtp_mem_free(d);
}

void gtp_jump_become(struct gtp_jump *d, enum gtp_jump_state state)
{
	d->state = state;
	spin_lock(&lists_lock);
	list_move_tail(&d->list, &lists[state]);
	spin_unlock(&lists_lock);
}

bool gtp_jump_any(enum gtp_jump_state state)
{
	return !list_empty(&lists[state]);
}

void gtp_jump_each(enum gtp_jump_state state, void (*work)(struct gtp_jump *d))
{
	struct gtp_jump *d;

	list_for_each_entry(d, &lists[state], list)
		work(d);
}

static u32 list_count(const struct list_head *list)
{
	const struct list_head *at;
	u32 n = 0;

	list_for_each(at, list)
		n++;
	return n;
}

u32 gtp_jump_count(void)
{
	return list_count(&lists[GTP_JUMP_ARMED]) + list_count(&lists[GTP_JUMP_STUCK]);
}

static int by_address(const void *a, const void *b)
{
	const struct gtp_jump *const *x = a, *const *y = b;

	return (*x)->patch.addr < (*y)->patch.addr ? -1 : (*x)->patch.addr > (*y)->patch.addr;
}

int gtp_jump_select(struct gtp_jump_set *set, enum gtp_jump_state state)
{
	struct gtp_jump *d;
	u32 n = list_count(&lists[state]);

	*set = (struct gtp_jump_set){ .n = n };
	set->d = gtp_mem_alloc(array_size(n, sizeof(*set->d)));
	set->patch = gtp_mem_alloc(array_size(n, sizeof(*set->patch)));
	if (!set->d || !set->patch) {
		gtp_jump_deselect(set);
		return -ENOMEM;
	}
	n = 0;
	list_for_each_entry(d, &lists[state], list)
		set->d[n++] = d;
	sort(set->d, n, sizeof(*set->d), by_address, NULL);
	return 0;
}

void gtp_jump_deselect(struct gtp_jump_set *set)
{
	gtp_mem_free(set->d);
	gtp_mem_free(set->patch);
}

static bool is_in(u64 addr, const struct module *mod, bool init)
{
	return init ? within_module_init(addr, mod) : within_module_core(addr, mod);
}

bool gtp_jump_range_in(const struct module *mod, bool init, u64 *start, u64 *end)
{
	enum gtp_jump_state state;
	struct gtp_jump *d;

	*start = U64_MAX;
	*end = 0;
	spin_lock(&lists_lock);
	for (state = 0; state < GTP_JUMP_STATES; state++) {
		list_for_each_entry(d, &lists[state], list) {
			if (!is_in(d->patch.addr, mod, init))
				continue;
			*start = min(*start, d->patch.addr);
			*end = max(*end, d->patch.addr + 1);
		}
	}
	spin_unlock(&lists_lock);
	return *end;
}

static const struct gtp_jump *in_reach(u64 addr, enum gtp_jump_state state)
{
	const struct gtp_jump *d;

	list_for_each_entry(d, &lists[state], list) {
		const struct gtp_patch *p = &d->patch;

		if (p->addr != addr && p->addr < addr + GTP_REGION_JUMP && addr < p->addr + p->len)
			return d;
	}
	return NULL;
}

/* The kernel takes no kprobe at a breakpoint that it does not know. */
static bool is_left_broken(u64 addr)
{
	const struct gtp_jump *d;

	list_for_each_entry(d, &lists[GTP_JUMP_STUCK], list) {
		if (d->patch.addr == addr && d->patch.state != GTP_PATCH_JUMP)
			return true;
	}
	return false;
}

/* What a jump displaces is known; what another one would, is not yet, but five bytes at least. */
int gtp_jump_beside(u64 addr, const char **no_jump, struct gtp_why *why)
{
	const struct gtp_jump *d = in_reach(addr, GTP_JUMP_ARMED);

	if (is_left_broken(addr)) {
		gtp_why(why,
			"a breakpoint of ours is there until the kprobe near it is gone (see kprobes/list in debugfs)");
		return -EBUSY;
	}
	if (!d)
		d = in_reach(addr, GTP_JUMP_STUCK);
	if (!d)
		return 0;
	if (addr < d->patch.addr) {
		*no_jump = "another tracepoint's jump is within the 5 bytes";
		return -EOPNOTSUPP;
	}
	gtp_why(why, "it is within the bytes of the jump at 0x%llx; tstop and tstart",
		d->patch.addr);
	return -EBUSY;
}

static void shadow(const struct gtp_patch *p, u64 addr, u8 *buf, u32 len)
{
	u32 i;

	for (i = 0; i < p->len; i++) {
		if (p->addr + i - addr < len)
			buf[p->addr + i - addr] = p->old[i];
	}
}

void gtp_jump_shadow(u64 addr, u8 *buf, u32 len)
{
	struct gtp_jump *d;

	list_for_each_entry(d, &lists[GTP_JUMP_ARMED], list)
		shadow(&d->patch, addr, buf, len);
	list_for_each_entry(d, &lists[GTP_JUMP_STUCK], list)
		shadow(&d->patch, addr, buf, len);
}

/* --- waiting --- */

struct waiter {
	struct rcu_head rcu;
	struct completion done;
};

static void wake(struct rcu_head *rcu)
{
	complete(&container_of(rcu, struct waiter, rcu)->done);
}

static int nothing(void *unused)
{
	return 0;
}

/*
 * RCU waits for no idle task, and where that halts the CPU it does not even watch; before 6.2 such
 * code is not noinstr, and takes probes. What stops the machine runs in a task, before which no
 * other has precedence: once it has run on a CPU, the idle task has been left there.
 */
static void leave_idle(void)
{
	stop_machine(nothing, NULL, cpu_online_mask);
}

/*
 * Tasks that are preempted, or running since before, are waited for until they sleep or return to
 * userspace by themselves. In interrupts and NMIs nothing is ever preempted: RCU's own grace
 * periods, which are parts of this one, wait for these. One that computes in the kernel for long
 * makes this long, so GDB must hear something meanwhile.
 */
void gtp_jump_wait(void)
{
	struct waiter w;
	u32 seconds = 0;

	init_completion(&w.done);
	init_rcu_head_on_stack(&w.rcu);
	call_rcu_tasks(&w.rcu, wake);
	while (!wait_for_completion_timeout(&w.done, HZ)) {
		seconds++;
		gtp_host_progress(NULL, "waiting for busy tasks, seconds", seconds, seconds);
	}
	destroy_rcu_head_on_stack(&w.rcu);
	leave_idle();
}

/* Fails, since there is no such kprobe, but not before it has had the lock that all take. */
static void settle_kprobes(void)
{
	struct kprobe none = { .addr = NULL };

	disable_kprobe(&none);
}

bool gtp_jump_look(void)
{
	settle_kprobes();
	return !gtp_can_jump_batch_begin();
}

bool gtp_jump_has_first(const struct gtp_patch *p)
{
	return gtp_kprobe_list_in(p->addr, p->addr + 1);
}

bool gtp_jump_has_inner(const struct gtp_patch *p)
{
	return gtp_kprobe_list_in(p->addr + 1, p->addr + p->len);
}

bool gtp_jump_has_other_kprobe(const struct gtp_patch *p)
{
	return gtp_jump_has_first(p) || gtp_jump_has_inner(p);
}

/* Who has come to the first byte since it is a jump's knows the jump: he keeps it. */
void gtp_jump_late_kprobes(struct gtp_patch **p, u32 n)
{
	bool known = gtp_jump_look(), any = false;
	u32 i;

	for (i = 0; i < n; i++) {
		p[i]->skip = p[i]->state != GTP_PATCH_JUMP || !known ||
			     !gtp_jump_has_inner(p[i]) || gtp_jump_has_first(p[i]);
		any |= !p[i]->skip;
	}
	if (!any)
		return;
	gtp_patch_int3_jump(p, n);
	known = gtp_jump_look();
	for (i = 0; i < n; i++)
		p[i]->skip |= !known || gtp_jump_has_first(p[i]);
	gtp_patch_int3_all(p, n);
}
