// SPDX-License-Identifier: GPL-2.0-only
/* A hit's needs from the kernel: clock, current task, the lock of shared variables. */
#include <linux/cpumask.h>
#include <linux/math64.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <asm/processor.h>
#include <asm/ptrace.h>
#include <asm/tsc.h>

#include "base/compat.h"
#include "kernel/hit/hit_kernel.h"

/*
 * An arch_spinlock_t, because a hit may be inside lockdep or a tracer, or in an NMI, and must not
 * call them. It cannot deadlock: interrupts are off while it is held, and a hit in an NMI finds its
 * CPU in a hit already and is skipped, so no CPU takes it twice; no other lock is taken under it.
 */
static arch_spinlock_t tsv_spinlock = __ARCH_SPIN_LOCK_UNLOCKED;

/*
 * The CPU that holds the lock may never release it: a panic, the start of a crash kernel and kgdb
 * stop the others by NMI, wherever they are, and then run through traced code. So a hit tries a
 * limited number of times. It does not queue, because a queue cannot be left.
 *
 * The lock is held for one expression, microseconds at most. TSV_TRIES_LONG take 20 ms if a pause
 * takes 10 cycles, and 100 ms if it takes 140: longer than a hypervisor usually takes a CPU away,
 * and much less than a watchdog calls a lockup (10 s). After such a failure every hit tries for
 * microseconds only, until one succeeds: each CPU waits once, not each hit.
 */
enum { TSV_TRIES_LONG = 1 << 21, TSV_TRIES_SHORT = 1 << 9 };

static bool tsv_stuck;

bool gtp_hit_tsv_lock(void *ctx, unsigned long *flags)
{
	u32 tries = unlikely(READ_ONCE(tsv_stuck)) ? TSV_TRIES_SHORT : TSV_TRIES_LONG;

	raw_local_irq_save(*flags);
	while (unlikely(!arch_spin_trylock(&tsv_spinlock))) {
		if (!--tries) {
			raw_local_irq_restore(*flags);
			WRITE_ONCE(tsv_stuck, true);
			return false;
		}
		cpu_relax();
	}
	if (unlikely(READ_ONCE(tsv_stuck)))
		WRITE_ONCE(tsv_stuck, false);
	return true;
}

void gtp_hit_tsv_reset(void)
{
	const arch_spinlock_t unlocked = __ARCH_SPIN_LOCK_UNLOCKED;

	tsv_spinlock = unlocked;
	tsv_stuck = false;
}

void gtp_hit_tsv_unlock(void *ctx, unsigned long flags)
{
	arch_spin_unlock(&tsv_spinlock);
	raw_local_irq_restore(flags);
}

/* The only clock that may be read in an NMI and agrees between CPUs. */
u64 gtp_hit_clock(void *ctx)
{
	return ktime_get_mono_fast_ns();
}

static struct gtp_calibration calibration;

/* Is the TSC the kernel's clocksource? Then the kernel has found it stable on all CPUs. */
static bool kernel_uses_tsc(void)
{
	struct system_time_snapshot snap;
	u64 before, after;

	before = rdtsc_ordered();
	gtp_ktime_snapshot(&snap);
	after = rdtsc_ordered();
	return !check_tsc_unstable() && snap.cycles - before <= after - before;
}

const struct gtp_calibration *gtp_hit_calibrate_tsc(void)
{
	if (!tsc_khz || !kernel_uses_tsc())
		return NULL;
	calibration.rate = div_u64((u64)NSEC_PER_MSEC << 32, tsc_khz);
	preempt_disable();
	calibration.tsc = rdtsc_ordered();
	calibration.ns = ktime_get_mono_fast_ns();
	preempt_enable();
	return &calibration;
}

void gtp_hit_recalibrate_tsc(void)
{
	u64 now = rdtsc_ordered();

	/*
	 * Until both are stored, this base is later than any counter, so $clock does not advance.
	 */
	WRITE_ONCE(calibration.tsc, now + (1ULL << 62));
	barrier();
	WRITE_ONCE(calibration.ns, ktime_get_mono_fast_ns());
	barrier();
	WRITE_ONCE(calibration.tsc, now);
}

/* An NMI that interrupts an update of the clock reads the time before the update. */
u64 gtp_hit_wall_ns(void *ctx)
{
	return ktime_get_real_fast_ns();
}

/*
 * The kernel's softirq_count() and irq_count(). With PREEMPT_RT the task counts softirqs, and
 * exceptions add nothing to that count.
 */
static u32 softirqs(u32 count)
{
	return IS_ENABLED(CONFIG_PREEMPT_RT) ? softirq_count() : count & SOFTIRQ_MASK;
}

static s64 count_contexts(enum gtp_tsv_builtin which, u32 count)
{
	switch (which) {
	case GTP_TSV_HARDIRQ_COUNT:
		return count & HARDIRQ_MASK;
	case GTP_TSV_SOFTIRQ_COUNT:
		return softirqs(count);
	default:
		return (count & (NMI_MASK | HARDIRQ_MASK)) | softirqs(count);
	}
}

s64 gtp_hit_builtin(void *ctx, enum gtp_tsv_builtin which, u32 entered)
{
	switch (which) {
	case GTP_TSV_CURRENT_TASK:
		return (s64)current;
	case GTP_TSV_CURRENT_TASK_PID:
		return current->pid;
	case GTP_TSV_HARDIRQ_COUNT:
	case GTP_TSV_SOFTIRQ_COUNT:
	case GTP_TSV_IRQ_COUNT:
		return count_contexts(which, preempt_count() - entered);
	case GTP_TSV_CURRENT_TASK_USER:
		return user_mode(task_pt_regs(current));
	case GTP_TSV_TASK_PT_REGS:
		return (s64)task_pt_regs(current);
	case GTP_TSV_RDTSC:
		return (s64)rdtsc_ordered();
	case GTP_TSV_CPU_NUMBER:
		return nr_cpu_ids;
	default:
		return 0;
	}
}
