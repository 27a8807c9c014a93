// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prepares tracepoints that actions can enable or disable, and tracepoints at which hits of GDB's
 * own tasks count.
 */
#include "hit/hit.h"
#include "session/trigger.h"

/*
 * struct walk - a walk through the expressions of one tracepoint
 * @action: the number of the action, counted from 1; 0 is the condition
 * @known: true if the value on top of the stack is the constant @value
 */
struct walk {
	struct gtp_trace *t;
	struct gtp_tracepoint *tp;
	u32 action;
	bool known;
	u64 value;
	struct gtp_why *why;
};

/* --- marking the tracepoints that can be switched --- */

/*
 * Mark a tracepoint that actions may switch, so that its hits check ->on. Hits may be in progress.
 */
static void mark(struct gtp_trace *t, struct gtp_tracepoint *tp)
{
	if (tp->switched)
		return;
	tp->switched = true;
	if (gtp_trace_running(t) && tp->loc)
		gtp_hit_settle(&t->run, tp);
}

static void mark_all(struct gtp_trace *t)
{
	struct gtp_tracepoint *tp;

	t->all_switched = true;
	for (tp = t->tps.first; tp; tp = tp->next)
		mark(t, tp);
}

static int mark_number(struct walk *w, const char *name)
{
	struct gtp_tracepoint *tp = NULL;

	if (w->value <= GTP_TP_NUM_MAX)
		tp = gtp_tracepoint_newest(&w->t->tps, (u32)w->value);
	if (!tp)
		return gtp_tracepoint_refuse(w->tp, w->action, w->why,
					     "$%s: there is no tracepoint %lld", name,
					     (s64)w->value);
	for (; tp; tp = gtp_tracepoint_older(tp))
		mark(w->t, tp);
	return 0;
}

void gtp_triggers_begin(struct gtp_trace *t)
{
	struct gtp_tracepoint *tp;

	t->all_switched = false;
	for (tp = t->tps.first; tp; tp = tp->next)
		tp->switched = false;
}

/* --- walking expressions --- */

static int switches(struct walk *w, enum ax_op op, const struct gtp_tsv *tsv)
{
	if (op != AX_OP_setv)
		return gtp_tracepoint_refuse(w->tp, w->action, w->why,
					     "$%s can be set, and no expression can read it",
					     tsv->name);
	if (!w->action || w->tp->dprintf)
		return gtp_tracepoint_refuse(w->tp, w->action, w->why,
					     "$%s is set by a tracepoint's actions only",
					     tsv->name);
	if (w->known && w->value)
		return mark_number(w, tsv->name);
	mark_all(w->t);
	return 0;
}

static int look_at(struct walk *w, const struct ax_insn *insn)
{
	if (ax_op_info[insn->op].rule != AX_RULE_tsv)
		return 0;
	if (insn->operand == GTP_TSV_SELF_TRACE)
		w->tp->self_trace = true;
	if (insn->operand == GTP_TSV_ENABLE || insn->operand == GTP_TSV_DISABLE)
		return switches(w, insn->op, w->t->run.tsvs.slot[insn->operand]);
	return 0;
}

static bool is_const(enum ax_op op)
{
	return op == AX_OP_const8 || op == AX_OP_const16 || op == AX_OP_const32 ||
	       op == AX_OP_const64;
}

/*
 * True for an extension that does not change the constant. GDB emits one for a cast of a constant.
 */
static bool extends_only(const struct walk *w, const struct ax_insn *insn)
{
	return (insn->op == AX_OP_ext || insn->op == AX_OP_zero_ext) && insn->operand > 16 &&
	       w->value <= GTP_TP_NUM_MAX;
}

static int walk_expr(struct walk *w, const struct ax_verified *v)
{
	struct ax_insn insn = { 0 };
	int rc = 0;

	w->known = false;
	while (!rc && ax_next_reached(v, &insn)) {
		if (v->points[insn.pc].flags & AX_P_TARGET)
			w->known = false;
		rc = look_at(w, &insn);
		if (is_const(insn.op)) {
			w->known = true;
			w->value = insn.operand;
		} else if (insn.op != AX_OP_setv && !extends_only(w, &insn)) {
			w->known = false;
		}
	}
	return rc;
}

int gtp_trigger_check(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why)
{
	struct walk w = { .t = t, .tp = tp, .why = why };
	const struct gtp_action *a;
	int rc;

	tp->self_trace = false;
	rc = tp->cond ? walk_expr(&w, &tp->cond->ax) : 0;
	for (a = tp->actions; a && !rc; a = a->next) {
		w.action++;
		if (a->expr)
			rc = walk_expr(&w, &a->expr->ax);
	}
	return rc;
}

/* --- when a run begins or a tracepoint joins --- */

void gtp_trigger_inherit(struct gtp_trace *t, struct gtp_tracepoint *tp)
{
	const struct gtp_tracepoint *other = gtp_tracepoint_older(tp);

	tp->on = tp->enabled;
	tp->switched |= t->all_switched;
	if (!other || !other->switched)
		return;
	tp->switched = true;
	tp->on = READ_ONCE(other->on);
}

void gtp_trigger_add(struct gtp_trace *t, struct gtp_tracepoint *tp)
{
	struct gtp_tracepoint **bucket = &t->run.by_num[tp->num % GTP_RUN_BUCKETS];

	tp->next_run = *bucket;
	gtp_publish(bucket, tp);
}

void gtp_triggers_drop(struct gtp_trace *t)
{
	memset(t->run.by_num, 0, sizeof(t->run.by_num));
}
