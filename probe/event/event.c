// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes kernel tracepoints: one probe for each location, which passes its hits to
 * gtp_hit_inline().
 */
#include <linux/security.h>

#include "hit/hit.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "kernel/hit/irqsave_notrace.h"
#include "kernel/pad/frame_kernel.h"
#include "kernel/pad/make.h"
#include "kernel/pad/place.h"
#include "probe/shadow.h"
#include "probe/backend.h"
#include "probe/event/event.h"
#include "probe/event/event_data.h"
#include "probe/event/event_entry.h"
#include "probe/event/event_list.h"
#include "probe/self.h"
#include "probe/wait.h"

/**
 * struct event_probe - the probe of a location that is a kernel tracepoint
 * @go: address of the pad that evaluates the location's condition; 0: C code evaluates it. It is
 *      the first member because event_entry.S reads it
 * @pad: the pad at @go; it lives as long as the probe
 * @shadow: the probe's entry in the index of probed places, see probe/shadow.h
 * @loc: the location; NULL after cut_off(), when hits have no effect any more
 * @tp: the kernel tracepoint
 * @call: the tracepoint's TRACE_EVENT, as in struct gtp_event
 * @data: how the event's records are made; ->file is NULL unless a tracepoint at the location
 *        collects $_sdata
 * @no_buffer: hits that were missed on CPUs without a buffer
 */
struct event_probe {
	u64 go;
	struct gtp_jit_pad pad;
	struct gtp_shadow shadow;
	struct gtp_location *loc;
	struct tracepoint *tp;
	struct trace_event_call *call;
	struct gtp_event_data data;
	atomic_long_t no_buffer;
};

static void handle_hit(struct event_probe *p, const struct gtp_location *loc,
		       const struct gtp_regs *regs, u32 held)
{
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (likely(cpu))
		gtp_hit_inline(loc->first, cpu, regs, held, 0);
	else
		atomic_long_inc(&p->no_buffer);
}

/*
 * Handle a hit; event_entry.S calls this for a probe of the tracepoint. Interrupts may be on. Turn
 * interrupts off, so that a hit in an interrupt is not lost as a nested one, and so that this task
 * stays on its CPU even if the kernel lets a tracepoint's probes be preempted.
 */
void gtp_event_hit(struct event_probe *p, struct gtp_regs *regs, u32 held)
{
	const struct gtp_location *loc = READ_ONCE(p->loc);
	unsigned long flags;
	bool tell;

	if (unlikely(!loc))
		return;
	if (unlikely(gtp_self_maybe()) && gtp_self_skip(loc, preempt_count()))
		return;
	flags = gtp_irqsave_notrace(&tell);
	handle_hit(p, loc, regs, held);
	gtp_irqrestore_notrace(flags, tell);
}

int gtp_event_take(void *ctx, const struct gtp_location *loc, const struct gtp_regs *regs,
		   struct gtp_buffer *buf)
{
	const struct event_probe *p = loc->probe;

	return gtp_event_data_take(&p->data, regs, buf);
}

static int find_event(u64 addr, struct gtp_event *ev, struct gtp_why *why)
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

static int refuse_stuck(struct gtp_why *why)
{
	if (gtp_readers_end())
		return 0;
	gtp_why(why,
		"a task has died in a kernel tracepoint, and the kernel waits for it for ever when one changes: reboot before you trace events");
	return -EBUSY;
}

/*
 * Make a pad, which can handle most hits: at the tracepoint, the arguments are in the registers
 * from which the condition and the actions read them.
 */
static void make_pad(struct event_probe *p)
{
	const struct gtp_tracepoint *tp = p->loc->first;
	struct gtp_pad_request req = {
		.cond = gtp_pad_condition(tp),
		.ways = p->loc->run->tsvs.ways,
		.target = gtp_jit_target(),
		.at = p->loc->addr,
		.held = (u64)gtp_event_held,
		.open = (u64)gtp_event_open,
	};
	int err;

	BUILD_BUG_ON(offsetof(struct event_probe, go));
	if (tp->next_here || !gtp_pad_decides(tp) || !gtp_jit_ready() || gtp_jit_open())
		return;
	err = gtp_pad_frame_make(&req, tp, NULL, &p->pad);
	if (err && req.cond)
		err = gtp_pad_place(&req, &p->pad);
	gtp_jit_close();
	p->loc->no_room = req.cond && err == -ENOSPC;
	if (err)
		p->pad.len = 0;
	else
		p->go = p->pad.addr;
}

static void free_pad(const struct event_probe *p)
{
	if (p->pad.len)
		gtp_jit_pad_free(&p->pad);
}

