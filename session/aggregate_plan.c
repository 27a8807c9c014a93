// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds out which aggregations the actions update, and with which keys, before anything is armed.
 */
#include "session/aggregate.h"

/*
 * struct walk - a walk through the actions of one tracepoint, in their order
 * @list: the new aggregations so far
 * @key: the keys set so far, @nkeys of them
 * @used: true if an update follows the last key
 * @key_set: true if the current expression sets a key
 * @action: the number of the action, counted from 1
 */
struct walk {
	struct gtp_trace *t;
	struct gtp_tracepoint *tp;
	struct gtp_aggregate **list;
	struct gtp_tsv *key[GTP_AGGR_KEYS_MAX];
	u32 nkeys;
	bool used;
	bool key_set;
	u32 action;
	struct gtp_why *why;
};

static bool is_aggregation(const struct walk *w, u32 num)
{
	u8 way = w->t->run.tsvs.ways[num];

	return way == AX_TSV_UPDATE || way == AX_TSV_COUNT;
}

/* --- keys of aggregations --- */

static int set_key(struct walk *w, struct gtp_tsv *key, bool always)
{
	u32 i;

	if (!always)
		return gtp_tracepoint_refuse(
			w->tp, w->action, w->why,
			"$%s is a key: set it unconditionally, not after ?:, && or ||", key->name);
	w->key_set = true;
	if (w->used)
		w->nkeys = 0;
	w->used = false;
	for (i = 0; i < w->nkeys; i++)
		if (w->key[i] == key)
			return 0;
	if (w->nkeys == GTP_AGGR_KEYS_MAX)
		return gtp_tracepoint_refuse(w->tp, w->action, w->why,
					     "$%s is one key more than the %u that there can be",
					     key->name, GTP_AGGR_KEYS_MAX);
	w->key[w->nkeys++] = key;
	return 0;
}

/* Return the shape of the aggregation @name with the keys that the actions have set so far. */
static struct gtp_aggr_shape shape_here(const struct walk *w, const char *name)
{
	struct gtp_aggr_shape shape;
	u32 i;

	gtp_aggr_parse(name, &shape);
	for (i = 0; i < w->nkeys; i++) {
		gtp_aggr_add_key(&shape, w->key[i]->num);
		if (w->key[i]->key_words > 1)
			gtp_aggr_add_key(&shape, GTP_TSV_SECOND + w->key[i]->num);
	}
	return shape;
}

/* --- updates of aggregations --- */

static struct gtp_aggregate *find_in(struct gtp_aggregate *a, u32 tsv)
{
	while (a && a->tsv != tsv)
		a = a->next;
	return a;
}

static struct gtp_aggregate *known(const struct walk *w, u32 tsv)
{
	struct gtp_aggregate *a = find_in(*w->list, tsv);

	return a ? a : find_in(w->t->aggregates, tsv);
}

static int add(struct walk *w, const struct gtp_tsv *tsv, const struct gtp_aggr_shape *shape)
{
	struct gtp_aggregate *a = w->t->mem.alloc(w->t->mem.ctx, sizeof(*a)), **at = w->list;

	if (!a) {
		gtp_why(w->why, "no memory for $%s", tsv->name);
		return -ENOMEM;
	}
	a->tsv = tsv->num;
	a->shape = *shape;
	memcpy(a->name, tsv->name, sizeof(a->name));
	for (; a->nkeys < w->nkeys; a->nkeys++)
		memcpy(a->key_name[a->nkeys], w->key[a->nkeys]->name, sizeof(a->key_name[0]));
	while (*at)
		at = &(*at)->next;
	*at = a;
	return 0;
}

static int update(struct walk *w, const struct gtp_tsv *tsv)
{
	struct gtp_aggr_shape shape = shape_here(w, tsv->name);
	const struct gtp_aggregate *old = known(w, tsv->num);

	w->used = true;
	if (!old)
		return add(w, tsv, &shape);
	if (gtp_aggr_same_keys(&old->shape, &shape))
		return 0;
	return gtp_tracepoint_refuse(
		w->tp, w->action, w->why,
		"$%s is updated with other keys before; give it another name here", tsv->name);
}

