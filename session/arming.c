// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arms the locations of a run: all of them at its start, or one more while it is active. Reports
 * failures.
 */
#include "base/parse.h"
#include "session/arming.h"
#include "session/location.h"

enum { TOLD_MOST = 64 }; /* most failed locations that are reported one by one */

/* --- arming one location --- */

/*
 * Keep a copy of the format of the location's static data: it must exist as long as the frames,
 * even after the location's module is unloaded.
 */
static void keep_format(struct gtp_trace *t, struct gtp_location *loc)
{
	struct gtp_sdata_format *format = loc->format;

	loc->format = NULL;
	if (!format)
		return;
	format->next = t->formats;
	t->formats = format;
}

static int allow_sdata(struct gtp_trace *t, struct gtp_location *loc, struct gtp_why *why)
{
	struct gtp_why inner = { "" };
	int rc = t->target->sdata(t->ctx, loc, &inner);

	keep_format(t, loc);
	if (rc)
		gtp_why(why, "no static data: %s", inner.text);
	return rc;
}

static bool any_sdata(const struct gtp_location *loc)
{
	const struct gtp_tracepoint *tp = loc->first;

	while (tp && !tp->sdata)
		tp = tp->next_here;
	return tp;
}

static bool any_gone(const struct gtp_location *loc)
{
	const struct gtp_tracepoint *tp = loc->first;

	while (tp && !tp->gone)
		tp = tp->next_here;
	return tp;
}

static const struct gtp_tracepoint *first_fast(const struct gtp_location *loc)
{
	const struct gtp_tracepoint *tp = loc->first;

	while (tp && !tp->fast)
		tp = tp->next_here;
	return tp;
}

/* Return the tracepoint that a message names if the location is refused. */
static const struct gtp_tracepoint *first_asking(const struct gtp_location *loc)
{
	return loc->fast_only ? first_fast(loc) : loc->first;
}

static void disarm_one(struct gtp_trace *t, struct gtp_location *loc)
{
	struct gtp_location *next = loc->next;

	loc->next = NULL;
	t->target->disarm(t->ctx, loc);
	loc->next = next;
}

/* Arm one location. complete() adds the tracepoint and the address to @why later. */
static int arm(struct gtp_trace *t, struct gtp_location *loc, struct gtp_why *why)
{
	int rc;

	if (any_gone(loc)) {
		gtp_why(why, "its module has been unloaded; load it and tstart, or delete it");
		return -ENOENT;
	}
	loc->fast_only = loc->kind != GTP_LOCATION_EVENT && first_fast(loc);
	rc = t->target->arm(t->ctx, loc, why);
	if (rc || !any_sdata(loc))
		return rc;
	rc = allow_sdata(t, loc, why);
	if (rc)
		disarm_one(t, loc);
	return rc;
}

/* Activate the probes that ->arm has only prepared. */
static int arm_done(struct gtp_trace *t, struct gtp_location *first, struct gtp_why *why)
{
	return t->target->arm_done ? t->target->arm_done(t->ctx, first, why) : 0;
}

/* --- reporting refusals --- */

/* complete - write a message: the tracepoint, its address and the reason of the refusal, @words */
static void complete(struct gtp_why *why, const struct gtp_tracepoint *tp, const char *words)
{
	char title[GTP_TITLE_MAX];
	struct gtp_why inner;

	gtp_why(&inner, "%s", words);
	gtp_tracepoint_title(tp, title);
	if (tp->dprintf)
		gtp_why(why, "%s: %s", title, inner.text);
	else
		gtp_why(why, "%s at 0x%llx: %s", title, tp->addr, inner.text);
}

static void refuse_location(struct gtp_location *loc, const struct gtp_why *why)
{
	gtp_why(&loc->refused, "%s", *why->text ? why->text : "no probe can be there");
}

void gtp_arming_say(struct gtp_trace *t, const struct gtp_tracepoint *tp)
{
	char text[480], name[128] = "", title[GTP_TITLE_MAX] = "dprintf";

	if (t->target->name)
		t->target->name(t->ctx, tp->addr, name, sizeof(name));
	if (!tp->dprintf)
		gtp_tracepoint_title(tp, title);
	snprintf(text, sizeof(text), "gdbtp: %s is not armed at 0x%llx%s%s%s: %s\n", title,
		 tp->addr, *name ? " (" : "", name, *name ? ")" : "", tp->loc->refused.text);
	gtp_trace_tell(t, text);
}

