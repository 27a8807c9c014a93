// SPDX-License-Identifier: GPL-2.0-only
/* Sends NMIs to the other CPUs, one after the other. Each of them hits a kernel tracepoint. */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/nmi.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "gtp_target.h"

static struct cpumask others, waiting;

static int in_nmi_now(unsigned int type, struct pt_regs *regs)
{
	int cpu = raw_smp_processor_id();

	if (!cpumask_test_cpu(cpu, &waiting))
		return NMI_DONE;
	gtp_target_count(GTP_TARGET_COUNT_nmi);
	gtp_target_note_stack(GTP_TARGET_STACK_NMI);
	gtp_target_event_count(GTP_TARGET_FROM_NMI);
	gtp_target_call_context_now("nmi", NULL);
	cpumask_clear_cpu(cpu, &waiting);
	return NMI_HANDLED;
}

/* Send the next NMI when all CPUs have handled the last one, so that none are merged. */
static void send_all(u32 count)
{
	cpus_read_lock();
	preempt_disable();
	cpumask_andnot(&others, cpu_online_mask, cpumask_of(smp_processor_id()));
	while (count-- && !cpumask_empty(&others)) {
		cpumask_copy(&waiting, &others);
		apic->send_IPI_mask(&others, NMI_VECTOR);
		while (!cpumask_empty(&waiting))
			cpu_relax();
	}
	preempt_enable();
	cpus_read_unlock();
}

int gtp_target_nmi(u32 count)
{
	static DEFINE_MUTEX(lock);
	int err;

	mutex_lock(&lock);
	err = register_nmi_handler(NMI_LOCAL, in_nmi_now, 0, "gtp_target");
	if (!err) {
		send_all(count);
		unregister_nmi_handler(NMI_LOCAL, "gtp_target");
	}
	mutex_unlock(&lock);
	return err;
}
