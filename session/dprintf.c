// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arms GDB's dprintfs like tracepoints, in a run or without one.
 *
 * Hits of a dprintf need each CPU's struct gtp_cpu. They use those of the last run, because
 * dprintfs write no frames. Before the first run, they are allocated with the smallest buffers.
 */
#include "base/parse.h"
#include "session/aggregate.h"
#include "session/arming.h"
#include "session/check.h"
#include "session/cpus.h"
#include "session/dprintf.h"
#include "session/location.h"
#include "session/pair.h"

static bool is_joined(const struct gtp_dprintf *dp)
{
	return !dp->own && dp->tps->loc;
}

static bool is_armed(const struct gtp_dprintf *dp)
{
	const struct gtp_location *loc = gtp_dprintf_location(dp);

	return dp->inserted && loc && !gtp_location_is_refused(loc);
}

bool gtp_dprintf_any(const struct gtp_trace *t)
{
	const struct gtp_dprintf *dp;

	for (dp = t->dprintfs.list; dp; dp = dp->next)
		if (is_armed(dp))
			return true;
	return false;
}

/* Without a run, set @active of the run while a dprintf is armed. A run sets it itself. */
static void settle_active(struct gtp_trace *t)
{
	if (!gtp_trace_running(t))
		gtp_publish(&t->run.active, gtp_dprintf_any(t));
}

/* --- sums of counters --- */

static void add_counts(const struct gtp_trace *t, const struct gtp_dprintf *dp,
		       struct gtp_dprintf_sum *sum)
{
	const struct gtp_tracepoint *tp;
	u32 i;

	for (tp = dp->tps; tp; tp = tp->next) {
		for (i = 0; i < t->dprintfs.ncpus; i++) {
			sum->hits += READ_ONCE(tp->dprintf[i].hits);
			sum->dropped += READ_ONCE(tp->dprintf[i].dropped);
		}
	}
}

void gtp_dprintf_sum(const struct gtp_trace *t, const struct gtp_dprintf *dp,
		     struct gtp_dprintf_sum *sum)
{
	const struct gtp_dprintfs *all = &t->dprintfs;

	*sum = (struct gtp_dprintf_sum){ 0 };
	if (dp) {
		add_counts(t, dp, sum);
		return;
	}
	*sum = (struct gtp_dprintf_sum){ all->hits, all->dropped, all->missed, all->nested };
	if (!gtp_trace_running(t))
		sum->nested += gtp_cpus_nested(t) - t->nested;
	for (dp = all->list; dp; dp = dp->next) {
		add_counts(t, dp, sum);
		if (dp->own)
			sum->missed += t->target->missed(t->ctx, dp->own);
	}
}

static void keep_figures(struct gtp_trace *t, const struct gtp_dprintf *dp)
{
	struct gtp_dprintf_sum sum;

	gtp_dprintf_sum(t, dp, &sum);
	t->dprintfs.hits += sum.hits;
	t->dprintfs.dropped += sum.dropped;
}

/* --- disarming dprintfs --- */

/* Return the locations of all standalone dprintfs with @leaves set, as a list for ->disarm. */
static struct gtp_location *leaving(struct gtp_trace *t)
{
	struct gtp_location *list = NULL;
	struct gtp_dprintf *dp;

	for (dp = t->dprintfs.list; dp; dp = dp->next) {
		if (!dp->leaves || !dp->own)
			continue;
		dp->own->next = list;
		list = dp->own;
	}
	return list;
}

/* Disarm all dprintfs with @leaves set, together, so that one wait for hits is enough. */
static void rest(struct gtp_trace *t)
{
	struct gtp_location *list = leaving(t);
	struct gtp_dprintf *dp;

	if (list)
		t->target->disarm(t->ctx, list);
	for (dp = t->dprintfs.list; dp; dp = dp->next) {
		if (dp->leaves && dp->own) {
			t->dprintfs.missed += dp->own->missed;
			gtp_location_free_alone(t, dp->own);
			dp->own = NULL;
		}
		dp->leaves = false;
	}
}

/*
 * Disarm the standalone dprintfs in a range of addresses. Return true if there was one; the caller
 * must arm it again.
 */
static bool rest_at(struct gtp_trace *t, u64 start, u64 end)
{
	struct gtp_dprintf *dp;
	bool any = false;

	for (dp = t->dprintfs.list; dp; dp = dp->next) {
		dp->leaves = dp->addr >= start && dp->addr < end;
		any |= dp->leaves && dp->own;
	}
	rest(t);
	return any;
}

/* The patched bytes of a jump that cover an address begin less than this many bytes before it. */
enum { JUMP_REACH = 32 };

void gtp_dprintf_yield(struct gtp_trace *t, u64 addr)
{
	rest_at(t, addr - JUMP_REACH, addr + 1);
}

static bool adds(const struct gtp_dprintf *dp)
{
	const struct gtp_tracepoint *tp;

	for (tp = dp->tps; tp; tp = tp->next)
		if ((tp->cond && tp->cond->ax.flags & AX_F_ADDS) ||
		    tp->actions->expr->ax.flags & AX_F_ADDS)
			return true;
	return false;
}

