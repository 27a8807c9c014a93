/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One trace session: sets it up and frees it, describes its status, and indexes the frames of a
 * stopped run.
 */
#ifndef _GTP_TRACE_H
#define _GTP_TRACE_H

#include "session/run.h"

/*
 * gtp_trace_init - initialise a session, which has no definitions and has never run; @t may have
 * any contents. Return 0 or -ENOMEM
 */
int gtp_trace_init(struct gtp_trace *t, const struct gtp_mem *mem,
		   const struct gtp_target_ops *target, const struct gtp_hit_ops *hit_ops,
		   void *ctx);

/* gtp_trace_exit - stop the run, and free everything that belongs to the session */
void gtp_trace_exit(struct gtp_trace *t);

/*
 * gtp_trace_reset - handle QTinit: stop the run, and free definitions, the user's variables and the
 * frames
 */
void gtp_trace_reset(struct gtp_trace *t);

/* gtp_trace_hits - return a tracepoint's counters, summed over all CPUs (packet qTP) */
struct gtp_tp_stat gtp_trace_hits(const struct gtp_trace *t, const struct gtp_tracepoint *tp);

/* struct gtp_totals - the run's counters over all CPUs */
struct gtp_totals {
	u64 frames, created, size, free, nested, missed, no_sdata, no_target;
	u64 busy;    /* hits missed because another CPU held the lock of variables for too long */
	u64 failed;  /* failures of conditions and actions at hits */
	u32 refused; /* locations without a probe */
};

/* gtp_trace_totals - add up the counters; during a run they may be of different moments */
void gtp_trace_totals(const struct gtp_trace *t, struct gtp_totals *sum);

/**
 * gtp_failure_text() - describe the failure of an expression or an address at a hit
 * @f: the failure; its run has ended, or @failing of the run is GTP_ENDING_WRITTEN
 * @buf: receives "action 2 (X): ref32 at byte 8: cannot read memory at 0x10 (4 bytes)", terminated
 * @size: bytes of @buf
 *
 * The text does not name the tracepoint, because GDB adds that. Return: the length.
 */
int gtp_failure_text(const struct gtp_failure *f, char *buf, size_t size);

/* gtp_oops_text - the words for a run that ended with GTP_STOP_OOPS */
extern const char *const gtp_oops_text;

/* gtp_trace_status - write qTStatus' reply "T1;...", NUL-terminated; return its full length */
int gtp_trace_status(const struct gtp_trace *t, char *buf, size_t size);

/**
 * gtp_trace_index() - return the index of the stopped run's frames, built on first use
 * @t: the session
 * @why: the refusal
 *
 * Return: the index; NULL during a run or without memory.
 */
const struct gtp_index *gtp_trace_index(struct gtp_trace *t, struct gtp_why *why);

/* gtp_trace_names - true if a tracepoint or dprintf has an address from @first to @last */
bool gtp_trace_names(const struct gtp_trace *t, u64 first, u64 last);

#endif /* _GTP_TRACE_H */
