// SPDX-License-Identifier: GPL-2.0-only
/* Which tracepoints are reported when their function returns: their expressions say so. */
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

/* No variable is refused here: this only looks. */
static enum ax_err look(void *ctx, u16 tsv, bool sets)
{
	enum gtp_at_return *most = ctx, asked = asked_by(tsv);

	if (asked > *most)
		*most = asked;
	return AX_OK;
}

enum gtp_at_return gtp_at_return_asks(const struct ax_verified *v)
{
	enum gtp_at_return most = GTP_AT_RETURN_NOT;
	struct ax_error unused;

	ax_verify_tsvs(v, look, &most, &unused);
	return most;
}

void gtp_at_return_settle(struct gtp_tracepoint *tp)
{
	enum gtp_at_return cond = tp->cond ? gtp_at_return_asks(&tp->cond->ax) : GTP_AT_RETURN_NOT;
	const struct gtp_action *a;

	tp->cond_at_return = cond == GTP_AT_RETURN_LATE;
	tp->at_return = cond != GTP_AT_RETURN_NOT;
	for (a = tp->actions; a && !tp->at_return; a = a->next)
		tp->at_return = a->expr && gtp_at_return_asks(&a->expr->ax) != GTP_AT_RETURN_NOT;
}
