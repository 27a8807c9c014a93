// SPDX-License-Identifier: GPL-2.0-only
/* Calls gtp_target_context() in every context, with the kernel's values for that context. */
#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <asm/tsc.h>

#include "gtp_target.h"

GTP_TARGET_FN long gtp_target_context(const struct gtp_target_context *c)
{
	return (long)READ_ONCE(c->tsc);
}

void gtp_target_call_context_now(const char *where, const struct pt_regs *regs)
{
	struct gtp_target_context c = {
		.where = where,
		.hardirqs = hardirq_count(),
		.softirqs = softirq_count(),
		.irqs = irq_count(),
		.user = !(current->flags & PF_KTHREAD) && !is_idle_task(current),
		.regs = regs,
	};

	gtp_target_count(GTP_TARGET_COUNT_context);
	c.tsc = rdtsc_ordered();
	gtp_target_context(&c);
}

static DECLARE_COMPLETION(called);

static void in_softirq_now(struct tasklet_struct *unused)
{
	gtp_target_call_context_now("soft", NULL);
	complete(&called);
}

static DECLARE_TASKLET(from_softirq, in_softirq_now);

static void in_interrupt_now(struct irq_work *work)
{
	gtp_target_call_context_now("hard", NULL);
	complete(&called);
}

static DEFINE_IRQ_WORK(from_irq, in_interrupt_now);

static void in_kthread_now(struct work_struct *work)
{
	gtp_target_call_context_now("kthread", NULL);
	complete(&called);
}

static DECLARE_WORK(from_kthread, in_kthread_now);

/* The interrupt comes on top of this task, in this function. */
static void call_in_interrupt(void)
{
	preempt_disable();
	irq_work_queue(&from_irq);
	while (!completion_done(&called))
		cpu_relax();
	preempt_enable();
}

GTP_TARGET_FN int gtp_target_call_context(const char *where)
{
	if (!strcmp(where, "task")) {
		gtp_target_call_context_now("task", current_pt_regs());
		return 0;
	}
	if (!strcmp(where, "bh")) {
		local_bh_disable();
		gtp_target_call_context_now("bh", current_pt_regs());
		local_bh_enable();
		return 0;
	}
	reinit_completion(&called);
	if (!strcmp(where, "soft"))
		tasklet_schedule(&from_softirq);
	else if (!strcmp(where, "hard"))
		call_in_interrupt();
	else if (!strcmp(where, "kthread"))
		schedule_work(&from_kthread);
	else
		return -EINVAL;
	wait_for_completion(&called);
	return 0;
}
