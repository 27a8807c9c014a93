// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follows calls to their return. A pad at a function's entry calls the rest of the function through
 * a gate (kernel/pad/gates.c), so the function returns to the gate. $latency, $ret and the other
 * values of a call come from this file and from hit/returns.h.
 *
 * The record of a call is on the stack on which the call runs, so nothing is looked up by task, and
 * no call is missed. If much of the stack is in use already (deep recursion), or the stack is not a
 * task's, the record is in a pool, where it is found by the stack address of the call's return
 * address. A call is counted as missed only if the pool has no room for it.
 *
 * A call may outlast the run, and its pad. When the call returns, the number and ticket in its
 * record show whether the number still belongs to the same location.
 */
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched/task_stack.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "base/compat.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "kernel/hit/irqsave_notrace.h"
#include "kernel/hit/stack_kernel.h"
#include "kernel/pad/follow.h"
#include "kernel/pad/gates.h"
#include "kernel/pad/number.h"
#include "pad/pad.h"
#include "probe/self.h"
#include "probe/wait.h"

enum {
	/*
	 * A record is put on its task's stack only if fewer bytes of that stack than this are in
	 * use, including any records on it.
	 */
	USED = THREAD_SIZE / 4,
	POOL = 8192, /* number of records in the pool; a power of two */
	PROBES = 16, /* places in the pool at which a record may be */
	RETRY_MS = 1000,
};

/*
 * struct bare - a record in the pool; @sp: address of its call's return address, 0: free; @cpu: the
 * CPU of the idle task if the return address is on an idle task's stack, otherwise -1
 */
struct bare {
	u64 sp;
	int cpu;
	struct gtp_follow_record r;
};

static struct bare *pool;
static DEFINE_PER_CPU(long, inside); /* calls entered on this CPU, minus calls left on it */

/* --- the pool of records --- */

/*
 * Return the @n-th place for a record of @sp. Only the call whose return address is at @sp takes
 * and gives back such a record.
 */
static struct bare *nth_place(u64 sp, u32 n)
{
	u32 hash = (u32)((sp >> 3) * 0x9e3779b97f4a7c15ULL >> 40);

	return &pool[(hash + n) % POOL];
}

static struct bare *find_bare(u64 sp)
{
	u32 i;

	for (i = 0; i < PROBES; i++)
		if (READ_ONCE(nth_place(sp, i)->sp) == sp)
			return nth_place(sp, i);
	return NULL;
}

/*
 * Take a record for @sp; return NULL if there is no room. An existing record for @sp belongs to a
 * call that never returned, because its task has died.
 */
static struct bare *take(u64 sp)
{
	struct bare *b = find_bare(sp);
	u32 i;

	if (unlikely(b))
		this_cpu_dec(inside);
	for (i = 0; i < PROBES && !b; i++)
		if (!READ_ONCE(nth_place(sp, i)->sp) && !cmpxchg(&nth_place(sp, i)->sp, 0, sp))
			b = nth_place(sp, i);
	return b;
}

/*
 * Free a record that the caller no longer reads. forget_idle() may free it at the same time: the
 * cmpxchg decides which of the two decrements the count.
 */
static void give(struct bare *b, u64 sp)
{
	if (cmpxchg(&b->sp, sp, 0) == sp)
		this_cpu_dec(inside);
}

/* --- the entry and the return of a call --- */

/*
 * True if there is room for the record on the stack. No record goes on an idle task's stack: such
 * records must be found again when the CPU goes offline. Any function may be the traced one, so
 * call none: see hit() in kernel/pad/probe.c.
 */
static __always_inline bool has_room(u64 sp)
{
	return sp - (u64)task_stack_page(current) - (THREAD_SIZE - USED + 1) < USED - 1 &&
	       !(current->flags & PF_IDLE);
}

static int idle_cpu_of(u64 sp)
{
	return is_idle_task(current) && sp - (u64)task_stack_page(current) < THREAD_SIZE ?
		       raw_smp_processor_id() :
		       -1;
}

/*
 * Return the mark of a record on a stack. The mark is not @r itself: an empty list_head that was at
 * @r before has left @r in its second word, where the mark is.
 */
static __always_inline u64 mark_of(const struct gtp_follow_record *r)
{
	return (u64)r + 0x61c88647;
}

