// SPDX-License-Identifier: GPL-2.0-only
/* Check that the session has what a tracepoint needs: variables, static data, other tracepoints. */
#include "session/added.h"
#include "session/check.h"
#include "session/kstack.h"
#include "session/location.h"
#include "session/tasks.h"
#include "session/trigger.h"
#include "session/watched.h"

static int check_expr(struct gtp_trace *t, const struct gtp_tracepoint *tp, struct gtp_expr *e,
		      u32 action, struct gtp_why *why)
{
	struct ax_error err;
	char text[128];
	int rc;

	if (!e)
		return 0;
	if (ax_verify_tsvs(&e->ax, gtp_tsvs_known, &t->run.tsvs, &err)) {
		ax_error_format(&err, text, sizeof(text));
		return gtp_tracepoint_refuse(tp, action, why, "%s", text);
	}
	rc = gtp_tasks_check(t, tp, &e->ax, action, why);
	if (!rc)
		rc = gtp_added_check(t, tp, e, action, why);
	if (!rc)
		ax_settle_tsvs(&e->ax, t->run.tsvs.ways);
	return rc;
}

int gtp_check_tracepoint(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why)
{
	const struct gtp_action *a;
	char title[GTP_TITLE_MAX];
	u32 n = 0;
	int rc;

	if (tp->sdata && gtp_location_kind(t, tp) != GTP_LOCATION_EVENT) {
		gtp_why(why,
			"tracepoint %u collects static data ($_sdata), which only kernel tracepoints have (strace)",
			tp->num);
		return -EINVAL;
	}
	if (tp->at_return && gtp_location_kind(t, tp) == GTP_LOCATION_EVENT) {
		gtp_why(why,
			"%s names $ret, $latency or $entry_clock, which only functions have: a kernel tracepoint does not return",
			gtp_tracepoint_title(tp, title));
		return -EINVAL;
	}
	rc = gtp_watched_check(tp, why);
	if (!rc)
		rc = check_expr(t, tp, tp->cond, 0, why);
	for (a = tp->actions; a && !rc; a = a->next)
		rc = check_expr(t, tp, a->expr, ++n, why);
	if (!rc)
		rc = gtp_kstack_check(tp, why);
	return rc ? rc : gtp_trigger_check(t, tp, why);
}

int gtp_check_all(struct gtp_trace *t, struct gtp_why *why)
{
	struct gtp_tracepoint *tp;
	int rc = 0;

	gtp_triggers_begin(t);
	for (tp = t->tps.first; tp && !rc; tp = tp->next)
		rc = gtp_check_tracepoint(t, tp, why);
	return rc;
}
