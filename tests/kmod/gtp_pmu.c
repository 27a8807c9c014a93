// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters for a guest that has none: perf's cycles and instructions count nanoseconds here, and
 * interrupt by NMI. A timer on each CPU sends the NMIs of the next CPU, so they interrupt any code:
 * also code that has interrupts off, and the code that enters and leaves the kernel.
 */
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/timekeeping.h>
#include <linux/version.h>
#include <asm/apic.h>
#include <asm/nmi.h>

enum { COUNTERS = 2 };

static unsigned int every_us = 1000;
module_param(every_us, uint, 0444);
MODULE_PARM_DESC(every_us, "how often each CPU gets an NMI while it has an event");

static unsigned long overflow;
module_param(overflow, ulong, 0400);
MODULE_PARM_DESC(overflow, "the address of perf_event_overflow(), which is not exported");

/*
 * struct counters - what a CPU has
 * @event: its events; NULL: the counter is free
 * @timer: sends the NMIs of the next CPU
 * @sent: the number of NMIs sent to this CPU
 * @seen: the number of them that have arrived; less than @sent if some were merged
 */
struct counters {
	struct perf_event *event[COUNTERS];
	struct hrtimer timer;
	atomic_t sent;
	int seen;
};

typedef int (*overflow_fn)(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs);

static DEFINE_PER_CPU(struct counters, counters);
static struct cpumask active;
static atomic_long_t nmis;

static void update(struct perf_event *event)
{
	s64 now = (s64)ktime_get_mono_fast_ns();
	s64 delta = now - local64_xchg(&event->hw.prev_count, now);

	local64_add(delta, &event->count);
	local64_sub(delta, &event->hw.period_left);
}

static void pmu_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, (s64)ktime_get_mono_fast_ns());
	WRITE_ONCE(event->hw.state, 0);
}

static void pmu_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	WRITE_ONCE(event->hw.state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	update(event);
}

static void pmu_read(struct perf_event *event)
{
	if (!(event->hw.state & PERF_HES_STOPPED))
		update(event);
}

static int pmu_add(struct perf_event *event, int flags)
{
	struct counters *c = this_cpu_ptr(&counters);
	int i;

	for (i = 0; i < COUNTERS && c->event[i];)
		i++;
	if (i == COUNTERS)
		return -EAGAIN;
	event->hw.idx = i;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	WRITE_ONCE(c->event[i], event);
	if (flags & PERF_EF_START)
		pmu_start(event, flags);
	if (!cpumask_test_and_set_cpu(smp_processor_id(), &active))
		hrtimer_start(&c->timer, ns_to_ktime(every_us * 1000ULL),
			      HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static void pmu_del(struct perf_event *event, int flags)
{
	struct counters *c = this_cpu_ptr(&counters);
	int i;

	pmu_stop(event, PERF_EF_UPDATE);
	WRITE_ONCE(c->event[event->hw.idx], NULL);
	for (i = 0; i < COUNTERS; i++)
		if (c->event[i])
			return;
	cpumask_clear_cpu(smp_processor_id(), &active);
	hrtimer_cancel(&c->timer);
}

static int pmu_event_init(struct perf_event *event)
{
	if (event->attr.type != PERF_TYPE_HARDWARE || event->attr.config >= COUNTERS)
		return -ENOENT;
	return event->cpu < 0 ? -EINVAL : 0;
}

static struct pmu pmu = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_invalid_context,
	.event_init = pmu_event_init,
	.add = pmu_add,
	.del = pmu_del,
	.start = pmu_start,
	.stop = pmu_stop,
	.read = pmu_read,
};

static enum hrtimer_restart interrupt_next(struct hrtimer *timer)
{
	unsigned int cpu = cpumask_next(smp_processor_id(), &active);

	if (cpu >= nr_cpu_ids)
		cpu = cpumask_first(&active);
	if (cpu < nr_cpu_ids) {
		atomic_inc(&per_cpu(counters, cpu).sent);
		apic->send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
	}
	hrtimer_forward_now(timer, ns_to_ktime(every_us * 1000ULL));
	return HRTIMER_RESTART;
}

static void count(struct perf_event *event, struct pt_regs *regs)
{
	struct perf_sample_data data;
	u64 passed;

	update(event);
	if (local64_read(&event->hw.period_left) > 0)
		return;
	passed = (u64)-local64_read(&event->hw.period_left);
	/* The next interrupt ends a period. Those that have passed without one are lost. */
	local64_set(&event->hw.period_left,
		    (s64)(event->hw.sample_period - passed % event->hw.sample_period));
	perf_sample_data_init(&data, 0, event->hw.sample_period);
	if (((overflow_fn)overflow)(event, &data, regs))
		pmu_stop(event, 0);
}

static int in_nmi_now(unsigned int type, struct pt_regs *regs)
{
	struct counters *c = this_cpu_ptr(&counters);
	int i;

	if (c->seen == atomic_read(&c->sent))
		return NMI_DONE;
	c->seen++;
	atomic_long_inc(&nmis);
	for (i = 0; i < COUNTERS; i++) {
		struct perf_event *event = READ_ONCE(c->event[i]);

		if (event && !(READ_ONCE(event->hw.state) & PERF_HES_STOPPED))
			count(event, regs);
	}
	return NMI_HANDLED;
}

static int __init pmu_init(void)
{
	int cpu, err;

	if (!overflow)
		return -EINVAL;
	for_each_possible_cpu(cpu) {
		struct hrtimer *timer = &per_cpu(counters, cpu).timer;

		/* since 6.13 ("hrtimers: Introduce hrtimer_setup() to replace hrtimer_init()") */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
		hrtimer_setup(timer, interrupt_next, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
		hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		timer->function = interrupt_next;
#endif
	}
	err = register_nmi_handler(NMI_LOCAL, in_nmi_now, 0, "gtp_pmu");
	if (err)
		return err;
	/* perf looks for events of PERF_TYPE_HARDWARE here, too. */
	err = perf_pmu_register(&pmu, "gtp_pmu", PERF_TYPE_RAW);
	if (err)
		unregister_nmi_handler(NMI_LOCAL, "gtp_pmu");
	return err;
}

static void __exit pmu_exit(void)
{
	perf_pmu_unregister(&pmu);
	unregister_nmi_handler(NMI_LOCAL, "gtp_pmu");
	pr_info("gtp_pmu: %ld NMIs\n", atomic_long_read(&nmis));
}

module_init(pmu_init);
module_exit(pmu_exit);
MODULE_DESCRIPTION("counters that interrupt by NMI, for gdbtp's tests");
MODULE_LICENSE("GPL");
