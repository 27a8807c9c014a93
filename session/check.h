/* SPDX-License-Identifier: GPL-2.0-only */
/* Check that the session has what a tracepoint needs: variables, static data, other tracepoints. */
#ifndef _GTP_CHECK_H
#define _GTP_CHECK_H

#include "session/session.h"

/*
 * gtp_check_tracepoint - check a tracepoint before it is armed. The variables that its expressions
 * name must exist. Only a kernel tracepoint may collect $_sdata, and it may not use a variable of a
 * return, such as $ret. The tracepoints that its actions switch must exist, see
 * gtp_trigger_check(). During a run see also gtp_added_check(). Return 0, or -EINVAL with @why
 */
int gtp_check_tracepoint(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why);

/* gtp_check_all - call gtp_check_tracepoint() for each tracepoint of @t->tps, until one fails */
int gtp_check_all(struct gtp_trace *t, struct gtp_why *why);

#endif /* _GTP_CHECK_H */
