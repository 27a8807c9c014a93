// SPDX-License-Identifier: GPL-2.0-only
/* Finds out which pairs the actions start and end, before anything is armed. */
#include "session/pair.h"

/*
 * struct pair_walk - a walk through the actions of one tracepoint, in their order
 * @pairs: the pairs found so far
 * @check_reads: true in the second walk, which knows what the starts of all tracepoints keep
 * @kept: the kept variables set so far, @nkept of them
 * @used: true if a start follows the last kept variable
 * @ended: bit i is set if the tracepoint has ended pair number i
 * @was_set: bit n is set if the tracepoint has set variable n, a kept one
 * @sets_key: true if the current expression sets a kept variable or ends a pair
 * @last: in the current expression, the variable that has ended a pair, or NULL
 * @action: the number of the action, counted from 1; 0 is the condition
 */
struct pair_walk {
	struct gtp_trace *t;
	struct gtp_tracepoint *tp;
	struct gtp_trace_pairs *pairs;
	bool check_reads;
	u16 kept[GTP_PAIR_KEPT_MAX];
	u32 nkept;
	bool used;
	u32 ended;
	u64 was_set[GTP_TSV_MAX / 64];
	bool sets_key;
	const struct gtp_tsv *last;
	u32 action;
	struct gtp_why *why;
};

static struct gtp_trace_pair *find_or_add(struct pair_walk *w, const struct gtp_tsv *tsv)
{
	const char *name = gtp_tsv_pair_name(tsv);
	struct gtp_trace_pair *pair;
	u32 i;

	for (i = 0; i < w->pairs->n; i++)
		if (!strcmp(w->pairs->pair[i].name, name))
			return &w->pairs->pair[i];
	if (i == GTP_PAIRS_MAX) {
		gtp_tracepoint_refuse(w->tp, w->action, w->why,
				      "$%s is of one pair more than the %u that a run can have",
				      tsv->name, GTP_PAIRS_MAX);
		return NULL;
	}
	w->pairs->n++;
	pair = &w->pairs->pair[i];
	*pair = (struct gtp_trace_pair){ 0 };
	memcpy(pair->name, name, strlen(name) + 1);
	return pair;
}

/* --- setting variables --- */

static int set_kept(struct pair_walk *w, const struct gtp_tsv *tsv)
{
	w->was_set[tsv->num / 64] |= BIT_ULL(tsv->num % 64);
	w->sets_key = true;
	if (w->used)
		w->nkept = 0;
	w->used = false;
	for (u32 i = 0; i < w->nkept; i++)
		if (w->kept[i] == tsv->num)
			return 0;
	if (w->nkept == GTP_PAIR_KEPT_MAX)
		return gtp_tracepoint_refuse(w->tp, w->action, w->why,
					     "$%s is one value more than the %u that a start keeps",
					     tsv->name, GTP_PAIR_KEPT_MAX);
	w->kept[w->nkept++] = tsv->num;
	return 0;
}

static int set_start(struct pair_walk *w, const struct gtp_tsv *tsv)
{
	struct gtp_trace_pair *pair = find_or_add(w, tsv);
	size_t bytes = w->nkept * sizeof(w->kept[0]);

	if (!pair)
		return -EINVAL;
	w->used = true;
	if (!pair->starts && !pair->table) {
		pair->starts = true;
		pair->nkept = w->nkept;
		memcpy(pair->kept, w->kept, bytes);
	}
	if (pair->nkept == w->nkept && !memcmp(pair->kept, w->kept, bytes))
		return 0;
	if (!pair->starts)
		return gtp_tracepoint_refuse(
			w->tp, w->action, w->why,
			"$%s keeps no values in this run, which had no start of it: tstop and tstart again",
			tsv->name);
	return gtp_tracepoint_refuse(
		w->tp, w->action, w->why,
		"$%s is set after other $pair_kept_ variables before; give it another name here",
		tsv->name);
}

static int set_end(struct pair_walk *w, const struct gtp_tsv *tsv)
{
	const struct gtp_trace_pair *pair = find_or_add(w, tsv);

	if (!pair)
		return -EINVAL;
	w->sets_key = true;
	w->last = tsv;
	w->ended |= 1U << (pair - w->pairs->pair);
	return 0;
}

static int set_variable(struct pair_walk *w, const struct gtp_tsv *tsv, bool always)
{
	if (tsv->pair == GTP_TSV_PAIR_SINCE)
		return gtp_tracepoint_refuse(w->tp, w->action, w->why,
					     "$%s is set when its pair ends, and by nothing else",
					     tsv->name);
	if (!w->action || w->tp->dprintf)
		return gtp_tracepoint_refuse(w->tp, w->action, w->why,
					     "$%s is set by a tracepoint's actions only",
					     tsv->name);
	if (tsv->pair == GTP_TSV_PAIR_START)
		return set_start(w, tsv);
	if (!always)
		return gtp_tracepoint_refuse(
			w->tp, w->action, w->why,
			"$%s belongs to a pair: set it unconditionally, not after ?:, && or ||",
			tsv->name);
	return tsv->pair == GTP_TSV_PAIR_END ? set_end(w, tsv) : set_kept(w, tsv);
}