static bool is_refused(const struct gtp_tracepoint *tp)
{
	return !tp->loc || gtp_location_is_refused(tp->loc);
}

/* True if no tracepoint with the number of @tp, which is the newest of them, is armed. */
static bool is_armed_nowhere(const struct gtp_tracepoint *tp)
{
	while (tp && is_refused(tp))
		tp = gtp_tracepoint_older(tp);
	return !tp;
}

static void say_nowhere(struct gtp_trace *t)
{
	const struct gtp_tracepoint *tp;
	char text[80];
	u32 n = 0;

	for (tp = t->tps.first; tp && n < TOLD_MOST; tp = tp->next) {
		if (gtp_tracepoint_newest(&t->tps, tp->num) != tp || !is_armed_nowhere(tp))
			continue;
		snprintf(text, sizeof(text), "gdbtp: tracepoint %u is armed nowhere\n", tp->num);
		gtp_trace_tell(t, text);
		n++;
	}
}

static void say_all(struct gtp_trace *t, u32 refused, u32 total)
{
	const struct gtp_tracepoint *tp;
	char text[160];
	u32 n = 0;

	for (tp = t->tps.first; tp && n < TOLD_MOST; tp = tp->next) {
		if (!is_refused(tp))
			continue;
		gtp_arming_say(t, tp);
		n++;
	}
	say_nowhere(t);
	snprintf(text, sizeof(text),
		 "gdbtp: %u of %u places %s not armed; monitor probes lists them all\n", refused,
		 total, refused == 1 ? "is" : "are");
	gtp_trace_tell(t, text);
}

/* --- arming all locations --- */

static void progress(struct gtp_trace *t, const char *what, u32 done, u32 total)
{
	if (t->target->progress)
		t->target->progress(t->ctx, what, done, total);
}

static u32 count(const struct gtp_trace *t, bool refused)
{
	const struct gtp_location *loc;
	u32 n = 0;

	for (loc = t->locs; loc; loc = loc->next)
		n += !refused || gtp_location_is_refused(loc);
	return n;
}

static const struct gtp_location *first_refused(const struct gtp_trace *t)
{
	const struct gtp_location *loc = t->locs;

	while (loc && !gtp_location_is_refused(loc))
		loc = loc->next;
	return loc;
}

/* Arm each location; stop at an error that concerns more than one location. */
static int arm_each(struct gtp_trace *t, u32 total, struct gtp_why *why)
{
	struct gtp_location *loc;
	u32 done = 0;

	for (loc = t->locs; loc; loc = loc->next) {
		struct gtp_why inner = { "" };
		int rc = 0;

		if (!gtp_location_is_refused(loc))
			rc = arm(t, loc, &inner);
		if (gtp_why_is_general(rc)) {
			complete(why, first_asking(loc), inner.text);
			return rc;
		}
		if (rc)
			refuse_location(loc, &inner);
		if (t->strict && gtp_location_is_refused(loc))
			return 0;
		progress(t, "arming tracepoints", ++done, total);
	}
	return 0;
}

static void say_no_room(struct gtp_trace *t)
{
	const struct gtp_location *loc;
	char text[160];
	u32 n = 0;

	for (loc = t->locs; loc; loc = loc->next)
		n += loc->no_room;
	snprintf(
		text, sizeof(text),
		"gdbtp: hits of %u place%s cost more: there is no room for more jump pads (monitor jumps)\n",
		n, n == 1 ? "" : "s");
	if (n)
		gtp_trace_tell(t, text);
}

/* Decide whether the run may start with the locations that could be armed. */
static int judge(struct gtp_trace *t, u32 total, struct gtp_why *why)
{
	const struct gtp_location *loc = first_refused(t);
	u32 refused = count(t, true);

	if (!refused)
		return 0;
	if (!t->strict && refused < total) {
		say_all(t, refused, total);
		return 0;
	}
	if (!t->strict && total > 1)
		say_all(t, refused, total);
	complete(why, first_asking(loc), loc->refused.text);
	return -EOPNOTSUPP;
}

