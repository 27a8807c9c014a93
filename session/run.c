// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run control: start a run from the definitions, add tracepoints to it, and end it.
 *
 * From ->arm to ->disarm hits run on other CPUs and take no lock. They see
 *   - locations and tracepoints that were complete before they were armed or linked by @next_here;
 *   - @active of the run, which is set when everything is armed;
 *   - @ending of the run: the hit that ends the run claims it, stores the reason, and marks it as
 *     written.
 * The caller's lock protects everything else. After ->disarm no hit runs, so @ending is then
 * GTP_ENDING_NO or GTP_ENDING_WRITTEN.
 */
#include "base/watch.h"
#include "hit/hit.h"
#include "session/added.h"
#include "session/aggregate.h"
#include "session/arming.h"
#include "session/check.h"
#include "session/code.h"
#include "session/cpus.h"
#include "session/dprintf.h"
#include "session/kstack.h"
#include "session/location.h"
#include "session/pair.h"
#include "session/run.h"
#include "session/tasks.h"
#include "session/trigger.h"

/* --- the tracepoints' counters --- */

static void assign_slots(struct gtp_trace *t)
{
	struct gtp_tracepoint *tp;

	t->slots_used = 0;
	for (tp = t->tps.first; tp; tp = tp->next) {
		tp->slot = t->slots_used++;
		tp->pass_hits = 0;
		tp->defining = false;
		tp->on = tp->enabled;
		gtp_trigger_add(t, tp);
	}
}

/*
 * Clear the counters of a slot. They may contain hits of a tracepoint that then could not be armed.
 */
static void clear_slot(struct gtp_trace *t, u32 slot)
{
	u32 i;

	for (i = 0; i < t->run.ncpus; i++) {
		if (!t->run.cpus[i])
			continue;
		t->run.cpus[i]->stat[slot] = (struct gtp_tp_stat){ 0 };
		t->run.cpus[i]->quick[slot] = 0;
	}
}

/* --- starting a run --- */

static void free_formats(struct gtp_trace *t)
{
	while (t->formats) {
		struct gtp_sdata_format *format = t->formats;

		t->formats = format->next;
		t->mem.free(t->mem.ctx, format);
	}
}

void gtp_trace_drop(struct gtp_trace *t)
{
	gtp_dprintf_suspend(t);
	gtp_added_end(t);
	gtp_code_forget(t);
	gtp_locations_free(t);
	free_formats(t);
	gtp_triggers_drop(t);
	t->dprintfs.nested += gtp_cpus_nested(t) - t->nested;
	gtp_aggregates_drop(t);
	gtp_pairs_drop(t);
	gtp_kstack_drop(t);
	gtp_tasks_drop(t);
	gtp_cpus_put(t);
	gtp_index_free(&t->index, &t->mem);
	t->index.formats = NULL;
	t->indexed = false;
	t->epoch++;
	t->missed = 0;
	t->taken = 0;
	t->nested = 0;
	t->clock_wrong.text[0] = '\0';
	t->clock_told = false;
	t->stop = GTP_STOP_NEVER_RUN;
	t->end_untold = false;
	t->start_us = 0;
	t->stop_us = 0;
}

static void begin(struct gtp_trace *t)
{
	t->run.ending = GTP_ENDING_NO;
	t->run.stop_tp = 0;
	t->run.failing = GTP_ENDING_NO;
	t->run.pass_errors = t->pass_errors;
	t->mem.free(t->mem.ctx, t->stop_notes_hex);
	t->stop_notes_hex = NULL;
	t->start_us = t->target->wallclock_us(t->ctx);
	t->stop = GTP_STOP_RUNNING;
	t->run.tsvs.in_use = true;
	gtp_publish(&t->run.active, true);
}

static int start(struct gtp_trace *t, struct gtp_aggregate *aggregates, struct gtp_why *why)
{
	u32 nslots = t->tps.count + GTP_SLOTS_SPARE;
	int rc;

	gtp_trace_drop(t);
	rc = gtp_cpus_get(t, t->buffer_bytes, nslots, why);
	if (rc) {
		gtp_aggregates_free(t, aggregates);
		return rc;
	}
	assign_slots(t);
	gtp_tsvs_reset(&t->run.tsvs);
	gtp_added_begin(t);
	rc = gtp_aggregates_add(t, aggregates, why);
	if (!rc)
		rc = gtp_pairs_add(t, why);
	if (!rc)
		rc = gtp_kstack_get(t, NULL, why);
	if (!rc)
		rc = gtp_tasks_alloc(t, why);
	if (!rc)
		rc = gtp_locations_build(t, why);
	if (!rc)
		rc = gtp_code_make(t, NULL, why);
	if (!rc)
		rc = gtp_arming_all(t, why);
	if (rc) {
		gtp_trace_drop(t);
		return rc;
	}
	begin(t);
	return 0;
}

int gtp_trace_start(struct gtp_trace *t, struct gtp_why *why)
{
	struct gtp_aggregate *aggregates;
	int rc;

	if (gtp_trace_running(t)) {
		gtp_why(why, "a run is going on already; tstop ends it");
		return -EBUSY;
	}
	rc = gtp_check_all(t, why);
	if (!rc)
		rc = gtp_pairs_plan(t, NULL, why);
	if (!rc)
		rc = gtp_aggregates_plan(t, NULL, &aggregates, why);
	if (rc)
		return rc;
	rc = start(t, aggregates, why);
	gtp_dprintf_resume(t);
	return rc;
}

