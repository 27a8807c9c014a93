/* SPDX-License-Identifier: GPL-2.0-only */
/* Run control: start a run from the definitions, add tracepoints to it, and end it. */
#ifndef _GTP_SESSION_RUN_H
#define _GTP_SESSION_RUN_H

#include "session/session.h"

/**
 * gtp_trace_start() - start a run (QTStart)
 * @t: the session
 * @why: the refusal, with tracepoint number and address
 *
 * Checks the variables of all expressions, allocates buffers, and arms every location that can be
 * armed: see session/arming.h. If it fails, nothing is armed; if it fails after the checks, the
 * frames of the last run are freed. Hits count from the moment when all locations are armed.
 * Context: may sleep, under the caller's lock.
 * Return: 0, -EBUSY (a run is active), -EINVAL, -ENOMEM, or the error of ->arm.
 */
int gtp_trace_start(struct gtp_trace *t, struct gtp_why *why);

/**
 * gtp_trace_install() - arm one tracepoint that was defined during the run
 * @t: the session; without a run this does nothing
 * @tp: the tracepoint, completely defined
 * @why: the refusal
 *
 * Return: 0 or -errno; on error the tracepoint is removed from the list.
 */
int gtp_trace_install(struct gtp_trace *t, struct gtp_tracepoint *tp, struct gtp_why *why);

/*
 * gtp_trace_drop - free the frames and locations of a stopped run
 */
void gtp_trace_drop(struct gtp_trace *t);

/*
 * gtp_trace_stop - disarm all locations, wait for hits, and store @reason unless a hit has ended
 * the run already; does nothing without a run
 */
void gtp_trace_stop(struct gtp_trace *t, enum gtp_stop reason);

/* gtp_trace_settle - if a hit has ended the run, disarm everything and return true */
bool gtp_trace_settle(struct gtp_trace *t);

/*
 * gtp_trace_enable - enable or disable a tracepoint (QTEnable, QTDisable); return 0 or -ENOENT.
 * Hits see the change at once
 */
int gtp_trace_enable(struct gtp_trace *t, u32 num, u64 addr, bool on);

/*
 * gtp_trace_forget_range - disarm locations in code that is being unloaded, [start, end), and mark
 * their tracepoints as gone; return the number of these tracepoints
 */
u32 gtp_trace_forget_range(struct gtp_trace *t, u64 start, u64 end);

#endif /* _GTP_SESSION_RUN_H */
