// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes variables by watchpoints: one perf event for each location and online CPU. The event uses
 * one of the CPU's four debug registers.
 *
 * A hit comes after the instruction that has accessed the variable, in the exception #DB. The
 * kernel has then turned all watchpoints of this CPU off, and counts the context as an NMI. So no
 * watchpoint is hit during the hit of a watchpoint, nor during an NMI, whose handler begins in the
 * same way.
 *
 * Any CPU may write the variable next, so the value that was seen last is shared by all, and
 * exchanged atomically. This value is the only data that hits of watchpoints share and hits of
 * other probes do not.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>

#include "hit/watched.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/hit/access_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "probe/backend.h"
#include "probe/policy/refuse.h"
#include "probe/self.h"
#include "probe/shadow.h"
#include "probe/watch/own.h"
#include "probe/watch/place.h"

/**
 * struct watch - the watchpoint of a location
 * @list: links the watchpoint into the list of all watchpoints
 * @shadow: the watchpoint's entry in the index of probed places, so that unloading its module finds
 *          it
 * @loc: the location
 * @seen: the last value of the variable that was seen
 * @lost: hits that are not recorded because the CPU has no buffer or the value cannot be read
 * @event: the events by CPU; NULL: the CPU is offline, or could not get an event when it came
 *         online
 */
struct watch {
	struct list_head list;
	struct gtp_shadow shadow;
	struct gtp_location *loc;
	u64 seen;
	atomic_long_t lost;
	struct perf_event *event[];
};

/*
 * Guards the list and all ->event. Taken inside cpus_read_lock(), since a CPU that comes online or
 * goes offline takes it, too.
 */
static DEFINE_MUTEX(watches_lock);
static LIST_HEAD(watches);
static int hotplug_state;

static bool read_value(u64 addr, u64 *value)
{
	*value = 0;
	return !gtp_access_read_kernel(value, gtp_watch_at(addr), gtp_watch_bytes(addr));
}

/* An exception from the kernel that counts as an NMI raises preempt_count by this much. */
static const u32 entered = NMI_OFFSET + HARDIRQ_OFFSET;

static void handle_hit(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs)
{
	struct watch *w = event->overflow_handler_context;
	const struct gtp_location *loc = w->loc;
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);
	u64 value, before;

	/*
	 * The memory may have been freed after the access: then the value is unknown. If the
	 * exception is from user mode, the processor itself has read a table for the program (an
	 * LDT): that exception does not count as an NMI.
	 */
	if (unlikely(user_mode(regs) || !read_value(loc->addr, &value))) {
		atomic_long_inc(&w->lost);
		return;
	}
	before = gtp_watched_see(&w->seen, value);
	if (unlikely(gtp_self_maybe()) && gtp_self_skip(loc, preempt_count() - entered))
		return;
	if (likely(cpu))
		gtp_watched_hit(loc->first, cpu, (const struct gtp_regs *)regs, entered, before,
				value);
	else
		atomic_long_inc(&w->lost);
}

/* Make the watchpoint's event on a CPU that is online and stays online. Under watches_lock. */
static int event_make(struct watch *w, int cpu)
{
	u64 addr = w->loc->addr;
	struct perf_event_attr attr;
	struct perf_event *event;

	hw_breakpoint_init(&attr);
	attr.bp_addr = gtp_watch_at(addr);
	attr.bp_len = gtp_watch_bytes(addr);
	attr.bp_type = gtp_watch_reads(addr) ? HW_BREAKPOINT_RW : HW_BREAKPOINT_W;
	event = perf_event_create_kernel_counter(&attr, cpu, NULL, handle_hit, w);
	if (IS_ERR(event))
		return PTR_ERR(event);
	/*
	 * The event is pinned: it is in the error state if the debug registers are full although
	 * perf counted one as free. If it is merely inactive, perf has removed it for a moment to
	 * install another event.
	 */
	if (event->state == PERF_EVENT_STATE_ERROR) {
		perf_event_release_kernel(event);
		return -EBUSY;
	}
	w->event[cpu] = event;
	return 0;
}

/* Free the event of a CPU. After that, no hit of the event runs or will run on that CPU. */
static void event_drop(struct watch *w, int cpu)
{
	if (w->event[cpu])
		perf_event_release_kernel(w->event[cpu]);
	w->event[cpu] = NULL;
}

/*
 * Store in @w->seen the value that CPUs wrote unnoticed before the last event was made. Hits may
 * store a value at the same time.
 */
static void catch_up(struct watch *w)
{
	u64 seen, now;

	do {
		seen = READ_ONCE(w->seen);
		if (!read_value(w->loc->addr, &now))
			return;
	} while (seen != now && gtp_replace(&w->seen, seen, now) != seen);
}

