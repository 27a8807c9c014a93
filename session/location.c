// SPDX-License-Identifier: GPL-2.0-only
/* The locations of a run: one for each probed address and kind, with all tracepoints there. */
#include "base/sample.h"
#include "base/space.h"
#include "base/watch.h"
#include "hit/hit.h"
#include "session/location.h"

/*
 * Return the kind of location that a tracepoint needs. A marker is a function that a kernel
 * tracepoint calls only if it has several probes, so its code hardly ever runs. For a tracepoint at
 * a marker, probe the kernel tracepoint instead.
 */
enum gtp_location_kind gtp_location_kind(const struct gtp_trace *t, const struct gtp_tracepoint *tp)
{
	const struct gtp_target_ops *target = t->target;

	if (gtp_space_is(tp->addr))
		return tp->at_return ? GTP_LOCATION_USER_RETURN : GTP_LOCATION_USER;
	if (gtp_watch_is(tp->addr))
		return GTP_LOCATION_WATCH;
	if (gtp_sample_is(tp->addr))
		return GTP_LOCATION_SAMPLE;
	if (tp->is_static || (target->is_marker && target->is_marker(t->ctx, tp->addr)))
		return GTP_LOCATION_EVENT;
	return tp->at_return ? GTP_LOCATION_RETURN : GTP_LOCATION_CODE;
}

static struct gtp_location **bucket(struct gtp_trace *t, u64 addr)
{
	/* Addresses differ mostly in their low bits; the multiplication spreads the differences. */
	u64 mixed = addr * 0x9e3779b97f4a7c15ULL;

	return &t->loc_by_addr[(mixed >> 32) % GTP_LOCATION_BUCKETS];
}

struct gtp_location *gtp_location_find(struct gtp_trace *t, const struct gtp_tracepoint *tp,
				       enum gtp_location_kind kind)
{
	struct gtp_location *loc = *bucket(t, tp->addr);

	while (loc && (loc->addr != tp->addr || loc->kind != kind))
		loc = loc->next_addr;
	return loc;
}

struct gtp_location *gtp_location_alone(struct gtp_trace *t, struct gtp_tracepoint *first,
					enum gtp_location_kind kind, struct gtp_why *why)
{
	struct gtp_location *loc = t->mem.alloc(t->mem.ctx, sizeof(*loc));
	char title[GTP_TITLE_MAX];

	if (!loc) {
		gtp_why(why, "no memory to arm %s", gtp_tracepoint_title(first, title));
		return NULL;
	}
	loc->addr = first->addr;
	loc->kind = kind;
	loc->run = &t->run;
	loc->first = first;
	loc->last = first;
	loc->n = 1;
	first->loc = loc;
	loc->self_trace = first->self_trace;
	return loc;
}

struct gtp_location *gtp_location_new(struct gtp_trace *t, struct gtp_tracepoint *tp,
				      enum gtp_location_kind kind, const struct gtp_location *full,
				      struct gtp_why *why)
{
	struct gtp_location *loc = gtp_location_alone(t, tp, kind, why);

	if (!loc)
		return NULL;
	if (full)
		gtp_location_refuse_full(loc);
	loc->next_addr = *bucket(t, tp->addr);
	*bucket(t, tp->addr) = loc;
	return loc;
}

void gtp_location_refuse_full(struct gtp_location *loc)
{
	gtp_why(&loc->refused, "%u tracepoints are there already; one hit serves no more",
		GTP_HERE_MAX);
}

/*
 * Append a tracepoint to the location's list. Hits may be walking the list, so the store that makes
 * @tp visible comes last.
 */
void gtp_location_append(struct gtp_location *loc, struct gtp_tracepoint *tp)
{
	tp->loc = loc;
	if (tp->self_trace)
		WRITE_ONCE(loc->self_trace, true);
	gtp_publish(&loc->last->next_here, tp);
	gtp_hit_settle(loc->run, loc->last);
	loc->last = tp;
	loc->n++;
}

bool gtp_location_is_full(const struct gtp_location *loc)
{
	return loc->n >= GTP_HERE_MAX && !gtp_location_is_refused(loc);
}

void gtp_location_take(struct gtp_location *loc, struct gtp_tracepoint *tp)
{
	struct gtp_tracepoint **at = &loc->first, *last = NULL;

	while (*at != tp) {
		last = *at;
		at = &(*at)->next_here;
	}
	*at = tp->next_here;
	if (loc->last == tp)
		loc->last = last;
	loc->n--;
	tp->next_here = NULL;
	tp->loc = NULL;
}

void gtp_location_free_alone(struct gtp_trace *t, struct gtp_location *loc)
{
	struct gtp_tracepoint *tp = loc->first;

	while (tp) {
		struct gtp_tracepoint *next = tp->next_here;

		tp->loc = NULL;
		tp->next_here = NULL;
		tp = next;
	}
	t->mem.free(t->mem.ctx, loc);
}

void gtp_location_free(struct gtp_trace *t, struct gtp_location *loc)
{
	struct gtp_location **at = bucket(t, loc->addr);

	while (*at != loc)
		at = &(*at)->next_addr;
	*at = loc->next_addr;
	gtp_location_free_alone(t, loc);
}

void gtp_locations_free(struct gtp_trace *t)
{
	while (t->locs) {
		struct gtp_location *loc = t->locs;

		t->locs = loc->next;
		gtp_location_free(t, loc);
	}
}

int gtp_locations_build(struct gtp_trace *t, struct gtp_why *why)
{
	struct gtp_location **end = &t->locs;
	struct gtp_tracepoint *tp;

	for (tp = t->tps.first; tp; tp = tp->next) {
		enum gtp_location_kind kind = gtp_location_kind(t, tp);
		struct gtp_location *loc = gtp_location_find(t, tp, kind);

		if (loc && !gtp_location_is_full(loc)) {
			gtp_location_append(loc, tp);
			continue;
		}
		loc = gtp_location_new(t, tp, kind, loc, why);
		if (!loc)
			return -ENOMEM;
		*end = loc;
		end = &loc->next;
	}
	return 0;
}

u64 gtp_locations_missed(const struct gtp_trace *t)
{
	const struct gtp_location *loc;
	u64 missed = t->missed;

	for (loc = t->locs; loc; loc = loc->next)
		missed += t->target->missed(t->ctx, loc);
	return missed;
}