static int arm_event(struct event_probe *p, struct gtp_why *why)
{
	struct gtp_location *loc = p->loc;
	struct gtp_event ev;
	int err = find_event(loc->addr, &ev, why);

	if (err)
		return err;
	p->tp = ev.tp;
	p->call = ev.call;
	loc->probe = p;
	p->shadow.addr = loc->addr;
	gtp_shadow_add(&p->shadow);
	make_pad(p);
	err = tracepoint_probe_register(ev.tp, gtp_event_entry, p);
	if (err) {
		free_pad(p);
		gtp_shadow_remove(&p->shadow);
		loc->probe = NULL;
		gtp_why(why, "the kernel refused a probe on tracepoint %s (error %d)", ev.tp->name,
			-err);
		return err;
	}
	loc->probe_kind = "tracepoint";
	return 0;
}

static int event_arm(struct gtp_location *loc, struct gtp_why *why)
{
	struct event_probe *p;
	int err;

	if (loc->kind != GTP_LOCATION_EVENT)
		return -EOPNOTSUPP;
	err = refuse_locked_down(why);
	if (!err)
		err = refuse_stuck(why);
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

/*
 * Let C code handle every hit from now on. During the change, either the pad or C code handles a
 * hit; both do the same for the first tracepoint.
 */
static int event_widen(struct gtp_location *loc, struct gtp_why *why)
{
	struct event_probe *p = loc->probe;

	WRITE_ONCE(p->go, 0);
	return 0;
}

static int allow_data(struct event_probe *p, struct gtp_why *why)
{
	struct gtp_event ev = { p->tp, p->call };
	struct gtp_location *loc = p->loc;
	int err;

	if (p->data.file)
		return 0;
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

/*
 * Prepare a location for $_sdata. Other tracepoints at the location may have hits already, but none
 * of them collects $_sdata.
 */
int gtp_event_sdata(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	int err;

	mutex_lock(&gtp_events_lock);
	err = allow_data(loc->probe, why);
	mutex_unlock(&gtp_events_lock);
	return err;
}

static u64 event_missed(const struct gtp_location *loc)
{
	const struct event_probe *p = loc->probe;

	return atomic_long_read(&p->no_buffer);
}

static void event_forget(struct gtp_location *loc)
{
	struct event_probe *p = loc->probe;

	if (p->data.file)
		gtp_event_data_put();
	free_pad(p);
	gtp_shadow_remove(&p->shadow);
	loc->missed += event_missed(loc);
	loc->probe = NULL;
}

/* Free the probes of a list of locations. No hit of them runs any more, and none will come. */
static void forget_all(struct gtp_location *first)
{
	struct gtp_location *loc;

	for (loc = first; loc; loc = loc->next_own) {
		struct event_probe *p = loc->probe;

		event_forget(loc);
		gtp_mem_free(p);
	}
}

/*
 * Cut off probes that cannot be removed. The kernel may go on calling them, or a CPU that has
 * already read a probe's address may call the probe late. So the probes, and gtp_event_entry, which
 * leads to them, stay for ever but do nothing. A hit does not sleep, so a task that is in a hit, or
 * in its pad, leaves it before gtp_wait_for_tasks() returns.
 */
static void cut_off(struct gtp_location *first)
{
	struct gtp_location *loc;

	for (loc = first; loc; loc = loc->next_own) {
		struct event_probe *p = loc->probe;

		WRITE_ONCE(p->go, 0);
		WRITE_ONCE(p->loc, NULL);
	}
	gtp_wait_for_tasks();
	for (loc = first; loc; loc = loc->next_own)
		event_forget(loc);
}

/*
 * Remove the probes of a list of locations, with a single wait for the tasks that still run one of
 * them. The events' data must exist until that wait is over. If gtp_readers_end() returns false, do
 * not unregister the probes: that would block the kernel's next change of any tracepoint.
 */
static void event_disarm(struct gtp_location *first)
{
	struct gtp_location *loc;
	bool end;

	mutex_lock(&gtp_events_lock);
	end = gtp_readers_end();
	for (loc = first; loc && end; loc = loc->next_own) {
		struct event_probe *p = loc->probe;

		tracepoint_probe_unregister(p->tp, gtp_event_entry, p);
	}
	if (end && gtp_wait_for_readers())
		forget_all(first);
	else
		cut_off(first);
	mutex_unlock(&gtp_events_lock);
}

static void event_module_goes(const struct module *mod)
{
	mutex_lock(&gtp_events_lock);
	gtp_event_forget(mod);
	mutex_unlock(&gtp_events_lock);
}

static void event_exit(void)
{
	gtp_event_list_exit();
	gtp_event_data_exit();
}

const struct gtp_probe_backend gtp_event_backend = {
	.name = "tracepoint",
	.arm = event_arm,
	.widen = event_widen,
	.disarm = event_disarm,
	.missed = event_missed,
	.module_goes = event_module_goes,
	.init = gtp_event_list_init,
	.exit = event_exit,
};
