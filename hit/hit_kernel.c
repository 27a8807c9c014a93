// SPDX-License-Identifier: GPL-2.0-only
/* The world as a hit sees it: clock, current task, the lock of shared variables, printf's text. */
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <asm/tsc.h>

#include "kernel/kernel.h"

/*
 * An arch_spinlock_t, because lockdep's and the tracers' own work has no place in a hit: it may
 * be inside them, or in an NMI. It cannot deadlock: interrupts are off while it is held, and an
 * NMI that hits meanwhile finds its CPU in a hit already and is skipped, so no CPU ever asks
 * twice; nothing else is taken under it.
 */
static arch_spinlock_t tsv_spinlock = __ARCH_SPIN_LOCK_UNLOCKED;

static unsigned long tsv_lock(void *ctx)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	arch_spin_lock(&tsv_spinlock);
	return flags;
}

static void tsv_unlock(void *ctx, unsigned long flags)
{
	arch_spin_unlock(&tsv_spinlock);
	raw_local_irq_restore(flags);
}

/* The one clock that may be read in an NMI and agrees between CPUs. */
static u64 clock(void *ctx)
{
	return ktime_get_mono_fast_ns();
}

/* The processor's counter and that clock at one moment of this run, and ns << 32 for each tick. */
static struct {
	u64 tsc, ns, rate;
} calibration;

/* Is it the counter that the kernel itself tells the time by? Then it trusts it, on all CPUs. */
static bool kernel_uses_tsc(void)
{
	struct system_time_snapshot snap;
	u64 before, after;

	before = rdtsc_ordered();
	ktime_get_snapshot(&snap);
	after = rdtsc_ordered();
	return !check_tsc_unstable() && snap.cycles - before <= after - before;
}

/**
 * gtp_hit_calibrate_tsc() - may hits read the processor's counter instead of the clock?
 *
 * That is a tenth of the instructions. $clock is then the clock's time of tstart and what the
 * counter has gone on since, at the rate that the kernel found out; what NTP does to the clock
 * during the run is not in it.
 * Context: process; no hit is running.
 */
bool gtp_hit_calibrate_tsc(void)
{
	if (!tsc_khz || !kernel_uses_tsc())
		return false;
	calibration.rate = div_u64((u64)NSEC_PER_MSEC << 32, tsc_khz);
	preempt_disable();
	calibration.tsc = rdtsc_ordered();
	calibration.ns = ktime_get_mono_fast_ns();
	preempt_enable();
	return true;
}

static u64 tsc_to_ns(void *ctx, u64 tsc)
{
	/* CPUs may differ by some ticks. */
	u64 ticks = (s64)(tsc - calibration.tsc) < 0 ? 0 : tsc - calibration.tsc;

	return calibration.ns + mul_u64_u64_shr(ticks, calibration.rate, 32);
}

static s64 builtin(void *ctx, enum gtp_tsv_builtin which)
{
	switch (which) {
	case GTP_TSV_CURRENT_TASK:
		return (s64)current;
	case GTP_TSV_CURRENT_TASK_PID:
		return current->pid;
	default:
		return 0;
	}
}

/* put_text - the writer's side; false when there is no room for all of it */
static bool put_text(struct gtp_text *t, const char *text, u32 len)
{
	u32 head = t->head, at = head % GTP_TEXT_SIZE, part;

	/* Pairs with the release in get_text(): what it has read may be overwritten. */
	if (len > GTP_TEXT_SIZE - (head - smp_load_acquire(&t->tail)))
		return false;
	part = min(len, GTP_TEXT_SIZE - at);
	memcpy(t->ring + at, text, part);
	memcpy(t->ring, text + part, len - part);
	/* Pairs with the acquire in get_text(). */
	smp_store_release(&t->head, head + len);
	return true;
}

/* get_text - the reader's side: at most @size - 1 bytes, terminated; 0 when there is nothing */
static u32 get_text(struct gtp_text *t, char *buf, u32 size)
{
	u32 tail = t->tail, at = tail % GTP_TEXT_SIZE, len;

	/* Pairs with the release in put_text(): what it has counted is written. */
	len = min3(smp_load_acquire(&t->head) - tail, size - 1, GTP_TEXT_SIZE - at);
	memcpy(buf, t->ring + at, len);
	buf[len] = '\0';
	/* Pairs with the acquire in put_text(). */
	smp_store_release(&t->tail, tail + len);
	return len;
}

static void print(void *ctx, u32 tp, const char *text, u32 len)
{
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);
	struct gtp_text *t = &container_of(cpu, struct gtp_percpu, cpu)->text;

	if (!put_text(t, text, len))
		WRITE_ONCE(t->dropped, t->dropped + 1);
	gtp_host_kick_text();
}

static void drain_one(struct gtp_text *t)
{
	u64 dropped;
	char buf[200];

	while (gtp_procfs_has_room() && get_text(t, buf, sizeof(buf)))
		gtp_stub_print(gtp_host.stub, buf);
	dropped = READ_ONCE(t->dropped);
	/* This too is text, and no more of it than GDB reads. */
	if (dropped == t->told || !gtp_procfs_has_room())
		return;
	gtp_stub_printf(gtp_host.stub,
			"[%llu lines of printf were dropped: they came faster than GDB reads]\n",
			dropped - t->told);
	t->told = dropped;
}

/* gtp_context_drain() - what nobody is there to read stays, until there is no room for more */
bool gtp_context_drain(void)
{
	u32 i;

	lockdep_assert_held(&gtp_host.lock);
	if (!gtp_host.stub || !gtp_host.trace.cpus)
		return false;
	for (i = 0; i < gtp_host.trace.ncpus; i++) {
		struct gtp_cpu *cpu = gtp_host.trace.cpus[i];

		if (cpu)
			drain_one(&container_of(cpu, struct gtp_percpu, cpu)->text);
	}
	return !gtp_procfs_has_room();
}

static void stopping(void *ctx)
{
	gtp_host_kick_end();
}

const struct gtp_hit_ops gtp_hit_kernel_ops = {
	.read = gtp_access_read,
	.clock = clock,
	.tsc_to_ns = tsc_to_ns,
	.builtin = builtin,
	.tsv_lock = tsv_lock,
	.tsv_unlock = tsv_unlock,
	.print = print,
	.sdata = gtp_event_take,
	.stopping = stopping,
};
