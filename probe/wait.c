// SPDX-License-Identifier: GPL-2.0-only
/* Waiting until no task can be in code that cannot be reached any more. */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/stop_machine.h>

#include "base/lock_kernel.h"
#include "probe/wait.h"

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
	leave_idle();
}
