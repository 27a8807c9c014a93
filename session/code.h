/* SPDX-License-Identifier: GPL-2.0-only */
/* Compiles the expressions of a run to machine code, if the target has a compiler. */
#ifndef _GTP_CODE_H
#define _GTP_CODE_H

#include "session/session.h"

/*
 * gtp_code_make - compile the expressions of one tracepoint, or of all if @only is NULL. Context:
 * may sleep, under the caller's lock. Return 0, or -errno with @why if the tracepoints must not be
 * armed
 */
int gtp_code_make(struct gtp_trace *t, struct gtp_tracepoint *only, struct gtp_why *why);

/* gtp_code_forget - free the machine code of all expressions, which no hit may run any more */
void gtp_code_forget(struct gtp_trace *t);

#endif /* _GTP_CODE_H */
