/* SPDX-License-Identifier: GPL-2.0-only */
/* Machine code for the expressions of a run, where the target makes any. */
#ifndef _GTP_CODE_H
#define _GTP_CODE_H

#include "session/session.h"

/*
 * gtp_code_make - for one tracepoint, or for all when @only is NULL; may sleep, caller's lock. 0 or
 * -errno with @why: nothing of it may be armed then
 */
int gtp_code_make(struct gtp_trace *t, struct gtp_tracepoint *only, struct gtp_why *why);

/* gtp_code_forget - of all; no hit runs any of it */
void gtp_code_forget(struct gtp_trace *t);

#endif /* _GTP_CODE_H */
