// SPDX-License-Identifier: GPL-2.0-only
/* Find out from a tracepoint's expressions whether it is reported when its function returns. */
#include "tracepoint/at_return.h"
#include "tracepoint/tsv.h"

static enum gtp_at_return asked_by(u16 tsv)
{
	switch (tsv) {
	case GTP_TSV_RET:
	case GTP_TSV_KRET:
	case GTP_TSV_LATENCY:
		return GTP_AT_RETURN_LATE;
	case GTP_TSV_ENTRY_CLOCK:
		return GTP_AT_RETURN_ENTRY;
	default:
		return GTP_AT_RETURN_NOT;
	}
}

/* struct asked - the call's values that expressions use; @most: when all of them are known */
struct asked {
	enum gtp_at_return most;
	bool latency, entry_clock;
};

/* Record whether the variable that an expression uses is a value of the call. */
static enum ax_err look(void *ctx, u16 tsv, bool sets)
{
	enum gtp_at_return asked = asked_by(tsv);
	struct asked *all = ctx;

	if (asked > all->most)
		all->most = asked;
	all->latency |= tsv == GTP_TSV_LATENCY;
	all->entry_clock |= tsv == GTP_TSV_ENTRY_CLOCK;
	return AX_OK;
}

static void ask(const struct gtp_expr *e, struct asked *all)
{
	struct ax_error unused;

	if (e)
		ax_verify_tsvs(&e->ax, look, all, &unused);
}

bool gtp_expr_reads(const struct gtp_expr *e)
{
	const u32 any = AX_F_READS_MEM | AX_F_COLLECTS | AX_F_SETS_TSV | AX_F_PRINTS;

	return e && e->ax.flags & any;
}

static void settle_reads(struct gtp_tracepoint *tp)
{
	const struct gtp_action *a;

	tp->cond_reads = gtp_expr_reads(tp->cond);
	tp->reads = tp->cond_reads;
	for (a = tp->actions; a; a = a->next)
		tp->reads |= a->kind == GTP_ACTION_MEM || gtp_expr_reads(a->expr);
}

void gtp_at_return_settle(struct gtp_tracepoint *tp)
{
	struct asked asked = { 0 };
	const struct gtp_action *a;

	ask(tp->cond, &asked);
	tp->cond_at_return = asked.most == GTP_AT_RETURN_LATE;
	tp->cond_entry_clock = asked.entry_clock;
	for (a = tp->actions; a; a = a->next)
		ask(a->expr, &asked);
	tp->at_return = asked.most != GTP_AT_RETURN_NOT;
	tp->latency = asked.latency;
	settle_reads(tp);
}
