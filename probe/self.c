// SPDX-License-Identifier: GPL-2.0-only
/* GDB's own tasks, and those of the reader of frames, which are not traced. */
#include <linux/percpu.h>
#include <linux/preempt.h>

#include "base/params_kernel.h"
#include "probe/self.h"

pid_t gtp_self_tgid[GTP_SELVES] = { -1, -1 }; /* 0 would be the idle tasks */
static DEFINE_PER_CPU(u64, self_skipped);

void gtp_self_set(enum gtp_self which, pid_t tgid)
{
	WRITE_ONCE(gtp_self_tgid[which], tgid);
}

u64 gtp_self_skipped(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(self_skipped, cpu);
	return sum;
}

bool gtp_self_skip(const struct gtp_location *loc, unsigned int context)
{
	if (READ_ONCE(gtp_self_trace) || READ_ONCE(loc->self_trace) ||
	    context & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))
		return false;
	this_cpu_inc(self_skipped);
	return true;
}
