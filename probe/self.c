// SPDX-License-Identifier: GPL-2.0-only
/* GDB's own tasks, and those of the reader of frames, which are not traced. */
#include <linux/percpu.h>
#include <linux/preempt.h>

#include "base/params_kernel.h"
#include "probe/self.h"

enum { NOBODY = -1 }; /* 0 would be the idle tasks */

struct gtp_self_test gtp_self_test = { ~0, NOBODY };
static pid_t tgids[GTP_SELVES] = { NOBODY, NOBODY };
static DEFINE_PER_CPU(u64, self_skipped);

/* A hit between the two stores may take a task for another one, and asks once more. */
static void set_test(void)
{
	pid_t gdb = tgids[GTP_SELF_GDB], reader = tgids[GTP_SELF_READER];
	pid_t one = gdb == NOBODY ? reader : gdb, other = reader == NOBODY ? gdb : reader;
	pid_t mask = ~(one ^ other);

	WRITE_ONCE(gtp_self_test.mask, mask);
	WRITE_ONCE(gtp_self_test.value, one & mask);
}

void gtp_self_set(enum gtp_self which, pid_t tgid)
{
	if (tgids[which] == tgid)
		return;
	WRITE_ONCE(tgids[which], tgid);
	set_test();
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
	pid_t tgid = current->tgid;

	if ((tgid != READ_ONCE(tgids[GTP_SELF_GDB]) && tgid != READ_ONCE(tgids[GTP_SELF_READER])) ||
	    READ_ONCE(gtp_self_trace) || READ_ONCE(loc->self_trace) ||
	    context & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))
		return false;
	this_cpu_inc(self_skipped);
	return true;
}
