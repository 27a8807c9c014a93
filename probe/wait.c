// SPDX-License-Identifier: GPL-2.0-only
/* Wait until no task is in code that cannot be reached any more. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/rcupdate.h>
#include <linux/stop_machine.h>

#include "base/compat.h"
#include "kernel/base/lock_kernel.h"
#include "probe/wait.h"

struct waiter {
	struct rcu_head rcu;
	struct completion done;
};

static void wake(struct rcu_head *rcu)
{
	complete(&container_of(rcu, struct waiter, rcu)->done);
}

static int stop_nothing(void *unused)
{
	return 0;
}

/*
 * Wait until each CPU has left its idle task once. RCU tasks does not wait for idle tasks, and RCU
 * is not watching while they halt the CPU. Before 6.2 the code that halts the CPU is not noinstr
 * and can be probed. stop_machine() runs a stopper task on every CPU: when that has run, the CPU's
 * idle task has been switched out.
 */
void gtp_wait_for_idle(void)
{
	stop_machine(stop_nothing, NULL, cpu_online_mask);
}

/*
 * Wait until no task is in code that was removed. call_rcu_tasks() waits until every task that is
 * running or preempted has slept voluntarily or returned to userspace. Interrupts and NMIs are not
 * preempted: the RCU grace periods that are part of call_rcu_tasks() cover them. A task that runs
 * in the kernel for a long time without sleeping delays this, so report progress to GDB meanwhile.
 */
void gtp_wait_for_tasks(void)
{
	struct waiter w;
	u32 seconds = 0;

	init_completion(&w.done);
	init_rcu_head_on_stack(&w.rcu);
	call_rcu_tasks(&w.rcu, wake);
	while (!wait_for_completion_timeout(&w.done, HZ)) {
		seconds++;
		gtp_progress("waiting for busy tasks, seconds", seconds, seconds);
	}
	destroy_rcu_head_on_stack(&w.rcu);
	gtp_wait_for_idle();
}

/* --- readers of kernel tracepoints --- */

enum { READERS_S = 5 };

/* @rcu, @over: the wait that is under way, or was given up. Under gtp_lock, except in callbacks */
static struct {
	struct rcu_head rcu;
	struct completion over;
	bool under_way;
	bool pinned; /* a wait was given up, and this module has a reference to itself */
} readers;

static atomic_t deaths = ATOMIC_INIT(0); /* tasks that died since this module was loaded */
/*
 * The value of @deaths when the last completed wait began: tasks that had died before were not
 * readers.
 */
static int deaths_over = -1;

void gtp_wait_task_died(void)
{
	atomic_inc(&deaths);
}

/*
 * True if a task has died that may be a reader. If a wait that began after its death has ended, the
 * task was not a reader.
 */
static bool is_in_doubt(void)
{
	int now = atomic_read(&deaths);

	return (now || test_taint(TAINT_DIE)) && deaths_over != now;
}

static void readers_over(struct rcu_head *rcu)
{
	complete(&readers.over);
}

static void sleeping_over(struct rcu_head *rcu)
{
	gtp_call_after_atomic_readers(rcu, readers_over);
}

/*
 * Pin the module and give up the wait. The kernel may still call functions of ours, at the end of
 * this wait or from a tracepoint. While this module is being unloaded it cannot be pinned any more:
 * return false, to go on waiting.
 */
static bool give_up(void)
{
	if (!readers.pinned) {
		readers.pinned = try_module_get(THIS_MODULE);
		if (readers.pinned)
			pr_warn("a task has died in a kernel tracepoint, and the kernel waits for it for ever: gdbtp stays loaded\n");
	}
	return readers.pinned;
}

bool gtp_wait_for_readers(void)
{
	int before = atomic_read(&deaths);
	u32 seconds = 0;

	if (readers.under_way && !try_wait_for_completion(&readers.over))
		return false;
	readers.under_way = true;
	init_completion(&readers.over);
	gtp_call_after_sleeping_readers(&readers.rcu, sleeping_over);
	while (!wait_for_completion_timeout(&readers.over, HZ)) {
		seconds++;
		gtp_progress("waiting for tasks in kernel tracepoints, seconds", seconds, seconds);
		if (seconds >= READERS_S && is_in_doubt() && give_up())
			return false;
	}
	readers.under_way = false;
	deaths_over = before;
	return true;
}

bool gtp_readers_end(void)
{
	return !is_in_doubt() || gtp_wait_for_readers();
}

bool gtp_wait_gave_up(void)
{
	return readers.pinned;
}
