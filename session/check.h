/* SPDX-License-Identifier: GPL-2.0-only */
/* The session has everything that a tracepoint needs: variables, static data, other tracepoints. */
#ifndef _GTP_CHECK_H
#define _GTP_CHECK_H

#include "session/session.h"

/*
 * gtp_check_tracepoint - before it is armed: the variables that its expressions name exist,
 * $_sdata is collected at a kernel tracepoint only, what is of a return at none, and what its
 * actions switch is there; see gtp_trigger_check(). If a run goes on, its expressions go with that;
 * see gtp_added_check(). 0 or -EINVAL with @why
 */
int gtp_check_tracepoint(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why);

/* gtp_check_all - the same for all of @t->tps, up to the first refusal */
int gtp_check_all(struct gtp_trace *t, struct gtp_why *why);

#endif /* _GTP_CHECK_H */