/*
 * Record that a call is over: clear its record's mark, and decrement the number of calls inside.
 * This needs no cmpxchg, because only the call's own task does it.
 */
static __always_inline void count_out(u64 *mark)
{
	WRITE_ONCE(*mark, 0);
	this_cpu_dec(inside);
}

static __always_inline u32 keep_here(struct gtp_follow_record *r, u32 word, u32 ticket)
{
	/* Force two stores: GCC would combine the values and store once, which takes longer. */
	WRITE_ONCE(r->number, word >> 1);
	WRITE_ONCE(r->ticket, ticket);
	r->mark = mark_of(r);
	this_cpu_inc(inside);
	return GTP_FOLLOW_FRAMED;
}

static u32 keep(struct gtp_follow_record *r, u32 word, u32 ticket)
{
	struct bare *b;

	if (has_room(r->p.regs.rsp))
		return keep_here(r, word, ticket);
	b = take(r->p.regs.rsp);
	if (!b) {
		gtp_pad_number_missed(word >> 1);
		return GTP_FOLLOW_NOT;
	}
	b->r.number = word >> 1;
	b->r.ticket = ticket;
	b->r.p = r->p;
	b->cpu = idle_cpu_of(r->p.regs.rsp);
	this_cpu_inc(inside);
	return GTP_FOLLOW_BARE;
}

static __always_inline bool is_dead(void)
{
	return READ_ONCE(current->__state) == TASK_DEAD;
}

/*
 * True for the last call of a task that is dead already: it never returns. Calls that interrupts
 * make on that task's stack do return.
 */
static bool is_last_call(void)
{
	return is_dead() && !(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_MASK));
}

/*
 * Enter a call in the general case. Not inline, so that the usual case saves no registers for it.
 */
static noinline u32 enter_call(struct gtp_follow_record *r, u32 word)
{
	u32 ticket = gtp_pad_number_ticket(word >> 1);
	struct gtp_tracepoint *tp = gtp_pad_number_find(word);
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (!tp)
		return GTP_FOLLOW_NOT;
	if (!cpu) {
		gtp_pad_number_missed(word >> 1);
		return GTP_FOLLOW_NOT;
	}
	if (gtp_self_maybe() && gtp_self_skip(tp->loc, preempt_count()))
		return GTP_FOLLOW_NOT;
	if (is_last_call())
		return GTP_FOLLOW_NOT;
	if (!gtp_returns_enter(tp, cpu, &r->p.regs, &r->p, word & GTP_PAD_HELD, 0))
		return GTP_FOLLOW_NOT;
	return keep(r, word, ticket);
}

/*
 * Enter a call in the usual case: the call is a task's, its record fits on the stack, and no
 * further check is needed.
 */
static __always_inline u32 enter_quickly(struct gtp_follow_record *r, u32 word)
{
	u32 ticket = gtp_pad_number_ticket(word >> 1);
	const struct gtp_tracepoint *tp = gtp_pad_number_find(word);
	const struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (unlikely(!tp || !cpu || gtp_self_maybe() || is_dead() || !has_room(r->p.regs.rsp)) ||
	    !gtp_returns_enter_quickly(tp, cpu, &r->p, word & GTP_PAD_HELD))
		return enter_call(r, word);
	return keep_here(r, word, ticket);
}

u32 gtp_follow_enter(struct gtp_follow_record *r, u32 word)
{
	bool tell = gtp_irqs_off_notrace(r->p.regs.eflags);
	u32 how = enter_quickly(r, word);

	gtp_irqs_restored_notrace(tell);
	return how;
}

NOKPROBE_SYMBOL(gtp_follow_enter);

static __always_inline void leave_call(const struct gtp_follow_record *r, u64 value)
{
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);
	unsigned long number = r->number;
	struct gtp_tracepoint *tp = gtp_pad_number_find(number << 1);

	if (unlikely(!tp || gtp_pad_number_ticket(number) != r->ticket))
		return;
	if (unlikely(!cpu))
		gtp_pad_number_missed(number);
	else
		gtp_returns_leave_inline(tp, cpu, &r->p, value);
}

/*
 * Handle the return. Record first that the call is over, so that fewer values must be kept until
 * the hit is done. That is safe: look(), which waits until no call is inside, also waits until
 * interrupts are on again.
 */
