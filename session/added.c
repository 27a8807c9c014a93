// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the variables that a run's expressions only add to: hits update these atomically, without a
 * lock.
 *
 * Expressions that set a variable shared by all CPUs run under one lock, so they are atomic with
 * respect to each other. An addition needs no lock if its expression names no other shared
 * variable, and if no expression that runs under the lock
 *   - sets the variable: an addition between its getv and its setv would be lost;
 *   - reads the variable together with another shared variable, or twice: an addition might come
 *     between the two reads. An expression that reads only this variable, once, and sets others is
 *     still atomic: it takes effect at the read.
 * Expressions that set no variable never take the lock.
 *
 * gtp_added_begin() finds these variables when a run begins, before anything is armed. They stay
 * the same until the run ends. gtp_added_check() refuses an expression that joins the run and would
 * need the lock for such a variable, because other expressions add to it without the lock. Without
 * a run there are no such variables, because a dprintf may be added at any time.
 */
#include "agentexpr/adds.h"
#include "session/added.h"

/*
 * True for a variable of the user that all CPUs share. Expressions cannot set built-in variables,
 * except switches.
 */
static bool is_shared(const struct gtp_tsvs *tsvs, u64 num)
{
	if (num >= GTP_TSV_MAX || !tsvs->slot[num] || tsvs->slot[num]->builtin)
		return false;
	return tsvs->ways[num] == AX_TSV_CALL || tsvs->ways[num] == AX_TSV_ADDED;
}

/*
 * Find the next instruction after @insn that names a shared variable; with a zeroed @insn, find the
 * first.
 */
static bool next_shared(const struct gtp_tsvs *tsvs, const struct ax_verified *v,
			struct ax_insn *insn)
{
	while (ax_next_reached(v, insn))
		if (ax_op_info[insn->op].rule == AX_RULE_tsv && is_shared(tsvs, insn->operand))
			return true;
	return false;
}

/* struct uses - counts an expression's reads and writes of shared variables */
struct uses {
	u32 gets, sets;
};

static struct uses count_uses(const struct gtp_tsvs *tsvs, const struct ax_verified *v)
{
	struct ax_insn insn = { 0 };
	struct uses uses = { 0 };

	while (next_shared(tsvs, v, &insn)) {
		if (insn.op == AX_OP_setv)
			uses.sets++;
		else
			uses.gets++;
	}
	return uses;
}

static bool only_adds(const struct gtp_tsvs *tsvs, const struct ax_verified *v,
		      const struct uses *uses, u16 *num)
{
	return uses->sets == 1 && uses->gets == 1 && ax_adds_to(v, num) && is_shared(tsvs, *num);
}

/* True if this instruction makes its variable unsuitable, in an expression that takes the lock. */
static bool needs_lock(const struct uses *uses, const struct ax_insn *insn)
{
	return insn->op == AX_OP_setv || uses->gets > 1;
}

/* --- finding the variables when a run begins --- */

static void add_candidate(struct gtp_tsvs *tsvs, struct ax_verified *v)
{
	struct uses uses = count_uses(tsvs, v);
	u16 num;

	if (only_adds(tsvs, v, &uses, &num))
		tsvs->ways[num] = AX_TSV_ADDED;
}

static void drop_candidates(struct gtp_tsvs *tsvs, struct ax_verified *v)
{
	struct uses uses = count_uses(tsvs, v);
	struct ax_insn insn = { 0 };
	u16 num;

	if (!uses.sets || only_adds(tsvs, v, &uses, &num))
		return;
	while (next_shared(tsvs, v, &insn))
		if (needs_lock(&uses, &insn))
			tsvs->ways[insn.operand] = AX_TSV_CALL;
}

static void settle(struct gtp_tsvs *tsvs, struct ax_verified *v)
{
	ax_settle_tsvs(v, tsvs->ways);
}

typedef void (*visit_fn)(struct gtp_tsvs *tsvs, struct ax_verified *v);

static void visit_list(struct gtp_trace *t, struct gtp_tracepoint *tp, visit_fn visit)
{
	const struct gtp_action *a;

	for (; tp; tp = tp->next) {
		if (tp->cond)
			visit(&t->run.tsvs, &tp->cond->ax);
		for (a = tp->actions; a; a = a->next)
			if (a->expr)
				visit(&t->run.tsvs, &a->expr->ax);
	}
}

static void visit_all(struct gtp_trace *t, visit_fn visit)
{
	struct gtp_dprintf *dp;

	visit_list(t, t->tps.first, visit);
	for (dp = t->dprintfs.list; dp; dp = dp->next)
		visit_list(t, dp->tps, visit);
}

void gtp_added_begin(struct gtp_trace *t)
{
	visit_all(t, add_candidate);
	visit_all(t, drop_candidates);
	/*
	 * Decide which expressions of tracepoints need the lock; for dprintfs this is decided when
	 * they are armed again.
	 */
	visit_list(t, t->tps.first, settle);
}

void gtp_added_end(struct gtp_trace *t)
{
	u32 num;

	for (num = 0; num < GTP_TSV_MAX; num++)
		if (t->run.tsvs.ways[num] == AX_TSV_ADDED)
			t->run.tsvs.ways[num] = AX_TSV_CALL;
}

/* --- expressions that join the run --- */

/*
 * Refuse an expression whose @insn needs the lock, because other expressions add to its variable
 * without the lock.
 */
static int refuse_locked(const struct gtp_trace *t, const struct gtp_tracepoint *tp, u32 action,
			 const struct ax_insn *insn, struct gtp_why *why)
{
	const char *name = t->run.tsvs.slot[insn->operand]->name;

	if (insn->op == AX_OP_setv)
		return gtp_tracepoint_refuse(
			tp, action, why,
			"$%s is only added to in this run, without a lock: tstop and tstart again to set it in another way",
			name);
	return gtp_tracepoint_refuse(
		tp, action, why,
		"$%s is only added to in this run, without a lock: tstop and tstart again to read it beside others",
		name);
}

int gtp_added_check(const struct gtp_trace *t, const struct gtp_tracepoint *tp,
		    const struct gtp_expr *e, u32 action, struct gtp_why *why)
{
	const struct gtp_tsvs *tsvs = &t->run.tsvs;
	struct uses uses = count_uses(tsvs, &e->ax);
	struct ax_insn insn = { 0 };
	u16 num;

	if (!uses.sets || only_adds(tsvs, &e->ax, &uses, &num))
		return 0;
	while (next_shared(tsvs, &e->ax, &insn))
		if (tsvs->ways[insn.operand] == AX_TSV_ADDED && needs_lock(&uses, &insn))
			return refuse_locked(t, tp, action, &insn, why);
	return 0;
}
