/* SPDX-License-Identifier: GPL-2.0-only */
/* Check that the session has what a tracepoint needs: variables, static data, other tracepoints. */
#ifndef _GTP_CHECK_H
#define _GTP_CHECK_H

#include "session/session.h"

/*
 * gtp_check_tracepoint - check a tracepoint before it is armed: the variables that its expressions
 * name exist; only kernel tracepoints collect $_sdata, and they use no variable of a return, such
 * as $ret; the tracepoints that its actions switch exist, see gtp_trigger_check(). During a run its
 * expressions must be compatible with the others', see gtp_added_check(). Return 0, or -EINVAL with
 * @why
 */
int gtp_check_tracepoint(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why);

/* gtp_check_all - check each tracepoint of @t->tps like that, up to the first refusal */
int gtp_check_all(struct gtp_trace *t, struct gtp_why *why);

#endif /* _GTP_CHECK_H */
