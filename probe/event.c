// SPDX-License-Identifier: GPL-2.0-only
/* Hits from kernel tracepoints: one probe per location, between the tracepoint and gtp_hit(). */
#include <linux/module.h>
#include <linux/security.h>

#include "probe/event.h"
#include "hit/irqsave_notrace.h"

/**
 * struct event_probe - a location's probe
 * @loc: where a hit belongs
 * @tp: NULL: it has gone with its module
 * @call: as struct gtp_event's
 * @data: how its records are made; ->file is NULL until somebody collects $_sdata
 * @armed: on the list of all of them
 * @no_buffer: hits on CPUs that have no buffer
 */
struct event_probe {
	struct gtp_location *loc;
	struct tracepoint *tp;
	struct trace_event_call *call;
	struct gtp_event_data data;
	struct list_head armed;
	atomic_long_t no_buffer;
};

/* Under gtp_events_lock. */
static LIST_HEAD(armed_probes);

static void hit_here(struct event_probe *p, const struct gtp_regs *regs)
{
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (likely(cpu))
		gtp_hit(p->loc, cpu, regs);
	else
		atomic_long_inc(&p->no_buffer);
}

/*
 * Called by event_entry.S in the place of the tracepoint's own function. Interrupts may be on; they
 * are turned off so that what hits in one is not lost as a hit inside a hit, and that this CPU's
 * part stays ours even where the kernel lets a tracepoint's probes be preempted.
 */
void gtp_event_hit(struct event_probe *p, struct gtp_regs *regs)
{
	unsigned long flags;
	bool tell;

	if (unlikely(gtp_kprobe_skip_self(preempt_count())))
		return;
	flags = gtp_irqsave_notrace(&tell);
	hit_here(p, regs);
	gtp_irqrestore_notrace(flags, tell);
}

int gtp_event_take(void *ctx, const struct gtp_location *loc, const struct gtp_regs *regs,
		   struct gtp_buffer *buf)
{
	const struct event_probe *p = loc->probe;

	return gtp_event_data_take(&p->data, regs, buf);
}

static int find(u64 addr, struct gtp_event *ev, struct gtp_why *why)
{
	if (gtp_event_find(addr, ev))
		return 0;
	gtp_why(why,
		"there is no kernel tracepoint; info static-tracepoint-markers lists those there are");
	return -ENOENT;
}

static int refuse_locked_down(struct gtp_why *why)
{
	int err = security_locked_down(LOCKDOWN_TRACEFS);

	if (err)
		gtp_why(why, "the kernel is locked down: it allows no tracing");
	return err;
}

static int arm_event(struct event_probe *p, struct gtp_why *why)
{
	struct gtp_location *loc = p->loc;
	struct gtp_event ev;
	int err = find(loc->addr, &ev, why);

	if (err)
		return err;
	p->tp = ev.tp;
	p->call = ev.call;
	loc->probe = p;
	err = tracepoint_probe_register(ev.tp, gtp_event_entry, p);
	if (err) {
		loc->probe = NULL;
		gtp_why(why, "the kernel refused a probe on tracepoint %s (error %d)", ev.tp->name,
			-err);
		return err;
	}
	list_add(&p->armed, &armed_probes);
	loc->mechanism = "tracepoint";
	return 0;
}

/**
 * gtp_event_arm() - struct gtp_target_ops' arm, of kernel tracepoints
 * @ctx: unused
 * @loc: the location
 * @why: the refusal
 *
 * Context: process, under gtp_host.lock. Return: 0 or -errno.
 */
int gtp_event_arm(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	struct event_probe *p;
	int err = refuse_locked_down(why);

	if (err)
		return err;
	p = gtp_mem_alloc(sizeof(*p));
	if (!p) {
		gtp_why(why, "no memory for a probe");
		return -ENOMEM;
	}
	p->loc = loc;
	mutex_lock(&gtp_events_lock);
	err = arm_event(p, why);
	mutex_unlock(&gtp_events_lock);
	if (err)
		gtp_mem_free(p);
	return err;
}

static int allow_data(struct event_probe *p, struct gtp_why *why)
{
	struct gtp_event ev = { p->tp, p->call };
	struct gtp_location *loc = p->loc;
	int err;

	if (p->data.file)
		return 0;
	if (!p->tp) {
		gtp_why(why, "the tracepoint's module has just been unloaded");
		return -ENOENT;
	}
	loc->format = gtp_event_format(&ev, loc->addr);
	if (!loc->format) {
		gtp_why(why, "no memory for the description of the event");
		return -ENOMEM;
	}
	err = gtp_event_data_get(&ev, &p->data, why);
	if (err) {
		gtp_mem_free(loc->format);
		loc->format = NULL;
	}
	return err;
}