void gtp_follow_leave(struct gtp_follow_record *r, u64 value, u64 flags)
{
	bool tell = gtp_irqs_off_notrace(flags);

	/* If the mark is gone, do_exit() made this call, and task_ends() has ended its record. */
	if (likely(r->mark == mark_of(r)))
		count_out(&r->mark);
	leave_call(r, value);
	gtp_irqs_restored_notrace(tell);
}

NOKPROBE_SYMBOL(gtp_follow_leave);

void gtp_follow_leave_bare(u64 sp, u64 value, u64 flags)
{
	bool tell = gtp_irqs_off_notrace(flags);
	struct bare *b = find_bare(sp);

	if (likely(b)) {
		leave_call(&b->r, value);
		give(b, sp);
	}
	gtp_irqs_restored_notrace(tell);
}

NOKPROBE_SYMBOL(gtp_follow_leave_bare);

/* --- tasks that end inside a call --- */

static bool leads_back(u64 word, u8 *gates)
{
	u64 at = word - (u64)gtp_gates_nth(gates, 0);

	return at < GTP_GATES * GTP_GATE && at % GTP_GATE == GTP_GATE_BACK;
}

/*
 * If the word at @at, on the stack of a task that ends, is a return address into a gate, record
 * that this call is over.
 */
static void forget(u64 *at)
{
	struct gtp_follow_record *r = (struct gtp_follow_record *)(at + 1);
	u64 word = READ_ONCE_NOCHECK(*at);
	struct bare *b;

	if (leads_back(word, gtp_gates_framed)) {
		if (READ_ONCE_NOCHECK(r->mark) == mark_of(r))
			count_out(&r->mark);
	} else if (leads_back(word, gtp_gates_bare)) {
		b = find_bare((u64)(at + 1));
		if (b)
			give(b, (u64)(at + 1));
	}
}

/*
 * Record that all calls of a task that ends are over. The task never returns from the calls that it
 * is in, except from those that do_exit() makes itself. After an oops rsp was reset, so calls that
 * never return may also be below it: search the whole stack. Remains of calls that did return have
 * no mark, and are not in the pool.
 */
static void task_ends(void *data, struct task_struct *task)
{
	u64 *at = task_stack_page(current);
	u64 *top = (void *)at + THREAD_SIZE - sizeof(struct gtp_follow_record);

	for (; at < top; at++)
		forget(at);
}

static struct tracepoint *ends; /* sched:sched_process_exit; NULL: not watched */

static void if_it_is(struct tracepoint *tp, void *found)
{
	if (!strcmp(tp->name, "sched_process_exit"))
		*(struct tracepoint **)found = tp;
}

/*
 * Begin to watch for tasks that end. If this fails, a task that ends inside a call keeps this
 * module loaded; nothing else is lost.
 */
static void watch(void)
{
	for_each_kernel_tracepoint(if_it_is, &ends);
	if (ends && (!gtp_readers_end() || tracepoint_probe_register(ends, task_ends, NULL)))
		ends = NULL;
}

/*
 * Stop watching. Return false if task_ends() may still be called, which keeps this module loaded.
 */
static bool unwatch(void)
{
	if (!ends)
		return true;
	if (!gtp_readers_end())
		return false;
	tracepoint_probe_unregister(ends, task_ends, NULL);
	ends = NULL;
	return gtp_wait_for_readers();
}

/* --- calls of idle tasks --- */

/*
 * True if the idle task's call never returns: its CPU is offline, or the idle task has started
 * again. A CPU that goes offline never returns from the calls of its idle task. When the CPU comes
 * back online, that task starts again at the top of the same stack, which overwrites the calls'
 * return addresses.
 */
static bool has_restarted(const struct bare *b, u64 sp)
{
	return cpu_is_offline(b->cpu) ||
	       !leads_back(READ_ONCE_NOCHECK(*(u64 *)(sp - 8)), gtp_gates_bare);
}

/*
 * Free the records of calls of idle tasks that never return. No pad is left, so no new record is
 * taken. Under cpus_read_lock() no CPU goes online or offline.
 */
static void forget_idle(void)
{
	u32 i;

	cpus_read_lock();
	for (i = 0; i < POOL; i++) {
		u64 sp = gtp_acquire(&pool[i].sp);

		if (sp && pool[i].cpu >= 0 && has_restarted(&pool[i], sp))
			give(&pool[i], sp);
	}
	cpus_read_unlock();
}

