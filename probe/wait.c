// SPDX-License-Identifier: GPL-2.0-only
/* Wait until no task is in code that cannot be reached any more. */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/stop_machine.h>

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
 * RCU tasks does not wait for idle tasks, and RCU is not watching while they halt the CPU. Before
 * 6.2 that code is not noinstr and can be probed. stop_machine() runs a stopper task on every CPU:
 * when that has run, the CPU's idle task has been switched out.
 */
void gtp_wait_for_idle(void)
{
	stop_machine(stop_nothing, NULL, cpu_online_mask);
}

/*
 * call_rcu_tasks() waits until every task that is running or preempted has slept voluntarily or
 * returned to userspace. Interrupts and NMIs are not preempted: the RCU grace periods that are part
 * of this one cover them. A task that runs in the kernel for long without sleeping delays this, so
 * report progress to GDB meanwhile.
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
