// SPDX-License-Identifier: GPL-2.0-only
/* Machine code for the expressions of a run, where the target makes any. */
#include "hit/hit.h"
#include "session/code.h"

static int make_code_of(struct gtp_trace *t, const struct gtp_tracepoint *tp, struct gtp_expr *e,
			struct gtp_why *why)
{
	struct gtp_why inner = { "" };
	int rc;

	if (!e)
		return 0;
	rc = t->target->code_make(t->ctx, e, tp->addr, &inner);
	if (rc)
		gtp_why(why, "tracepoint %u: %s", tp->num, inner.text);
	return rc;
}

static int make_code(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why)
{
	struct gtp_why inner = { "" };
	const struct gtp_action *a;
	int rc = make_code_of(t, tp, tp->cond, why);

	if (rc || !tp->actions)
		return rc;
	rc = t->target->code_make_actions(t->ctx, tp, &inner);
	if (rc != -EOPNOTSUPP) {
		if (rc)
			gtp_why(why, "tracepoint %u: %s", tp->num, inner.text);
		return rc;
	}
	rc = 0;
	for (a = tp->actions; a && !rc; a = a->next)
		rc = make_code_of(t, tp, a->expr, why);
	return rc;
}

int gtp_code_make(struct gtp_trace *t, struct gtp_tracepoint *only, struct gtp_why *why)
{
	struct gtp_tracepoint *tp;
	int rc;

	if (!t->target->code_begin)
		return 0;
	rc = t->target->code_begin(t->ctx, why);
	if (rc)
		return rc;
	for (tp = only ? only : t->tps.first; tp && !rc; tp = only ? NULL : tp->next) {
		rc = make_code(t, tp, why);
		gtp_hit_settle(&t->run, tp);
	}
	t->target->code_end(t->ctx);
	return rc;
}

void gtp_code_forget(struct gtp_trace *t)
{
	struct gtp_tracepoint *tp;
	const struct gtp_action *a;

	if (!t->target->code_forget)
		return;
	for (tp = t->tps.first; tp; tp = tp->next) {
		tp->code = NULL;
		tp->quick = NULL;
		tp->quickest = NULL;
		if (tp->cond)
			tp->cond->compiled = NULL;
		for (a = tp->actions; a; a = a->next)
			if (a->expr)
				a->expr->compiled = NULL;
	}
	t->target->code_forget(t->ctx);
}
