// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that hits need from the kernel: the clock, the current task, the lock of shared
 * variables.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/math64.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <asm/processor.h>
#include <asm/ptrace.h>
#include <asm/tsc.h>

#include "base/compat.h"
#include "kernel/hit/hit_kernel.h"

/*
 * The lock of the trace state variables. It is an arch_spinlock_t, because a hit may be inside
 * lockdep or a tracer, or in an NMI, and must not call lockdep or tracers. The lock cannot
 * deadlock: interrupts are off while it is held, and a hit in an NMI finds its CPU in a hit already
 * and is skipped, so no CPU takes it twice; no other lock is taken under it.
 */
static arch_spinlock_t tsv_spinlock = __ARCH_SPIN_LOCK_UNLOCKED;

/*
 * The CPU that holds the lock may never release it: a panic, the start of a crash kernel and kgdb
 * stop all other CPUs by NMI, wherever they are, and then run code that may be traced. So a hit
 * tries a limited number of times. It must not queue for the lock, because no CPU can leave that
 * queue.
 *
 * The lock is held for one expression, microseconds at most. TSV_TRIES_LONG take 20 ms if a pause
 * takes 10 cycles, and 100 ms if it takes 140. These times are longer than a hypervisor usually
 * suspends a CPU, and much less than the 10 s that a watchdog calls a lockup. After such a failure
 * every hit tries for microseconds only, until one succeeds: so each CPU waits that long once, not
 * at each hit.
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

/* Return the time of the one clock that may be read in an NMI and agrees between CPUs. */
u64 gtp_hit_clock(void *ctx)
{
	return ktime_get_mono_fast_ns();
}

/*
 * The parameters that convert the TSC to ns in this run. There are two sets, because hits may read
 * the one in use while gtp_hit_replace_calibration() fills in the other one.
 */
static struct gtp_calibration calibrations[2];
static u32 in_use;
static bool calibrated; /* hits of this run read the TSC */
static bool sleeping;	/* a suspend has begun, and hits have no new calibration yet */

/* The value of CLOCK_MONOTONIC_RAW when the calibration in use was made, and its possible error */
static u64 raw_then, raw_doubt;

/* True if the TSC is the kernel's clocksource: then the kernel has found it stable on all CPUs. */
static bool kernel_uses_tsc(void)
{
	struct system_time_snapshot snap;
	u64 before, after;

	preempt_disable();
	before = rdtsc_ordered();
	gtp_ktime_snapshot(&snap);
	after = rdtsc_ordered();
	preempt_enable();
	return !check_tsc_unstable() && snap.cycles - before <= after - before;
}

/*
 * struct reading - the TSC, and the clocks read right after it; @took: TSC ticks for reading them
 * all
 */
struct reading {
	u64 tsc, ns, raw, took;
};

static struct reading read_clocks(void)
{
	struct reading r = { .tsc = rdtsc_ordered() };

	r.ns = ktime_get_mono_fast_ns();
	r.raw = ktime_get_raw_fast_ns();
	r.took = rdtsc_ordered() - r.tsc;
	return r;
}

static void set_raw(const struct gtp_calibration *c, const struct reading *r)
{
	raw_then = r->raw;
	raw_doubt = gtp_calibration_ns(c, c->tsc + r->took) - c->ns;
}

enum { READINGS = 5 };

/*
 * Calibrate. If an interrupt came, or a hypervisor suspended the CPU, between reading the TSC and
 * the clocks, $clock would be wrong for the whole run. So read a few times, and use the reading
 * that took the least time.
 */
static void calibrate(struct gtp_calibration *c)
{
	struct reading best = { .took = U64_MAX }, r;
	int i;

	for (i = 0; i < READINGS; i++) {
		preempt_disable();
		r = read_clocks();
		preempt_enable();
		if (r.took < best.took)
			best = r;
	}
	c->rate = div_u64((u64)NSEC_PER_MSEC << 32, tsc_khz);
	c->tsc = best.tsc;
	c->ns = best.ns;
	set_raw(c, &best);
}

const struct gtp_calibration *gtp_hit_calibrate_tsc(void)
{
	calibrated = tsc_khz && kernel_uses_tsc();
	if (!calibrated)
		return NULL;
	calibrate(&calibrations[in_use]);
	return &calibrations[in_use];
}