/**
 * gtp_event_sdata() - struct gtp_target_ops' sdata
 * @ctx: unused
 * @loc: an armed location
 * @why: the refusal
 *
 * Hits may be under way already; none of them collects $_sdata yet.
 * Context: process, under gtp_host.lock. Return: 0 or -errno.
 */
int gtp_event_sdata(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	int err;

	mutex_lock(&gtp_events_lock);
	err = allow_data(loc->probe, why);
	mutex_unlock(&gtp_events_lock);
	return err;
}

/* take_off - no new hits; those under way may go on. The event's data stay until they are over. */
static bool take_off(struct event_probe *p)
{
	if (!p->tp)
		return false;
	tracepoint_probe_unregister(p->tp, gtp_event_entry, p);
	p->tp = NULL;
	return true;
}

static void forget(struct gtp_location *loc)
{
	struct event_probe *p = loc->probe;

	if (p->data.file)
		gtp_event_data_put();
	list_del(&p->armed);
	loc->missed = atomic_long_read(&p->no_buffer);
	loc->probe = NULL;
	gtp_mem_free(p);
}

static bool is_armed(const struct gtp_location *loc)
{
	return loc->kind == GTP_LOCATION_EVENT && loc->probe;
}

/**
 * gtp_event_disarm() - struct gtp_target_ops' disarm, of kernel tracepoints
 * @ctx: unused
 * @first: list of locations; those without such a probe are skipped
 *
 * Probes run with preemption off, and where RCU was not watching under SRCU:
 * tracepoint_synchronize_unregister() waits for both, once for all.
 * Context: process, under gtp_host.lock; sleeps.
 */
void gtp_event_disarm(void *ctx, struct gtp_location *first)
{
	struct gtp_location *loc;
	bool any = false;

	mutex_lock(&gtp_events_lock);
	for (loc = first; loc; loc = loc->next)
		if (is_armed(loc))
			any |= take_off(loc->probe);
	if (any)
		tracepoint_synchronize_unregister();
	for (loc = first; loc; loc = loc->next)
		if (is_armed(loc))
			forget(loc);
	mutex_unlock(&gtp_events_lock);
}

bool gtp_event_range_in(const struct module *mod, u64 *start, u64 *end)
{
	struct event_probe *p;

	*start = U64_MAX;
	*end = 0;
	mutex_lock(&gtp_events_lock);
	list_for_each_entry(p, &armed_probes, armed) {
		if (!within_module(p->loc->addr, mod))
			continue;
		*start = min(*start, p->loc->addr);
		*end = max(*end, p->loc->addr + 1);
	}
	mutex_unlock(&gtp_events_lock);
	return *end;
}

static void module_goes(const struct module *mod)
{
	struct event_probe *p;
	bool any = false;

	mutex_lock(&gtp_events_lock);
	gtp_event_forget(mod);
	list_for_each_entry(p, &armed_probes, armed)
		if (p->tp && gtp_event_of_module(p->tp, mod))
			any |= take_off(p);
	if (any)
		tracepoint_synchronize_unregister();
	mutex_unlock(&gtp_events_lock);
}

/*
 * Before ftrace frees the module's events, which hits may be using: its notifier has priority 1.
 * Our own at priority 0 (see host.c) tells the user and drops the locations.
 */
static int module_changed(struct notifier_block *nb, unsigned long state, void *mod)
{
	if (state == MODULE_STATE_GOING)
		module_goes(mod);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = {
	.notifier_call = module_changed,
	.priority = 2,
};

/**
 * gtp_event_init() - learn which tracepoints there are, and of those that come and go
 *
 * Context: module init. Return: 0 or -errno.
 */
int gtp_event_init(void)
{
	int err = gtp_event_list_init();

	if (err)
		return err;
	err = register_module_notifier(&module_notifier);
	if (err)
		gtp_event_list_exit();
	return err;
}

/* gtp_event_exit() - nothing is armed, and nothing arms any more */
void gtp_event_exit(void)
{
	unregister_module_notifier(&module_notifier);
	gtp_event_list_exit();
	gtp_event_data_exit();
}