static int events_make(struct watch *w)
{
	int cpu, err = 0;

	if (!gtp_access_may_touch(gtp_watch_at(w->loc->addr), gtp_watch_bytes(w->loc->addr)) ||
	    !read_value(w->loc->addr, &w->seen))
		return -EFAULT;
	cpus_read_lock();
	mutex_lock(&watches_lock);
	for_each_online_cpu(cpu) {
		err = event_make(w, cpu);
		if (err)
			break;
	}
	if (!err)
		list_add_tail(&w->list, &watches);
	mutex_unlock(&watches_lock);
	cpus_read_unlock();
	if (!err)
		catch_up(w);
	return err;
}

/*
 * Free all events of a watchpoint. The watchpoint must not be on the list, so that no other task
 * uses it.
 */
static void events_drop(struct watch *w)
{
	int cpu;

	for_each_possible_cpu(cpu)
		event_drop(w, cpu);
}

/* --- CPUs that come online and go offline --- */

/*
 * Make the events of a CPU that comes online. The CPU has no buffer in this run, so its hits will
 * be counted as missed. The CPU must come online even if all its debug registers are taken.
 */
static int cpu_comes(unsigned int cpu)
{
	struct watch *w;

	mutex_lock(&watches_lock);
	list_for_each_entry(w, &watches, list) {
		int err = event_make(w, cpu);

		if (err)
			pr_warn("CPU %u came online without the watchpoint at %#llx (error %d): what it writes there is not seen\n",
				cpu, gtp_watch_at(w->loc->addr), -err);
	}
	mutex_unlock(&watches_lock);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	struct watch *w;

	mutex_lock(&watches_lock);
	list_for_each_entry(w, &watches, list)
		event_drop(w, cpu);
	mutex_unlock(&watches_lock);
	return 0;
}

/* --- the backend --- */

static int check(const struct gtp_location *loc, struct gtp_why *why)
{
	int err = gtp_probe_allowed(why);

	if (!err)
		err = gtp_watch_place_check(loc->addr, why);
	if (!err)
		err = gtp_watch_refuse(loc->addr, why);
	if (!err && loc->fast_only) {
		gtp_why(why, "a watchpoint takes an exception; use trace, not ftrace");
		err = -EINVAL;
	}
	return err;
}

static int watch_arm(struct gtp_location *loc, struct gtp_why *why)
{
	struct watch *w;
	int err;

	if (loc->kind != GTP_LOCATION_WATCH)
		return -EOPNOTSUPP;
	err = check(loc, why);
	if (err)
		return err;
	w = gtp_mem_alloc(struct_size(w, event, nr_cpu_ids));
	if (!w) {
		gtp_watch_place_explain(-ENOMEM, why);
		return -ENOMEM;
	}
	w->loc = loc;
	w->shadow.addr = gtp_watch_at(loc->addr);
	/*
	 * Add the watchpoint to the index of probed places first, so that unloading of its module
	 * finds it.
	 */
	gtp_shadow_add(&w->shadow);
	err = events_make(w);
	if (err) {
		events_drop(w);
		gtp_shadow_remove(&w->shadow);
		gtp_mem_free(w);
		gtp_watch_place_explain(err, why);
		/* Ask no other backend: the others do not know such addresses. */
		return err == -EOPNOTSUPP ? -EINVAL : err;
	}
	loc->probe = w;
	loc->probe_kind = "watchpoint";
	return 0;
}

static u64 watch_missed(const struct gtp_location *loc)
{
	const struct watch *w = loc->probe;

	return atomic_long_read(&w->lost);
}

static void watch_disarm(struct gtp_location *first)
{
	struct gtp_location *loc;

	for (loc = first; loc; loc = loc->next_own) {
		struct watch *w = loc->probe;

		mutex_lock(&watches_lock);
		list_del(&w->list);
		mutex_unlock(&watches_lock);
		events_drop(w);
	}
	/*
	 * Wait for hits, which run with interrupts off: perf may not have interrupted every CPU.
	 */
	synchronize_rcu();
	for (loc = first; loc; loc = loc->next_own) {
		struct watch *w = loc->probe;

		loc->missed += watch_missed(loc);
		loc->probe = NULL;
		gtp_shadow_remove(&w->shadow);
		gtp_mem_free(w);
	}
}

static int watch_init(void)
{
	hotplug_state =
		cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "gdbtp:online", cpu_comes, cpu_goes);
	return hotplug_state < 0 ? hotplug_state : 0;
}

static void watch_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
}

const struct gtp_probe_backend gtp_watch_backend = {
	.name = "watchpoint",
	.arm = watch_arm,
	.disarm = watch_disarm,
	.missed = watch_missed,
	.init = watch_init,
	.exit = watch_exit,
};
