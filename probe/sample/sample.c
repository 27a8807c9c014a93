// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples the CPUs by a clock or by a counter of the processor: one perf event for each location
 * and online CPU. Each overflow of the event is a hit of the code that it interrupts.
 *
 * The clock interrupts by a timer, with interrupts off. A counter interrupts by an NMI, which may
 * come in the middle of any other hit: gtp_hit() then finds the CPU in a hit. Hits share no data
 * between CPUs.
 *
 * perf may give fewer hits than the event has periods. It stops an event that interrupts too often
 * until the next tick, and it merges interrupts that are late. periods_lost() finds these hits:
 * perf says how long the clock ran, and what a counter has counted.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cache.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "hit/hit.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "probe/backend.h"
#include "probe/policy/refuse.h"
#include "probe/sample/place.h"
#include "probe/self.h"

/**
 * struct sampler - the event of a sample on one CPU
 * @loc: the location
 * @event: the event; NULL: the CPU is offline, or could not get an event when it came online
 * @samples: how often @event has interrupted; only hits on this CPU write it
 * @unseen: interrupts that are no hits because the CPU has no buffer, and those after which perf
 *          has stopped a counter; only hits on this CPU write it
 * @lost: hits that earlier events on this CPU have lost; under samples_lock
 *
 * Each CPU writes a cache line of its own.
 */
struct sampler {
	const struct gtp_location *loc;
	struct perf_event *event;
	u64 samples;
	u64 unseen;
	u64 lost;
} __aligned(L1_CACHE_BYTES);

/**
 * struct sample - a location that is a sample
 * @list: links the sample into the list of all samples
 * @addr: the sample address
 * @cpu: a sampler for each possible CPU
 */
struct sample {
	struct list_head list;
	u64 addr;
	struct sampler *cpu;
};

/*
 * Guards the list, all ->event and all ->lost. Taken inside cpus_read_lock(), since a CPU that
 * comes online or goes offline takes it, too.
 */
static DEFINE_MUTEX(samples_lock);
static LIST_HEAD(samples);
static int hotplug_state;

/*
 * Return how much the interrupt has added to preempt_count. The clock's timer expires in hard
 * interrupt context, with PREEMPT_RT as well.
 */
static u32 entered_by(void)
{
	return in_nmi() ? NMI_OFFSET + HARDIRQ_OFFSET : HARDIRQ_OFFSET;
}

/*
 * True if perf has stopped a counter until the next tick, because it interrupts too often: perf
 * marks such an event by this value (MAX_INTERRUPTS in its source), right before it calls us. While
 * the clock is stopped, its time goes on, so periods_lost() sees that by itself.
 */
static bool is_stopped(const struct perf_event *event)
{
	return event->attr.type == PERF_TYPE_HARDWARE && event->hw.interrupts == ~0ULL;
}

static void handle_sample(struct perf_event *event, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	struct sampler *s = event->overflow_handler_context;
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);
	const struct gtp_location *loc = s->loc;
	u32 entered = entered_by();

	WRITE_ONCE(s->samples, s->samples + 1);
	if (unlikely(is_stopped(event) || !cpu))
		WRITE_ONCE(s->unseen, s->unseen + is_stopped(event) + !cpu);
	if (unlikely(gtp_self_maybe()) && gtp_self_skip(loc, preempt_count() - entered))
		return;
	if (likely(cpu))
		gtp_hit(loc->first, cpu, (const struct gtp_regs *)regs, entered);
}

/*
 * Return how many periods of the CPU's event gave no interrupt. Read what has passed before the
 * number of interrupts, so that an interrupt in between does not look like a lost one.
 */
static u64 periods_lost(u64 addr, const struct sampler *s)
{
	u64 enabled, running, count;

	if (!s->event)
		return 0;
	count = perf_event_read_value(s->event, &enabled, &running);
	if (gtp_sample_event(addr) == GTP_SAMPLE_CLOCK)
		count = running;
	return gtp_sample_lost(addr, count, READ_ONCE(s->samples));
}

/* --- the events --- */

/* Make the sample's event on a CPU that is online and stays online. Under samples_lock. */
static int sampler_start(const struct sample *p, int cpu)
{
	struct perf_event_attr attr = {
		.type = gtp_sample_type(p->addr),
		.size = sizeof(attr),
		.config = gtp_sample_config(p->addr),
		.sample_period = gtp_sample_period(p->addr),
		.pinned = 1,
		/* A guest's instructions have no registers that a hit could use. */
		.exclude_guest = gtp_sample_type(p->addr) == GTP_SAMPLE_HARDWARE,
	};
	struct sampler *s = &p->cpu[cpu];
	struct perf_event *event;

	BUILD_BUG_ON((u32)GTP_SAMPLE_HARDWARE != (u32)PERF_TYPE_HARDWARE);
	BUILD_BUG_ON((u32)GTP_SAMPLE_CLOCK !=
		     (PERF_TYPE_SOFTWARE << GTP_SAMPLE_TYPE_SHIFT | PERF_COUNT_SW_CPU_CLOCK));
	s->samples = 0;
	event = perf_event_create_kernel_counter(&attr, cpu, NULL, handle_sample, s);
	if (IS_ERR(event))
		return PTR_ERR(event);
	/* A pinned event is in the error state if no counter of the processor was free for it. */
	if (event->state == PERF_EVENT_STATE_ERROR) {
		perf_event_release_kernel(event);
		return -EBUSY;
	}
	s->event = event;
	return 0;
}