const struct gtp_calibration *gtp_hit_replace_calibration(void)
{
	if (!calibrated)
		return NULL;
	in_use = !in_use;
	calibrate(&calibrations[in_use]);
	return &calibrations[in_use];
}

void gtp_hit_recalibrate_tsc(void)
{
	struct gtp_calibration *c = &calibrations[in_use];
	struct reading now;

	/*
	 * Until both members are stored, use a base that is later than any value of the counter:
	 * $clock then does not advance.
	 */
	WRITE_ONCE(c->tsc, rdtsc_ordered() + (1ULL << 62));
	barrier();
	now = read_clocks();
	WRITE_ONCE(c->ns, now.ns);
	barrier();
	WRITE_ONCE(c->tsc, now.tsc);
	set_raw(c, &now);
}

void gtp_hit_sleeps(bool sleeps)
{
	sleeping = sleeps;
}

static void read_counter(void *to)
{
	*(u64 *)to = rdtsc_ordered();
}

/*
 * Read @cpu's counter between two readings of this CPU's counter. Return true if the value of
 * @cpu's counter is not between these two.
 */
static bool counters_differ(int cpu, int *here)
{
	u64 before, there, after;

	*here = get_cpu();
	before = rdtsc_ordered();
	there = before;
	smp_call_function_single(cpu, read_counter, &there, true);
	after = rdtsc_ordered();
	put_cpu();
	return (s64)(there - before) < 0 || (s64)(after - there) < 0;
}

/* Find two CPUs whose TSCs differ. Return true if there are two. */
static bool any_differ(int *one, int *other)
{
	bool differ = false;
	int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		*other = cpu;
		differ = counters_differ(cpu, one);
		if (differ)
			break;
		cond_resched();
	}
	cpus_read_unlock();
	return differ;
}

enum { OFF_MS = 2, OFF_PPM = 200 };

/*
 * Return the ns by which $clock is ahead of CLOCK_MONOTONIC_RAW, which nothing adjusts; 0 if they
 * agree. The counter is read before and after that clock, so that an interrupt between the readings
 * does not matter.
 */
static s64 ahead(void)
{
	const struct gtp_calibration *c = &calibrations[in_use];
	u64 before = gtp_calibration_ns(c, rdtsc_ordered()) - c->ns;
	u64 raw = ktime_get_raw_fast_ns() - raw_then;
	u64 after = gtp_calibration_ns(c, rdtsc_ordered()) - c->ns;
	u64 may = OFF_MS * NSEC_PER_MSEC + raw_doubt + div_u64(raw, USEC_PER_SEC) * OFF_PPM;

	if (before > raw + may)
		return (s64)(before - raw);
	return after + may < raw ? (s64)(after - raw) : 0;
}

bool gtp_hit_clock_off(void *ctx, struct gtp_why *why)
{
	int one, other;
	s64 off;

	if (!calibrated)
		return false;
	if (!kernel_uses_tsc()) {
		gtp_why(why,
			"the kernel no longer uses the processor's counter as its clock (its log may say why): times of frames, their order between CPUs, $clock and $latency may be wrong");
		return true;
	}
	if (any_differ(&one, &other)) {
		gtp_why(why,
			"the processor's counters on CPUs %d and %d differ: times of frames, their order between CPUs, $clock and $latency may be wrong",
			one, other);
		return true;
	}
	off = sleeping ? 0 : ahead();
	if (off)
		gtp_why(why,
			"$clock is %lld ms away from the kernel's clock, because the processor's counter has jumped or changed its rate: times of frames and $latency may be wrong",
			div_s64(off, NSEC_PER_MSEC));
	return off;
}

/*
 * Return the time of day. An NMI that interrupts an update of the clock reads the time before the
 * update.
 */
u64 gtp_hit_wall_ns(void *ctx)
{
	return ktime_get_real_fast_ns();
}

/*
 * Return the softirq part of a preempt_count(), like the kernel's softirq_count() and irq_count().
 * With PREEMPT_RT the task has the count of softirqs, to which exceptions add nothing.
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

/*
 * The kernel uses the memory of a task again when the task has died and was freed, and two tasks in
 * the same memory start at different times. (A thread that calls execve() takes over the start time
 * of its process: from then on it counts as another task.)
 */
u64 gtp_hit_task(void *ctx, u64 *born)
{
	*born = current->start_time;
	return (u64)current;
}
