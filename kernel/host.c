// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one trace session in this kernel: its lock, the end of a run that a hit asked for, modules
 * that go.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "kernel/kernel.h"
#include "probe/jump/jump.h"
#include "probe/fentry.h"
#include "probe/jump/can_jump.h"

struct gtp_host gtp_host = {
	.lock = __MUTEX_INITIALIZER(gtp_host.lock),
};

enum {
	/* printf's text may wait, so that a busy probe does not wake the worker for every line. */
	TEXT_DELAY_MS = 50,
	/* While somebody holds the lock. */
	RETRY_MS = 5,
};

static void settle(struct work_struct *work);
static DECLARE_DELAYED_WORK(settle_work, settle);

/* 1: the work has been asked for text and has not begun to look for it. */
static atomic_t text_asked = ATOMIC_INIT(0);

/* Taking off thousands of probes takes seconds: unbound, so that no CPU's other work waits. */
static void settle_in(unsigned int ms)
{
	queue_delayed_work(system_unbound_wq, &settle_work, msecs_to_jiffies(ms));
}

static void settle(struct work_struct *work)
{
	bool ended;

	/* Arming many probes takes as long as it takes; a worker that sleeps so long looks hung. */
	if (!mutex_trylock(&gtp_host.lock)) {
		settle_in(RETRY_MS);
		return;
	}
	ended = gtp_trace_settle(&gtp_host.trace);
	/* Before the text is looked at, and a full barrier: what comes later asks again. */
	atomic_xchg(&text_asked, 0);
	if (gtp_context_drain())
		settle_in(TEXT_DELAY_MS);
	if (ended && gtp_host.stub)
		gtp_stub_trace_ended(gtp_host.stub);
	mutex_unlock(&gtp_host.lock);
}

/*
 * A hit may be anywhere, in the scheduler with a run queue's lock or in an NMI, where queueing
 * work could deadlock. An interrupt that the CPU sends to itself comes only when that is over.
 */
static void end_kicked(struct irq_work *work)
{
	mod_delayed_work(system_unbound_wq, &settle_work, 0);
}

static void text_kicked(struct irq_work *work)
{
	settle_in(TEXT_DELAY_MS);
}

static struct irq_work end_kick = IRQ_WORK_INIT(end_kicked);
static struct irq_work text_kick = IRQ_WORK_INIT(text_kicked);

void gtp_host_kick_end(void)
{
	irq_work_queue(&end_kick);
}

/*
 * One kick until the work comes. A tracepoint that prints may lie in the very code that handles
 * the kick: if every line kicked, each interrupt would cause the next one, and its CPU would do
 * nothing else any more.
 */
void gtp_host_kick_text(void)
{
	if (!atomic_xchg(&text_asked, 1))
		irq_work_queue(&text_kick);
}

static u64 wallclock_us(void *ctx)
{
	return ktime_to_us(ktime_get_real());
}

void gtp_host_progress(void *ctx, const char *what, u32 done, u32 total)
{
	lockdep_assert_held(&gtp_host.lock);
	cond_resched();
	if (gtp_host.stub)
		gtp_stub_progress(gtp_host.stub, what, done, total);
}

static int arm(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	int err;

	if (loc->kind == GTP_LOCATION_EVENT)
		return gtp_event_arm(ctx, loc, why);
	loc->no_jump = NULL;
	err = gtp_fentry_arm(loc, why);
	if (err == -EOPNOTSUPP)
		err = gtp_jump_stage(loc, why);
	if (err == -EOPNOTSUPP)
		err = gtp_kprobe_arm(ctx, loc, why);
	if (err) { /* there will be no commit */
		gtp_can_jump_batch_end();
		gtp_jump_batch_ends();
	}
	return err;
}

static int arm_done(void *ctx, struct gtp_why *why)
{
	return gtp_jump_commit(why);
}

static int widen(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	return gtp_jump_widen(loc, why);
}

/* Kprobes first: behind an endbr the kernel may have moved one of ours onto a jump of ours. */
static void disarm(void *ctx, struct gtp_location *first)
{
	gtp_kprobe_disarm(ctx, first);
	gtp_fentry_disarm(first);
	gtp_jump_disarm(first);
	gtp_event_disarm(ctx, first);
}