/* Free the event of a CPU. After that, no hit of the event runs or will run on that CPU. */
static void sampler_stop(const struct sample *p, int cpu)
{
	struct sampler *s = &p->cpu[cpu];

	if (!s->event)
		return;
	s->lost += periods_lost(p->addr, s);
	perf_event_release_kernel(s->event);
	s->event = NULL;
}

static int samplers_start(struct sample *p)
{
	int cpu, err = 0;

	cpus_read_lock();
	mutex_lock(&samples_lock);
	for_each_online_cpu(cpu) {
		err = sampler_start(p, cpu);
		if (err)
			break;
	}
	if (!err)
		list_add_tail(&p->list, &samples);
	mutex_unlock(&samples_lock);
	cpus_read_unlock();
	return err;
}

/*
 * Free all events of a sample. The sample must not be on the list, so that no other task uses it.
 */
static void samplers_stop(const struct sample *p)
{
	int cpu;

	for_each_possible_cpu(cpu)
		sampler_stop(p, cpu);
}

/* --- CPUs that come online and go offline --- */

/*
 * Make the events of a CPU that comes online. The CPU has no buffer in this run, so its hits will
 * be counted as missed. The CPU must come online even if it has no counter free.
 */
static int cpu_is_up(unsigned int cpu)
{
	struct sample *p;
	char name[64];
	int err;

	mutex_lock(&samples_lock);
	list_for_each_entry(p, &samples, list) {
		err = sampler_start(p, cpu);
		if (!err)
			continue;
		gtp_sample_place_name(p->addr, name, sizeof(name));
		pr_warn("CPU %u came online and is not sampled by %s (error %d)\n", cpu, name,
			-err);
	}
	mutex_unlock(&samples_lock);
	return 0;
}

static int cpu_goes_down(unsigned int cpu)
{
	struct sample *p;

	mutex_lock(&samples_lock);
	list_for_each_entry(p, &samples, list)
		sampler_stop(p, cpu);
	mutex_unlock(&samples_lock);
	return 0;
}

/* --- the backend --- */

static void sample_free(struct sample *p)
{
	gtp_mem_free(p->cpu);
	gtp_mem_free(p);
}

static struct sample *sample_alloc(const struct gtp_location *loc)
{
	struct sample *p = gtp_mem_alloc(sizeof(*p));
	int cpu;

	if (!p)
		return NULL;
	p->addr = loc->addr;
	p->cpu = gtp_mem_alloc(array_size(nr_cpu_ids, sizeof(*p->cpu)));
	if (!p->cpu) {
		gtp_mem_free(p);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		p->cpu[cpu].loc = loc;
	return p;
}

static int refuse_sample(const struct gtp_location *loc, struct gtp_why *why)
{
	int err = gtp_probe_allowed(why);

	if (!err)
		err = gtp_sample_place_check(loc->addr, why);
	if (!err && loc->fast_only) {
		gtp_why(why, "a sample takes an interrupt; use trace, not ftrace");
		err = -EINVAL;
	}
	return err;
}

static int sample_arm(struct gtp_location *loc, struct gtp_why *why)
{
	struct sample *p;
	int err;

	if (loc->kind != GTP_LOCATION_SAMPLE)
		return -EOPNOTSUPP;
	err = refuse_sample(loc, why);
	if (err)
		return err;
	p = sample_alloc(loc);
	err = p ? samplers_start(p) : -ENOMEM;
	if (err) {
		gtp_sample_place_explain(loc->addr, err, why);
		if (p) {
			samplers_stop(p);
			sample_free(p);
		}
		/* Ask no other backend: the others do not know such addresses. */
		return err == -EOPNOTSUPP ? -EINVAL : err;
	}
	loc->probe = p;
	loc->probe_kind = "sample";
	return 0;
}

static u64 sample_missed(const struct gtp_location *loc)
{
	const struct sample *p = loc->probe;
	u64 sum = 0;
	int cpu;

	mutex_lock(&samples_lock);
	for_each_possible_cpu(cpu) {
		const struct sampler *s = &p->cpu[cpu];

		sum += s->lost + periods_lost(p->addr, s) + READ_ONCE(s->unseen);
	}
	mutex_unlock(&samples_lock);
	return sum;
}

static void sample_disarm(struct gtp_location *first)
{
	struct gtp_location *loc;

	for (loc = first; loc; loc = loc->next_own) {
		struct sample *p = loc->probe;

		mutex_lock(&samples_lock);
		list_del(&p->list);
		mutex_unlock(&samples_lock);
		samplers_stop(p);
	}
	/*
	 * Wait for hits, which run with interrupts off: perf may not have interrupted every CPU.
	 */
	synchronize_rcu();
	for (loc = first; loc; loc = loc->next_own) {
		struct sample *p = loc->probe;

		loc->missed += sample_missed(loc);
		loc->probe = NULL;
		sample_free(p);
	}
}

static int sample_init(void)
{
	hotplug_state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "gdbtp:sample", cpu_is_up,
						  cpu_goes_down);
	return hotplug_state < 0 ? hotplug_state : 0;
}

static void sample_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
}

const struct gtp_probe_backend gtp_sample_backend = {
	.name = "sample",
	.arm = sample_arm,
	.disarm = sample_disarm,
	.missed = sample_missed,
	.init = sample_init,
	.exit = sample_exit,
};
