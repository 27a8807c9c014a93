// SPDX-License-Identifier: GPL-2.0-only
/* Compiles the expressions of a run to machine code, if the target has a compiler. */
#include "base/parse.h"
#include "base/moving.h"
#include "hit/hit.h"
#include "session/code.h"

/*
 * Compile an expression. A lack of room for the code (-ENOSPC) is not an error: the expression is
 * interpreted instead.
 */
static int make_code_of(struct gtp_trace *t, const struct gtp_tracepoint *tp, struct gtp_expr *e,
			bool *full, struct gtp_why *why)
{
	struct gtp_why inner = { "" };
	int rc;

	if (!e)
		return 0;
	rc = t->target->code_make(t->ctx, e, tp->addr, &inner);
	if (rc == -ENOSPC) {
		*full = true;
		return 0;
	}
	if (rc)
		gtp_why(why, "tracepoint %u: %s", tp->num, inner.text);
	return rc;
}

static int make_code(struct gtp_trace *t, struct gtp_tracepoint *tp, bool *full,
		     struct gtp_why *why)
{
	struct gtp_why inner = { "" };
	const struct gtp_action *a;
	int rc;

	/*
	 * Compiled code contains one pc, but each hit of a watchpoint or a sample has its own, so
	 * the interpreter must run the expression.
	 */
	if (gtp_moving_is(tp->addr))
		return 0;
	rc = make_code_of(t, tp, tp->cond, full, why);
	if (rc || !tp->actions)
		return rc;
	rc = t->target->code_make_actions(t->ctx, tp, &inner);
	if (rc == -ENOSPC) {
		*full = true;
		return 0;
	}
	if (rc != -EOPNOTSUPP) {
		if (rc)
			gtp_why(why, "tracepoint %u: %s", tp->num, inner.text);
		return rc;
	}
	rc = 0;
	for (a = tp->actions; a && !rc; a = a->next)
		rc = make_code_of(t, tp, a->expr, full, why);
	return rc;
}

static void say_interpreted(struct gtp_trace *t, u32 n)
{
	char text[160];

	snprintf(
		text, sizeof(text),
		"gdbtp: %u tracepoint%s interpreted, which costs more: no room for more machine code (monitor jit)\n",
		n, n == 1 ? " is" : "s are");
	if (n)
		gtp_trace_tell(t, text);
}

int gtp_code_make(struct gtp_trace *t, struct gtp_tracepoint *only, struct gtp_why *why)
{
	struct gtp_tracepoint *tp;
	u32 interpreted = 0;
	int rc;

	if (!t->target->code_begin)
		return 0;
	rc = t->target->code_begin(t->ctx, &t->run.tsvs, why);
	if (rc)
		return rc;
	for (tp = only ? only : t->tps.first; tp && !rc; tp = only ? NULL : tp->next) {
		bool full = false;

		rc = make_code(t, tp, &full, why);
		gtp_hit_settle(&t->run, tp);
		interpreted += full;
	}
	t->target->code_end(t->ctx);
	if (!rc)
		say_interpreted(t, interpreted);
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
		/*
		 * Keep @start: it has the frame size by which quick hits are converted to bytes
		 * later.
		 */
		tp->plan = (struct gtp_hit_plan){ .start = tp->plan.start };
		if (tp->cond)
			tp->cond->compiled = NULL;
		for (a = tp->actions; a; a = a->next)
			if (a->expr)
				a->expr->compiled = NULL;
	}
	t->target->code_forget(t->ctx);
}