int gtp_arming_all(struct gtp_trace *t, struct gtp_why *why)
{
	u32 total = count(t, false);
	int rc = arm_each(t, total, why);

	if (!rc && !(t->strict && first_refused(t)))
		rc = arm_done(t, t->locs, why);
	if (rc == -EINTR)
		gtp_why(why, "interrupted: nothing is armed");
	if (!rc)
		rc = judge(t, total, why);
	if (!rc)
		say_no_room(t);
	if (rc && t->locs)
		t->target->disarm(t->ctx, t->locs);
	return rc;
}

/* --- arming one more location --- */

/*
 * Refuse a tracepoint that requires a fast probe if its location is already armed with a slow
 * probe.
 */
static int check_fast(const struct gtp_location *loc, const struct gtp_tracepoint *tp,
		      struct gtp_why *why)
{
	if (!tp->fast || loc->fast || loc->kind == GTP_LOCATION_EVENT)
		return 0;
	gtp_location_not_fast(loc, why);
	return -EOPNOTSUPP;
}

static int join_armed(struct gtp_trace *t, struct gtp_location *loc, struct gtp_tracepoint *tp,
		      struct gtp_why *why)
{
	int rc = tp->sdata ? allow_sdata(t, loc, why) : 0;

	if (!rc)
		rc = check_fast(loc, tp, why);
	if (!rc && t->target->widen)
		rc = t->target->widen(t->ctx, loc, why);
	return rc;
}

int gtp_arming_join(struct gtp_trace *t, struct gtp_location *loc, struct gtp_tracepoint *tp,
		    struct gtp_why *why)
{
	struct gtp_why inner = { "" };
	int rc;

	if (gtp_location_is_refused(loc)) {
		inner = loc->refused;
		rc = t->strict ? -EOPNOTSUPP : 0;
	} else {
		rc = join_armed(t, loc, tp, &inner);
	}
	if (rc)
		complete(why, tp, inner.text);
	else
		gtp_location_append(loc, tp);
	return rc;
}

/* Return the result for a location that is refused: an error if @t->strict is set, otherwise 0. */
static int stays_refused(struct gtp_trace *t, const struct gtp_location *loc, struct gtp_why *why)
{
	if (!t->strict)
		return 0;
	complete(why, first_asking(loc), loc->refused.text);
	return -EOPNOTSUPP;
}

int gtp_arming_one(struct gtp_trace *t, struct gtp_location *loc, struct gtp_why *why)
{
	struct gtp_why inner = { "" };
	int rc = arm(t, loc, &inner);

	if (!rc)
		rc = arm_done(t, loc, &inner);
	if (!rc && gtp_location_is_refused(loc)) {
		inner = loc->refused;
		rc = -EOPNOTSUPP;
	}
	if (!rc)
		return 0;
	t->target->disarm(t->ctx, loc);
	refuse_location(loc, &inner);
	if (!gtp_why_is_general(rc))
		return stays_refused(t, loc, why);
	complete(why, first_asking(loc), inner.text);
	return rc;
}

/*
 * Make a location for a tracepoint. @full is the existing location if that has no room for @tp;
 * otherwise NULL
 */
static int add_location(struct gtp_trace *t, struct gtp_tracepoint *tp, enum gtp_location_kind kind,
			const struct gtp_location *full, struct gtp_why *why)
{
	struct gtp_location *loc = gtp_location_new(t, tp, kind, full, why);
	struct gtp_location **end = &t->locs;
	int rc;

	if (!loc)
		return -ENOMEM;
	rc = full ? stays_refused(t, loc, why) : gtp_arming_one(t, loc, why);
	if (rc) {
		gtp_location_free(t, loc);
		return rc;
	}
	while (*end)
		end = &(*end)->next;
	*end = loc;
	return 0;
}

int gtp_arming_add(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why)
{
	enum gtp_location_kind kind = gtp_location_kind(t, tp);
	struct gtp_location *loc = gtp_location_find(t, tp, kind);
	bool full = loc && gtp_location_is_full(loc);
	int rc = loc && !full ? gtp_arming_join(t, loc, tp, why) :
				add_location(t, tp, kind, loc, why);

	if (!rc && is_refused(tp))
		gtp_arming_say(t, tp);
	return rc;
}
