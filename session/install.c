// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handles tracepoints that are defined during a run: each is armed as soon as its definition is
 * complete.
 */
#include "base/parse.h"
#include "session/install.h"

int gtp_install_finish(struct gtp_trace *t, struct gtp_why *why)
{
	struct gtp_tracepoint *tp = t->installing;

	t->installing = NULL;
	return tp ? gtp_trace_install(t, tp, why) : 0;
}

static bool is_complete(const struct gtp_tracepoint *tp)
{
	return tp && !tp->defining;
}

int gtp_install_define(struct gtp_trace *t, const char *text, struct gtp_why *why)
{
	struct gtp_tracepoint *tp;
	int rc = gtp_tracepoint_define(&t->tps, &t->mem, text, &tp, why);

	if (rc || !tp || !gtp_trace_running(t))
		return rc;
	t->installing = tp;
	return is_complete(tp) ? gtp_install_finish(t, why) : 0;
}

int gtp_install_actions(struct gtp_trace *t, const char *text, struct gtp_why *why)
{
	int rc = gtp_tracepoint_add_actions(&t->tps, &t->mem, text, why);

	if (rc)
		t->installing = NULL; /* after an error the tracepoint is gone from the list */
	else if (is_complete(t->installing))
		rc = gtp_install_finish(t, why);
	return rc;
}

/* True if the packet begins like a continuation for @tp: its number, its address and a colon. */
static bool continues(const struct gtp_tracepoint *tp, const char *data, u32 len)
{
	struct gtp_in in;
	u64 addr;
	u32 num;

	gtp_in_init(&in, data, len);
	return gtp_in_word(&in, "QTDP:-") && gtp_in_hex32(&in, &num) && gtp_in_char(&in, ':') &&
	       gtp_in_hex64(&in, &addr) && gtp_in_char(&in, ':') && num == tp->num &&
	       addr == tp->addr;
}

int gtp_install_before_packet(struct gtp_trace *t, const char *data, u32 len, struct gtp_why *why)
{
	if (!t->installing || continues(t->installing, data, len))
		return 0;
	return gtp_install_finish(t, why);
}
