// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks that only watchpoints use the variables of watchpoints, and that watchpoints and samples
 * use no variable of calls.
 */
#include "base/moving.h"
#include "session/watched.h"

/* Record whether an expression uses a variable that only watchpoints have. */
static enum ax_err look(void *ctx, u16 tsv, bool sets)
{
	bool *watch = ctx;

	*watch |= tsv == GTP_TSV_WATCH_ADDR || tsv == GTP_TSV_WATCH_VAL ||
		  tsv == GTP_TSV_WATCH_PREV_VAL;
	return AX_OK;
}

static bool names_values(const struct gtp_tracepoint *tp)
{
	const struct gtp_action *a;
	struct ax_error unused;
	bool found = false;

	if (tp->cond)
		ax_verify_tsvs(&tp->cond->ax, look, &found, &unused);
	for (a = tp->actions; a; a = a->next)
		if (a->expr)
			ax_verify_tsvs(&a->expr->ax, look, &found, &unused);
	return found;
}

int gtp_watched_check(const struct gtp_tracepoint *tp, struct gtp_why *why)
{
	const char *what = gtp_watch_is(tp->addr) ? "watchpoint" : "sample";
	char title[GTP_TITLE_MAX];

	if (!gtp_watch_is(tp->addr) && names_values(tp)) {
		gtp_why(why,
			"%s names $watch_val, $watch_prev_val or $watch_addr, which only watchpoints have (gtp watch)",
			gtp_tracepoint_title(tp, title));
		return -EINVAL;
	}
	if (!gtp_moving_is(tp->addr))
		return 0;
	if (tp->at_return) {
		gtp_why(why,
			"%s names $ret, $latency or $entry_clock, which only functions have: it is a %s",
			gtp_tracepoint_title(tp, title), what);
		return -EINVAL;
	}
	if (tp->dprintf) {
		gtp_why(why, "a dprintf is at an instruction, not at a %s: use gtp %s",
			gtp_watch_is(tp->addr) ? "variable" : "sample",
			gtp_watch_is(tp->addr) ? "watch" : "sample");
		return -EINVAL;
	}
	return 0;
}
