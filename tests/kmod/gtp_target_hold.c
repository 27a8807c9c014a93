// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preempts a task in a piece of code, such as a jump pad, and keeps it there until the jump to that
 * code is removed. gdbtp must not free the code before the task has left it.
 *
 * The task calls gtp_target_add() again and again. When a timer interrupts it in that code, the
 * timer wakes a real-time task on the same CPU, which then keeps the CPU. This needs full
 * preemption (preempt=full), no limit for real-time tasks, and no reserved CPU time for other tasks
 * (debugfs: sched/fair_server).
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/irq_regs.h>

#include "gtp_target.h"

enum {
	LOOK_NS = 50 * 1000,
	LOOKS_S = 60,	/* limit in seconds until the timer finds the task in the code */
	GOES_S = 60,	/* limit in seconds until the jump is removed */
	AFTER_MS = 500, /* then keep the task from running for this time */
	JUMP = 0xe9,
	WATCHED = 16, /* bytes of code, from the task's rip, that must not change */
};

/*
 * struct held - the task that is held now
 * @start, @end: the bounds of the code; @site: the jump to it
 * @caught: completed when the task is in the code, at @ip, where the bytes are @code
 * @calls: the number of the task's calls so far
 */
static struct held {
	u64 start, end, ip;
	const u8 *site;
	u8 code[WATCHED];
	struct task_struct *caller;
	struct hrtimer timer;
	struct completion caught;
	u64 calls;
} held;

static int call(void *unused)
{
	while (!kthread_should_stop()) {
		gtp_target_count(GTP_TARGET_COUNT_add);
		gtp_target_add(3, 4);
		WRITE_ONCE(held.calls, held.calls + 1);
		if (held.calls % 64 == 0)
			cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static bool is_inside(const struct pt_regs *regs)
{
	return regs && current == held.caller && regs->ip >= held.start &&
	       regs->ip < held.end - WATCHED && !(preempt_count() & PREEMPT_MASK);
}

static enum hrtimer_restart look(struct hrtimer *timer)
{
	const struct pt_regs *regs = get_irq_regs();

	if (!is_inside(regs)) {
		hrtimer_forward_now(timer, ns_to_ktime(LOOK_NS));
		return HRTIMER_RESTART;
	}
	held.ip = regs->ip;
	memcpy(held.code, (void *)held.ip, WATCHED);
	complete(&held.caught);
	return HRTIMER_NORESTART;
}

/* Keep this CPU busy. RCU tasks need not wait for this task, only for the held one. */
static void keep(unsigned long jiffies_more, bool jump_only)
{
	unsigned long end = jiffies + jiffies_more;

	while (time_before(jiffies, end) && (!jump_only || READ_ONCE(*held.site) == JUMP)) {
		cond_resched_tasks_rcu_qs();
		cpu_relax();
	}
}

static int judge(u64 calls)
{
	if (READ_ONCE(held.calls) != calls)
		return -EAGAIN;
	if (READ_ONCE(*held.site) == JUMP)
		return -ETIME;
	return memcmp(held.code, (void *)held.ip, WATCHED) ? -EBADMSG : 0;
}

static int hold(void *result)
{
	u64 calls;

	gtp_target_timer(&held.timer, look, LOOK_NS);
	if (!wait_for_completion_timeout(&held.caught, LOOKS_S * HZ)) {
		hrtimer_cancel(&held.timer);
		*(int *)result = -ENOENT;
	} else {
		calls = READ_ONCE(held.calls);
		gtp_target_count(GTP_TARGET_COUNT_held);
		keep(GOES_S * HZ, true);
		keep(msecs_to_jiffies(AFTER_MS), false);
		*(int *)result = judge(calls);
	}
	gtp_target_until_stopped();
	return 0;
}

/* Run both tasks on the last CPU, the second with a higher priority; return 0 or -errno. */
static int run(int *result)
{
	int cpu = cpumask_last(cpu_online_mask);
	struct task_struct *caller, *holder;

	caller = kthread_create_on_cpu(call, NULL, cpu, "gtp_target/c%u");
	if (IS_ERR(caller))
		return PTR_ERR(caller);
	holder = kthread_create_on_cpu(hold, result, cpu, "gtp_target/h%u");
	if (IS_ERR(holder)) {
		kthread_stop(caller);
		return PTR_ERR(holder);
	}
	held.caller = caller;
	sched_set_fifo(holder);
	wake_up_process(caller);
	wake_up_process(holder);
	while (READ_ONCE(*result) > 0)
		schedule_timeout_uninterruptible(1);
	kthread_stop(holder);
	kthread_stop(caller);
	return 0;
}

int gtp_target_hold(u64 start, u64 end, u64 site)
{
	int result = 1, err;

	held = (struct held){ .start = start, .end = end, .site = (const u8 *)site };
	init_completion(&held.caught);
	err = run(&result);
	return err ? err : result;
}