/* --- walking expressions --- */

static int look_at(struct walk *w, const struct ax_insn *insn, bool always)
{
	struct gtp_tsv *tsv = w->t->run.tsvs.slot[insn->operand];

	if (insn->op != AX_OP_setv) {
		if (is_aggregation(w, tsv->num) || tsv->key_words > 1)
			return gtp_tracepoint_refuse(
				w->tp, w->action, w->why,
				"$%s can be set, and no expression can read it; a name without that prefix can be both",
				tsv->name);
		return 0;
	}
	if (!tsv->key_words && !is_aggregation(w, tsv->num))
		return 0;
	if (!w->action || w->tp->dprintf)
		return gtp_tracepoint_refuse(w->tp, w->action, w->why,
					     "$%s is set by a tracepoint's actions only",
					     tsv->name);
	return tsv->key_words ? set_key(w, tsv, always) : update(w, tsv);
}

static int walk_expr(struct walk *w, const struct ax_verified *v)
{
	struct ax_insn insn = { 0 };
	u32 joined = 0; /* the highest target of the jumps so far */
	int rc = 0;

	while (!rc && ax_next_reached(v, &insn)) {
		u8 rule = ax_op_info[insn.op].rule;

		if (rule == AX_RULE_jump && insn.operand > joined)
			joined = (u32)insn.operand;
		else if (rule == AX_RULE_tsv)
			rc = look_at(w, &insn, insn.pc >= joined);
	}
	return rc;
}

/* --- walking tracepoints --- */

static bool collects(const struct gtp_action *a)
{
	if (a->kind != GTP_ACTION_EXPR)
		return a->kind != GTP_ACTION_REGS || a->mask;
	return a->expr->ax.flags & AX_F_COLLECTS;
}

/*
 * Mark a tracepoint whose actions only update aggregations: it writes no frames, which would be
 * empty.
 */
static void judge(struct gtp_tracepoint *tp)
{
	const struct gtp_action *a;
	bool updates = false;

	tp->only_updates = false;
	for (a = tp->actions; a; a = a->next) {
		if (collects(a))
			return;
		if (a->expr && a->expr->ax.flags & AX_F_AGGREGATES)
			updates = true;
	}
	tp->only_updates = updates;
}

static int walk_tracepoint(struct gtp_trace *t, struct gtp_tracepoint *tp,
			   struct gtp_aggregate **list, struct gtp_why *why)
{
	struct walk w = { .t = t, .tp = tp, .list = list, .why = why };
	struct gtp_action *a;
	int rc = tp->cond ? walk_expr(&w, &tp->cond->ax) : 0;

	for (a = tp->actions; a && !rc; a = a->next) {
		w.action++;
		w.key_set = false;
		if (a->expr)
			rc = walk_expr(&w, &a->expr->ax);
		a->sets_key |= w.key_set; /* gtp_pairs_plan() has set or cleared it */
	}
	judge(tp);
	return rc;
}

int gtp_aggregates_plan(struct gtp_trace *t, struct gtp_tracepoint *only,
			struct gtp_aggregate **list, struct gtp_why *why)
{
	struct gtp_aggregate *before = t->aggregates;
	struct gtp_tracepoint *tp;
	int rc = 0;

	*list = NULL;
	if (!only)
		t->aggregates = NULL; /* ignore the last run's aggregations, which still exist */
	for (tp = only ? only : t->tps.first; tp && !rc; tp = only ? NULL : tp->next)
		rc = walk_tracepoint(t, tp, list, why);
	t->aggregates = before;
	if (rc) {
		gtp_aggregates_free(t, *list);
		*list = NULL;
	}
	return rc;
}
