/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks that only watchpoints use the variables of watchpoints, and that watchpoints and samples
 * use no variable of calls.
 */
#ifndef _GTP_SESSION_WATCHED_H
#define _GTP_SESSION_WATCHED_H

#include "session/session.h"

/*
 * gtp_watched_check - check that only watchpoints use $watch_val and similar variables, and that
 * watchpoints and samples use nothing that only other tracepoints have; return 0, or -EINVAL with
 * @why
 */
int gtp_watched_check(const struct gtp_tracepoint *tp, struct gtp_why *why);

#endif /* _GTP_SESSION_WATCHED_H */
