/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prepares tracepoints that actions can enable or disable, and tracepoints at which hits of GDB's
 * own tasks count.
 */
#ifndef _GTP_TRIGGER_H
#define _GTP_TRIGGER_H

#include "session/session.h"

/*
 * An action can set $enable or $disable to the number of a tracepoint, or to 0 for all. That
 * enables or disables the tracepoint until the next such action or the end of the run. The next run
 * begins with GDB's settings, from QTDP, QTEnable and QTDisable. All tracepoints are armed, also
 * disabled ones, so the action only sets tp->on.
 */

/* gtp_triggers_begin - clear the marks of all tracepoints, before gtp_trigger_check() sets them */
void gtp_triggers_begin(struct gtp_trace *t);

/**
 * gtp_trigger_check() - find the tracepoints that a tracepoint's actions switch, and refuse wrong
 * uses
 * @t: the session
 * @tp: the tracepoint; its variables are known to exist
 * @why: the refusal
 *
 * Marks the tracepoints that the actions may switch, so that their hits check ->on. Sets
 * @tp->self_trace if hits of GDB's own tasks count.
 * Return: 0; -EINVAL if an expression reads $enable or $disable, sets them in a condition or a
 * dprintf, or sets them to a constant that is not the number of a tracepoint.
 */
int gtp_trigger_check(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why);

/*
 * gtp_trigger_inherit - enable or disable @tp, which joins the run, like the other locations of the
 * same tracepoint of GDB
 */
void gtp_trigger_inherit(struct gtp_trace *t, struct gtp_tracepoint *tp);

/* gtp_trigger_add - let hits find @tp by its number, until gtp_triggers_drop() */
void gtp_trigger_add(struct gtp_trace *t, struct gtp_tracepoint *tp);
void gtp_triggers_drop(struct gtp_trace *t);

#endif /* _GTP_TRIGGER_H */