/* --- module reference, init and exit --- */

static u32 pads;    /* the number of pads that may follow calls; under gtp_lock */
static bool pinned; /* we hold a reference to this module; under gtp_lock */

static void look(struct work_struct *work);
static DECLARE_DELAYED_WORK(look_work, look);

/*
 * Return how many followed calls have not returned yet. The result is inexact while pads exist:
 * calls are entered and left while this adds up the CPUs.
 */
long gtp_follow_inside(void)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(inside, cpu));
	return sum;
}

/*
 * Release this module when no followed call is left. Such calls will return to the gates, which are
 * in this module's text. A task whose call is recorded as over may still execute its last
 * instructions there, but does not sleep in them.
 */
static void look(struct work_struct *work)
{
	if (!mutex_trylock(&gtp_lock)) {
		queue_delayed_work(gtp_unbound_wq(), &look_work, msecs_to_jiffies(RETRY_MS));
		return;
	}
	if (pinned && !pads) {
		long n;

		forget_idle();
		n = gtp_follow_inside(); /* it only decreases now */
		WARN_ONCE(n < 0, "gdbtp: a call has been counted out twice; it stays loaded");
		if (n) {
			queue_delayed_work(gtp_unbound_wq(), &look_work,
					   msecs_to_jiffies(RETRY_MS));
		} else if (unwatch()) {
			gtp_wait_for_tasks();
			pinned = false;
			module_put(THIS_MODULE);
		}
	}
	mutex_unlock(&gtp_lock);
}

#define IN_REGS(word, reg) (offsetof(struct gtp_regs, reg) == (word) * sizeof(u64))

/* Check the layouts and values on which kernel/pad/follow_entry.S relies. */
static void check_entry(void)
{
	BUILD_BUG_ON(offsetof(struct gtp_follow_record, p.regs) !=
		     GTP_FOLLOW_HEAD_WORDS * sizeof(u64));
	BUILD_BUG_ON(sizeof(struct gtp_regs) != GTP_FOLLOW_REGS_WORDS * sizeof(u64));
	/* In a framed call's record on the stack, the registers come last. */
	BUILD_BUG_ON(sizeof(struct gtp_follow_record) !=
		     (GTP_FOLLOW_HEAD_WORDS + GTP_FOLLOW_REGS_WORDS) * sizeof(u64));
	BUILD_BUG_ON(!IN_REGS(GTP_FOLLOW_EFLAGS, eflags));
	BUILD_BUG_ON(GTP_FOLLOW_CARRY != X86_EFLAGS_CF || GTP_FOLLOW_ZERO != X86_EFLAGS_ZF);
	/* The assembly compares only with GTP_FOLLOW_FRAMED, as unsigned numbers. */
	BUILD_BUG_ON(GTP_FOLLOW_NOT >= GTP_FOLLOW_FRAMED || GTP_FOLLOW_BARE <= GTP_FOLLOW_FRAMED);
	/* POP_SCRATCH and SAVED() rely on this order. */
	BUILD_BUG_ON(!IN_REGS(6, r11) || !IN_REGS(7, r10) || !IN_REGS(8, r9) || !IN_REGS(9, r8));
	BUILD_BUG_ON(!IN_REGS(10, rax) || !IN_REGS(11, rcx) || !IN_REGS(12, rdx));
	BUILD_BUG_ON(!IN_REGS(13, rsi) || !IN_REGS(14, rdi));
}

int gtp_follow_get(void)
{
	BUILD_BUG_ON(POOL & (POOL - 1));
	check_entry();
	lockdep_assert_held(&gtp_lock);
	if (!pool)
		pool = gtp_mem_alloc(POOL * sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	gtp_stack_hide((u64)gtp_gates_framed, gtp_gates_end());
	if (!pinned) {
		if (!try_module_get(THIS_MODULE))
			return -ENODEV;
		pinned = true;
		watch();
	}
	pads++;
	return 0;
}

void gtp_follow_put(void)
{
	lockdep_assert_held(&gtp_lock);
	if (!--pads)
		mod_delayed_work(gtp_unbound_wq(), &look_work, 0);
}

/* Free everything. No call is inside: otherwise this module could not be unloaded. */
void gtp_follow_exit(void)
{
	cancel_delayed_work_sync(&look_work);
	gtp_mem_free(pool);
}