/* --- reading variables --- */

/* True if a pair that the tracepoint has ended provides the value of the variable. */
static bool is_delivered(const struct pair_walk *w, const struct gtp_tsv *tsv)
{
	for (u32 i = 0; i < w->pairs->n; i++) {
		const struct gtp_trace_pair *pair = &w->pairs->pair[i];

		if (!(w->ended & 1U << i))
			continue;
		if (tsv->pair == GTP_TSV_PAIR_SINCE && !strcmp(pair->name, gtp_tsv_pair_name(tsv)))
			return true;
		for (u32 k = 0; tsv->pair == GTP_TSV_PAIR_KEPT && k < pair->nkept; k++)
			if (pair->kept[k] == tsv->num)
				return true;
	}
	return false;
}

static int get_variable(const struct pair_walk *w, const struct gtp_tsv *tsv)
{
	if (tsv->pair == GTP_TSV_PAIR_START || tsv->pair == GTP_TSV_PAIR_END)
		return gtp_tracepoint_refuse(w->tp, w->action, w->why,
					     "$%s can be set, and no expression can read it",
					     tsv->name);
	if (!w->check_reads || is_delivered(w, tsv) ||
	    w->was_set[tsv->num / 64] & BIT_ULL(tsv->num % 64))
		return 0;
	if (tsv->pair == GTP_TSV_PAIR_SINCE)
		return gtp_tracepoint_refuse(
			w->tp, w->action, w->why,
			"$%s has no value here: an earlier action must set $pair_end_%s", tsv->name,
			gtp_tsv_pair_name(tsv));
	return gtp_tracepoint_refuse(
		w->tp, w->action, w->why,
		"$%s has no value here: no earlier action sets it or ends a pair that keeps it",
		tsv->name);
}

/* --- walking --- */

/*
 * If an end has no start, the actions that follow are left out. Machine code leaves out the rest of
 * the same action too, so there must not be any.
 */
static int check_rest(const struct pair_walk *w, const struct ax_insn *insn)
{
	if (!w->last || insn->op == AX_OP_pop || insn->op == AX_OP_end)
		return 0;
	return gtp_tracepoint_refuse(w->tp, w->action, w->why,
				     "nothing may follow the setting of $%s in its action",
				     w->last->name);
}

static int walk_expr(struct pair_walk *w, const struct ax_verified *v)
{
	struct ax_insn insn = { 0 };
	u32 joined = 0; /* the highest target of the jumps so far */
	int rc = 0;

	w->last = NULL;
	while (!rc && ax_next_reached(v, &insn)) {
		u8 rule = ax_op_info[insn.op].rule;
		const struct gtp_tsv *tsv;

		if (rule == AX_RULE_jump && insn.operand > joined)
			joined = (u32)insn.operand;
		rc = check_rest(w, &insn);
		if (rc || rule != AX_RULE_tsv)
			continue;
		tsv = w->t->run.tsvs.slot[insn.operand];
		if (!tsv->pair)
			continue;
		rc = insn.op == AX_OP_setv ? set_variable(w, tsv, insn.pc >= joined) :
					     get_variable(w, tsv);
	}
	return rc;
}

static int walk_tracepoint(struct gtp_trace *t, struct gtp_tracepoint *tp, bool check_reads,
			   struct gtp_why *why)
{
	struct pair_walk w = { .t = t,
			       .tp = tp,
			       .pairs = &t->pairs_planned,
			       .check_reads = check_reads,
			       .why = why };
	struct gtp_action *a;
	int rc = tp->cond ? walk_expr(&w, &tp->cond->ax) : 0;

	for (a = tp->actions; a && !rc; a = a->next) {
		w.action++;
		w.sets_key = false;
		if (a->expr)
			rc = walk_expr(&w, &a->expr->ax);
		a->sets_key = w.sets_key;
	}
	return rc;
}

int gtp_pairs_plan(struct gtp_trace *t, struct gtp_tracepoint *only, struct gtp_why *why)
{
	struct gtp_tracepoint *tp;
	int rc = 0;

	if (only)
		t->pairs_planned = t->pairs;
	else
		t->pairs_planned.n = 0;
	for (int reads = 0; reads < 2; reads++)
		for (tp = only ? only : t->tps.first; tp && !rc; tp = only ? NULL : tp->next)
			rc = walk_tracepoint(t, tp, reads, why);
	return rc;
}
