// SPDX-License-Identifier: GPL-2.0-only
/* Keeps hits of GDB's own tasks, and of the reader of frames, from being traced. */
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>

#include "kernel/base/params_kernel.h"
#include "probe/self.h"

enum { NOBODY = -1 }; /* not 0, which is the PID of the idle tasks */

struct gtp_self_test gtp_self_test = { ~0, NOBODY };
static struct pid *selves[GTP_SELVES];
static DEFINE_PER_CPU(u64, self_skipped);

static pid_t number(enum gtp_self which)
{
	return selves[which] ? pid_nr(selves[which]) : NOBODY;
}

/*
 * Set the test of gtp_self_maybe(). A hit between the two stores may pass the test by mistake. That
 * does no harm: gtp_self_skip() then compares the process itself, as at any hit. The PID alone is
 * not enough, because the process that opened /proc/gtp may have ended, and its PID may have been
 * reused, while a child still has the file open.
 */
static void set_test(void)
{
	pid_t gdb = number(GTP_SELF_GDB), reader = number(GTP_SELF_READER);
	pid_t one = gdb == NOBODY ? reader : gdb, other = reader == NOBODY ? gdb : reader;
	pid_t mask = ~(one ^ other);

	WRITE_ONCE(gtp_self_test.mask, mask);
	WRITE_ONCE(gtp_self_test.value, one & mask);
}

/*
 * Set or clear a process. Hits only compare addresses, so the old struct pid may be freed while a
 * hit has its address.
 */
void gtp_self_set(enum gtp_self which, struct pid *tgid)
{
	struct pid *before = selves[which];

	if (before == tgid)
		return;
	WRITE_ONCE(selves[which], get_pid(tgid));
	set_test();
	put_pid(before);
}

u64 gtp_self_skipped(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(self_skipped, cpu);
	return sum;
}

/*
 * Return the struct pid of the task's process. A task that has nearly ended has no struct pid of
 * its own any more. But it holds its signal struct until its last schedule(), so use that.
 */
static const struct pid *this_process(void)
{
	const struct signal_struct *signal = READ_ONCE(current->signal);

	return signal ? READ_ONCE(signal->pids[PIDTYPE_TGID]) : NULL;
}

static bool is_self(void)
{
	const struct pid *process = this_process();

	return process && (process == READ_ONCE(selves[GTP_SELF_GDB]) ||
			   process == READ_ONCE(selves[GTP_SELF_READER]));
}

bool gtp_self_skip(const struct gtp_location *loc, unsigned int context)
{
	if (!is_self() || READ_ONCE(gtp_self_trace) || READ_ONCE(loc->self_trace) ||
	    context & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))
		return false;
	this_cpu_inc(self_skipped);
	return true;
}
