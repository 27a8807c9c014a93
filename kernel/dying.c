// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handles a panic during a run, and an oops that kills a task inside a hit.
 *
 * A panic stops the other CPUs wherever they are. The CPU that is left writes to consoles, dumps,
 * and starts a crash kernel or reboots, and all of that code may have probes. A hit waits for
 * another CPU only for a limited time (kernel/hit/hit_kernel.c), so the panic always completes.
 * Ending the run only saves the panic the time of further hits. If a crash kernel starts before the
 * notifiers run, or kgdb stops the CPUs, only that limit helps.
 *
 * An oops kills its task, and the machine continues. If that task was in a hit, the hit never ends.
 */
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>

#include "hit/hit.h"
#include "kernel/dying.h"
#include "kernel/hit/cpu_kernel.h"
#include "kernel/host.h"
#include "probe/wait.h"

/* End the run at a panic. The other CPUs are stopped. Interrupts are off. */
static int panics(struct notifier_block *nb, unsigned long code, void *text)
{
	WRITE_ONCE(gtp_host.trace.run.active, false);
	return NOTIFY_DONE;
}

/*
 * Mark the hit in which a task has died. This CPU's struct gtp_cpu cannot be freed meanwhile:
 * interrupts are off, and before it is freed, run control waits for every CPU.
 */
static int oopses(struct notifier_block *nb, unsigned long what, void *data)
{
	struct gtp_cpu *cpu;

	if (what != DIE_OOPS)
		return NOTIFY_DONE;
	gtp_wait_task_died();
	cpu = this_cpu_read(gtp_this_cpu);
	if (cpu && READ_ONCE(cpu->in_hit) != GTP_HIT_NONE)
		gtp_hit_lost(cpu);
	return NOTIFY_DONE;
}

NOKPROBE_SYMBOL(oopses); /* called at each int3 */

/* The notifier of panics, called before all notifiers that print or dump. */
static struct notifier_block panic_notifier = {
	.notifier_call = panics,
	.priority = INT_MAX,
};

/*
 * Called after the notifiers for int3s, which are frequent, and before any that may end the chain.
 */
static struct notifier_block die_notifier = {
	.notifier_call = oopses,
	.priority = INT_MAX - 1,
};

int gtp_dying_init(void)
{
	int err = register_die_notifier(&die_notifier);

	if (!err)
		atomic_notifier_chain_register(&panic_notifier_list, &panic_notifier);
	return err;
}

void gtp_dying_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_notifier);
	unregister_die_notifier(&die_notifier);
}
