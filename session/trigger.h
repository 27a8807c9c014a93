/* SPDX-License-Identifier: GPL-2.0-only */
/* Actions that let other tracepoints' hits count, and tracepoints of which GDB's tasks are part. */
#ifndef _GTP_TRIGGER_H
#define _GTP_TRIGGER_H

#include "session/session.h"

/*
 * An action sets $enable or $disable to the number of a tracepoint, 0: of all. From then on their
 * hits count, or do not, until the run ends or the next one says otherwise. The next run begins
 * with GDB's own settings, by QTDP, QTEnable and QTDisable. All tracepoints are armed
 * whether they are enabled or not, so a hit has nothing to do but to set tp->on.
 */

/* gtp_triggers_begin - no tracepoint is switched by actions, before all are checked */
void gtp_triggers_begin(struct gtp_trace *t);

/**
 * gtp_trigger_check() - what a tracepoint's expressions switch, and whether they may
 * @t: the session
 * @tp: the tracepoint; its variables are known to exist
 * @why: the refusal
 *
 * Marks what can be switched, so that its hits look at ->on, and @tp->self_trace.
 * Return: 0 or -EINVAL: it reads $enable or $disable, sets them in a condition or a dprintf, or to
 * a constant that is no tracepoint's number.
 */
int gtp_trigger_check(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why);

/* gtp_trigger_inherit - @tp, which joins the run, is switched as others of its number have been */
void gtp_trigger_inherit(struct gtp_trace *t, struct gtp_tracepoint *tp);

/* gtp_trigger_add - actions find @tp by its number from now on, until gtp_triggers_drop() */
void gtp_trigger_add(struct gtp_trace *t, struct gtp_tracepoint *tp);
void gtp_triggers_drop(struct gtp_trace *t);

#endif /* _GTP_TRIGGER_H */