static const struct gtp_target_ops target_ops = {
	.is_marker = gtp_event_is_marker,
	.arm = arm,
	.arm_done = arm_done,
	.widen = widen,
	.sdata = gtp_event_sdata,
	.disarm = disarm,
	.buffers_get = gtp_buffers_get,
	.buffers_put = gtp_buffers_put,
	.wallclock_us = wallclock_us,
	.progress = gtp_host_progress,
	.code_begin = gtp_jit_code_begin,
	.code_make = gtp_jit_code_make,
	.code_make_actions = gtp_jit_code_make_actions,
	.code_end = gtp_jit_code_end,
	.code_forget = gtp_jit_code_forget,
};

static void tell_unloaded(const struct module *mod, bool init, u32 n)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "the %scode of module %s has gone, and %u tracepoint%s with it\n",
		 init ? "init " : "", mod->name, n, n == 1 ? "" : "s");
	pr_info("%s", text);
	if (gtp_host.stub)
		gtp_stub_print(gtp_host.stub, text);
}

/* The range around all that we have armed in a module; its markers are no init code. */
static bool armed_range(const struct module *mod, bool init, u64 *start, u64 *end)
{
	u64 other_start, other_end;

	gtp_kprobe_range_in(mod, init, start, end);
	if (gtp_jump_range_in(mod, init, &other_start, &other_end)) {
		*start = min(*start, other_start);
		*end = max(*end, other_end);
	}
	if (!init && gtp_event_range_in(mod, &other_start, &other_end)) {
		*start = min(*start, other_start);
		*end = max(*end, other_end);
	}
	return *end;
}

static void forget_text(const struct module *mod, bool init)
{
	u64 start, end;
	u32 n;

	/*
	 * Without a probe in it a module comes and goes without our lock. That matters: under the
	 * lock, saving a trace may open a file whose file system loads a module, and then nothing
	 * is armed.
	 */
	if (!armed_range(mod, init, &start, &end))
		return;
	mutex_lock(&gtp_host.lock);
	n = gtp_trace_forget_range(&gtp_host.trace, start, end);
	if (n)
		tell_unloaded(mod, init, n);
	mutex_unlock(&gtp_host.lock);
}

/*
 * The kernel's own kprobe notifier has the highest priority, so it ran before this one and has
 * already made the probes in that text harmless; taking them off later, as we do, is what it
 * expects. It holds nothing that we need.
 */
static int module_changed(struct notifier_block *nb, unsigned long state, void *data)
{
	/* One that goes because its init failed has its init code still. */
	if (state == MODULE_STATE_GOING || state == MODULE_STATE_LIVE)
		forget_text(data, true);
	if (state == MODULE_STATE_GOING)
		forget_text(data, false);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = {
	.notifier_call = module_changed,
};

/**
 * gtp_host_init() - the trace session comes to be
 *
 * Context: module init. Return: 0 or -errno.
 */
int gtp_host_init(void)
{
	int err;

	err = gtp_trace_init(&gtp_host.trace, &gtp_mem, &target_ops, &gtp_hit_kernel_ops, NULL);
	if (err)
		return err;
	err = register_module_notifier(&module_notifier);
	if (err)
		gtp_trace_exit(&gtp_host.trace);
	return err;
}

/**
 * gtp_host_exit() - stop what runs, free everything
 *
 * Context: module exit or failed init; nobody is connected and nobody can connect any more.
 */
void gtp_host_exit(void)
{
	/*
	 * Waits for a notifier call that is under way. It may take the lock, so the lock is not
	 * held here.
	 */
	unregister_module_notifier(&module_notifier);

	/*
	 * Hits on other CPUs and the work below may still run; after this no hit does, so nothing
	 * kicks any more.
	 */
	mutex_lock(&gtp_host.lock);
	gtp_trace_stop(&gtp_host.trace, GTP_STOP_USER);
	mutex_unlock(&gtp_host.lock);

	/*
	 * The last kick may be on its way to the work: wait for the kicks first, then nothing
	 * queues the work.
	 */
	irq_work_sync(&end_kick);
	irq_work_sync(&text_kick);
	cancel_delayed_work_sync(&settle_work);

	gtp_trace_exit(&gtp_host.trace);
}
