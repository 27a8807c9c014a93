/* SPDX-License-Identifier: GPL-2.0-only */
/* Actions that switch other tracepoints, and tracepoints that GDB's own tasks hit, too. */
#ifndef _GTP_TRIGGER_H
#define _GTP_TRIGGER_H

#include "session/session.h"

/*
 * An action can set $enable or $disable to the number of a tracepoint, or to 0 for all. From then
 * on the hits of that tracepoint count, or do not, until the next such action or the end of the
 * run. The next run begins with GDB's own settings, from QTDP, QTEnable and QTDisable. All
 * tracepoints are armed, enabled or not, so the action only has to set tp->on.
 */

/* gtp_triggers_begin - clear the marks of all tracepoints, before all of them are checked */
void gtp_triggers_begin(struct gtp_trace *t);

/**
 * gtp_trigger_check() - find the tracepoints that expressions switch, and refuse wrong uses
 * @t: the session
 * @tp: the tracepoint; its variables are known to exist
 * @why: the refusal
 *
 * Marks the tracepoints that can be switched, so that their hits check ->on. Sets @tp->self_trace
 * for tracepoints that GDB's tasks hit, too.
 * Return: 0; -EINVAL if it reads $enable or $disable, or sets them in a condition or a dprintf, or
 * to a constant that is no tracepoint's number.
 */
int gtp_trigger_check(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why);

/*
 * gtp_trigger_inherit - switch @tp, which joins the run, as other tracepoints of its number were
 * switched
 */
void gtp_trigger_inherit(struct gtp_trace *t, struct gtp_tracepoint *tp);

/* gtp_trigger_add - let actions find @tp by its number, until gtp_triggers_drop() */
void gtp_trigger_add(struct gtp_trace *t, struct gtp_tracepoint *tp);
void gtp_triggers_drop(struct gtp_trace *t);

#endif /* _GTP_TRIGGER_H */