void gtp_dprintf_rest_adding(struct gtp_trace *t)
{
	struct gtp_dprintf *dp;

	for (dp = t->dprintfs.list; dp; dp = dp->next)
		dp->leaves = dp->own && adds(dp);
	rest(t);
}

void gtp_dprintf_suspend(struct gtp_trace *t)
{
	rest_at(t, 0, ~0ULL);
	settle_active(t);
}

/* Remove a dprintf that is not armed from the list and free it. */
static void drop(struct gtp_trace *t, struct gtp_dprintf **at)
{
	struct gtp_dprintf *dp = *at;

	keep_figures(t, dp);
	*at = dp->next;
	t->dprintfs.n--;
	gtp_dprintf_free(&t->dprintfs.parts, &t->mem, dp);
}

static void drop_removed(struct gtp_trace *t)
{
	struct gtp_dprintf **at = &t->dprintfs.list;

	while (*at) {
		if (!(*at)->inserted && !gtp_dprintf_location(*at))
			drop(t, at);
		else
			at = &(*at)->next;
	}
}

void gtp_dprintf_leave_run(struct gtp_trace *t)
{
	struct gtp_dprintf *dp;
	struct gtp_tracepoint *tp;

	for (dp = t->dprintfs.list; dp; dp = dp->next)
		for (tp = is_joined(dp) ? dp->tps : NULL; tp; tp = tp->next)
			if (tp->loc)
				gtp_location_take(tp->loc, tp);
	drop_removed(t);
}

u32 gtp_dprintf_forget_range(struct gtp_trace *t, u64 start, u64 end)
{
	struct gtp_dprintf *dp;
	u32 n = 0;

	rest_at(t, start, end);
	for (dp = t->dprintfs.list; dp; dp = dp->next) {
		if (dp->addr < start || dp->addr >= end || dp->gone)
			continue;
		n += dp->inserted;
		dp->gone = true;
	}
	drop_removed(t);
	settle_active(t);
	return n;
}

/* --- arming dprintfs --- */

static int join(struct gtp_trace *t, struct gtp_dprintf *dp, struct gtp_location *loc,
		struct gtp_why *why)
{
	struct gtp_tracepoint *tp;
	int rc;