/* --- tracepoints that are defined during a run --- */

static int take_slot(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why)
{
	if (t->slots_used == t->run.nslots) {
		gtp_why(why,
			"tracepoint %u: no more than %u can be added to a run; tstop and tstart again",
			tp->num, GTP_SLOTS_SPARE);
		return -ENOMEM;
	}
	tp->slot = t->slots_used;
	clear_slot(t, tp->slot);
	return 0;
}

/*
 * Recompute the hit plan of the previous location of the same tracepoint of GDB: a flag in each
 * frame says whether the tracepoint has several locations.
 */
static void settle_older(struct gtp_trace *t, const struct gtp_tracepoint *tp)
{
	struct gtp_tracepoint *other = gtp_tracepoint_older(tp);

	if (other && other->loc)
		gtp_hit_settle(&t->run, other);
}

static int aggregate(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why)
{
	struct gtp_aggregate *list;
	int rc = gtp_aggregates_plan(t, tp, &list, why);

	return rc ? rc : gtp_aggregates_add(t, list, why);
}

static void join(struct gtp_trace *t, struct gtp_tracepoint *tp)
{
	t->slots_used++;
	gtp_trigger_add(t, tp);
}

int gtp_trace_install(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why)
{
	int rc;

	tp->defining = false;
	if (!gtp_trace_running(t) || tp->loc)
		return 0;
	settle_older(t, tp);
	gtp_trigger_inherit(t, tp);
	rc = gtp_check_tracepoint(t, tp, why);
	if (!rc)
		rc = take_slot(t, tp, why);
	if (!rc)
		rc = gtp_pairs_plan(t, tp, why);
	if (!rc)
		rc = aggregate(t, tp, why);
	if (!rc)
		rc = gtp_pairs_add(t, why);
	if (!rc)
		rc = gtp_kstack_get(t, tp, why);
	if (!rc)
		rc = gtp_tasks_alloc(t, why);
	if (!rc)
		rc = gtp_code_make(t, tp, why);
	gtp_dprintf_yield(t, tp->addr);
	if (!rc)
		rc = gtp_arming_add(t, tp, why);
	gtp_dprintf_resume(t);
	if (rc)
		gtp_tracepoint_remove(&t->tps, &t->mem, tp);
	else
		join(t, tp);
	return rc;
}

/* --- ending a run --- */

/* End the run and disarm everything. @reason is the reason unless a hit has ended the run. */
static void finish(struct gtp_trace *t, enum gtp_stop reason)
{
	WRITE_ONCE(t->run.active, false);
	gtp_trace_check_clock(t);
	t->run.tsvs.in_use = false;
	if (t->locs)
		t->target->disarm(t->ctx, t->locs);
	gtp_dprintf_leave_run(t);
	gtp_dprintf_rest_adding(t);
	gtp_added_end(t);
	gtp_code_forget(t);
	t->end_untold = gtp_acquire(&t->run.ending) == GTP_ENDING_WRITTEN;
	t->stop = t->end_untold ? t->run.ended_by : reason;
	t->stop_us = t->target->wallclock_us(t->ctx);
	t->nested = gtp_cpus_nested(t);
	gtp_dprintf_resume(t);
}

void gtp_trace_stop(struct gtp_trace *t, enum gtp_stop reason)
{
	if (gtp_trace_running(t))
		finish(t, reason);
}

bool gtp_trace_settle(struct gtp_trace *t)
{
	/*
	 * If @ending is GTP_ENDING_CLAIMED, the hit that ends the run calls ->stopping when it is
	 * done, and then this function is called again.
	 */
	if (!gtp_trace_running(t) || gtp_acquire(&t->run.ending) != GTP_ENDING_WRITTEN)
		return false;
	finish(t, t->run.ended_by);
	return true;
}

/* --- changing a run --- */

int gtp_trace_enable(struct gtp_trace *t, u32 num, u64 addr, bool on)
{
	struct gtp_tracepoint *tp = gtp_tracepoint_find(&t->tps, num, addr);

	if (!tp)
		return -ENOENT;
	gtp_tracepoint_switch(tp, on);
	if (tp->loc)
		gtp_hit_settle(&t->run, tp);
	return 0;
}

/*
 * Remove the locations in a range of addresses from the run's list, and return them. Hits may be in
 * progress, because they do not read ->next.
 */
static struct gtp_location *take_range(struct gtp_trace *t, u64 start, u64 end)
{
	struct gtp_location **at = &t->locs, *taken = NULL;

	while (*at) {
		struct gtp_location *loc = *at;
		u64 addr = gtp_watch_real(loc->addr);

		if (addr < start || addr >= end) {
			at = &loc->next;
			continue;
		}
		*at = loc->next;
		loc->next = taken;
		taken = loc;
	}
	return taken;
}

u32 gtp_trace_forget_range(struct gtp_trace *t, u64 start, u64 end)
{
	struct gtp_location *taken = take_range(t, start, end), *next;
	struct gtp_tracepoint *tp;
	u32 n = 0;

	if (taken && gtp_trace_running(t))
		t->target->disarm(t->ctx, taken);
	for (; taken; taken = next) {
		next = taken->next;
		t->missed += taken->missed;
		gtp_location_free(t, taken);
	}
	for (tp = t->tps.first; tp; tp = tp->next) {
		u64 addr = gtp_watch_real(tp->addr);

		if (addr < start || addr >= end || tp->gone)
			continue;
		tp->gone = true;
		n++;
	}
	return n;
}