	for (tp = dp->tps; tp; tp = tp->next) {
		/*
		 * Only the first call can fail: after it, there is nothing left that could fail for
		 * the other tracepoints.
		 */
		rc = gtp_arming_join(t, loc, tp, why);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Give a dprintf its own location. @run_loc is the run's location at that address if it is full or
 * refused; otherwise NULL
 */
static int stand_alone(struct gtp_trace *t, struct gtp_dprintf *dp, enum gtp_location_kind kind,
		       const struct gtp_location *run_loc, struct gtp_why *why)
{
	struct gtp_location *loc = gtp_location_alone(t, dp->tps, kind, why);
	struct gtp_tracepoint *tp;
	int rc = 0;

	if (!loc)
		return -ENOMEM;
	for (tp = dp->tps->next; tp; tp = tp->next)
		gtp_location_append(loc, tp);
	if (run_loc && gtp_location_is_refused(run_loc))
		loc->refused = run_loc->refused;
	else if (run_loc)
		gtp_location_refuse_full(loc);
	else
		rc = gtp_arming_one(t, loc, why);
	if (rc) {
		gtp_location_free_alone(t, loc);
		return rc;
	}
	dp->own = loc;
	return 0;
}

static int check(struct gtp_trace *t, const struct gtp_dprintf *dp, struct gtp_why *why)
{
	struct gtp_aggregate *none;
	struct gtp_tracepoint *tp;
	int rc = 0;

	for (tp = dp->tps; tp && !rc; tp = tp->next) {
		rc = gtp_check_tracepoint(t, tp, why);
		if (!rc)
			rc = gtp_pairs_plan(t, tp, why);
		if (!rc)
			rc = gtp_aggregates_plan(t, tp, &none, why);
	}
	return rc;
}

/* Arm @dp, at its own location or by joining one of the run. Return 0 or -errno. */
static int arm(struct gtp_trace *t, struct gtp_dprintf *dp, struct gtp_why *why)
{
	enum gtp_location_kind kind = gtp_location_kind(t, dp->tps);
	struct gtp_location *loc = NULL;
	int rc = check(t, dp, why);

	if (rc)
		return rc;
	if (gtp_trace_running(t))
		loc = gtp_location_find(t, dp->tps, kind);
	if (loc && !gtp_location_is_refused(loc) && loc->n + dp->n <= GTP_HERE_MAX)
		return join(t, dp, loc, why);
	return stand_alone(t, dp, kind, loc, why);
}

static bool is_refused(const struct gtp_dprintf *dp)
{
	return dp->own && gtp_location_is_refused(dp->own);
}

static int get_ready(struct gtp_trace *t, struct gtp_why *why)
{
	int rc = 0;

	if (!t->run.cpus)
		rc = gtp_cpus_get(t, GTP_BUFFER_MIN, 0, why);
	if (!rc && t->target->lines_get)
		rc = t->target->lines_get(t->ctx, why);
	if (!rc)
		t->dprintfs.ncpus = t->run.ncpus;
	return rc;
}

void gtp_dprintf_resume(struct gtp_trace *t)
{
	struct gtp_dprintf *dp;
	struct gtp_why why;
	char text[240];

	for (dp = t->dprintfs.list; dp; dp = dp->next) {
		if (dp->gone || gtp_dprintf_location(dp))
			continue;
		if (!get_ready(t, &why) && !arm(t, dp, &why)) {
			if (is_refused(dp))
				gtp_arming_say(t, dp->tps);
			continue;
		}
		snprintf(text, sizeof(text), "gdbtp: %s\n", why.text);
		gtp_trace_tell(t, text);
	}
	settle_active(t);
}

/* --- the packets Z0 and z0 --- */

static struct gtp_dprintf *find_at(struct gtp_trace *t, u64 addr)
{
	struct gtp_dprintf *dp = t->dprintfs.list;

	while (dp && (dp->addr != addr || !dp->inserted))
		dp = dp->next;
	return dp;
}

static void set_enabled(struct gtp_dprintf *dp, bool on)
{
	struct gtp_tracepoint *tp;

	for (tp = dp->tps; tp; tp = tp->next)
		gtp_tracepoint_switch(tp, on);
	dp->inserted = on;
}

/* Disable a dprintf's tracepoints; if the dprintf has its own location, mark it to be disarmed. */
static void take_back(struct gtp_dprintf *dp)
{
	set_enabled(dp, false);
	dp->leaves = true;
}

static void finish_removal(struct gtp_trace *t)
{
	rest(t);
	drop_removed(t);
	settle_active(t);
}

void gtp_dprintf_remove(struct gtp_trace *t, u64 addr)
{
	struct gtp_dprintf *dp = find_at(t, addr);

	if (!dp)
		return;
	take_back(dp);
	finish_removal(t);
}

void gtp_dprintf_clear(struct gtp_trace *t, bool persistent)
{
	struct gtp_dprintf *dp;

	for (dp = t->dprintfs.list; dp; dp = dp->next)
		if (persistent || !dp->persist)
			take_back(dp);
	finish_removal(t);
}

/*
 * Find a dprintf with the same text as @new: it is inserted already, or was removed but is still at
 * a location of the run.
 */
static struct gtp_dprintf *same_as(struct gtp_trace *t, const struct gtp_dprintf *new)
{
	struct gtp_dprintf *dp = t->dprintfs.list;

	while (dp && (dp->gone || strcmp(dp->text, new->text)))
		dp = dp->next;
	return dp;
}

static void append(struct gtp_trace *t, struct gtp_dprintf *dp)
{
	struct gtp_dprintf **at = &t->dprintfs.list;

	while (*at)
		at = &(*at)->next;
	*at = dp;
	t->dprintfs.n++;
}

/*
 * Disarm the dprintfs shortly before @dp, because their jump may be the reason why @dp was refused.
 * If @dp is armed first, the other dprintf gets no jump, and both can be armed. Return true if
 * there was such a dprintf.
 */
static bool make_way(struct gtp_trace *t, struct gtp_dprintf *dp)
{
	bool refused = is_refused(dp);

	if (!rest_at(t, dp->addr - JUMP_REACH, dp->addr))
		return false;
	if (refused) {
		gtp_location_free_alone(t, dp->own);
		dp->own = NULL;
	}
	return true;
}

static int insert_new(struct gtp_trace *t, struct gtp_dprintf *dp, struct gtp_why *why)
{
	bool others = false;
	int rc;

	append(t, dp);
	rc = arm(t, dp, why);
	if (rc || is_refused(dp)) {
		others = make_way(t, dp);
		if (others)
			rc = arm(t, dp, why);
	}
	if (is_refused(dp))
		gtp_arming_say(t, dp->tps);
	if (rc) {
		take_back(dp);
		drop_removed(t);
	}
	if (others)
		gtp_dprintf_resume(t);
	settle_active(t);
	return rc;
}

int gtp_dprintf_insert(struct gtp_trace *t, const char *text, struct gtp_why *why)
{
	struct gtp_dprintf *new, *same, *old;
	int rc = get_ready(t, why);

	if (rc)
		return rc;
	if (t->dprintfs.n >= GTP_DPRINTFS_MAX) {
		gtp_why(why, "there are dprintfs at %u places, more are not possible",
			t->dprintfs.n);
		return -EINVAL;
	}
	rc = gtp_dprintf_parse(&t->dprintfs.parts, &t->mem, text, t->dprintfs.ncpus, &new, why);
	if (rc)
		return rc;
	same = same_as(t, new);
	old = find_at(t, new->addr);
	if (old && old != same)
		gtp_dprintf_remove(t, new->addr);
	if (!same)
		return insert_new(t, new, why);
	gtp_dprintf_free(&t->dprintfs.parts, &t->mem, new);
	set_enabled(same, true);
	settle_active(t);
	return 0;
}
