/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that hits need from the kernel: the clock, the current task, the lock of shared
 * variables.
 */
#ifndef _GTP_HIT_KERNEL_H
#define _GTP_HIT_KERNEL_H

#include "base/why.h"
#include "hit/run.h"

/**
 * gtp_hit_calibrate_tsc() - decide whether hits may read the TSC instead of the clock
 *
 * Reading the TSC takes a tenth of the instructions of reading the clock. $clock is then the
 * clock's time at tstart plus the ticks since, at the rate that the kernel calibrated, without
 * NTP's adjustments during the run.
 * Context: process; no hit is running. Return: how to convert the TSC; NULL if hits may not use it.
 */
const struct gtp_calibration *gtp_hit_calibrate_tsc(void);

/*
 * gtp_hit_recalibrate_tsc - calibrate again after the TSC has restarted. Context: no other CPU is
 * online, interrupts are off; a hit in an NMI may read $clock meanwhile
 */
void gtp_hit_recalibrate_tsc(void);

/*
 * gtp_hit_tsv_reset - release the variables' lock, in case a hit whose task died has left it taken.
 * Context: no hit is running
 */
void gtp_hit_tsv_reset(void);

/**
 * gtp_hit_replace_calibration() - calibrate again during a run
 *
 * Hits use the previous calibration until the caller gives them the new one. Before the next call,
 * hits on all CPUs must have the new one, because the next call overwrites the previous one.
 * Context: process, under gtp_lock. Return: the calibration; NULL: hits do not read the TSC.
 */
const struct gtp_calibration *gtp_hit_replace_calibration(void);

/*
 * gtp_hit_sleeps - note that a suspend begins or is over: in between $clock may be ahead of the
 * kernel's clock, and gtp_hit_clock_off() does not compare the two. Context: process, gtp_lock
 */
void gtp_hit_sleeps(bool sleeps);

/* gtp_hit_clock_off - implement clock_off of struct gtp_target_ops */
bool gtp_hit_clock_off(void *ctx, struct gtp_why *why);

/*
 * These implement the members of struct gtp_hit_ops with the same names; @ctx is not used. Context:
 * a hit.
 */
bool gtp_hit_tsv_lock(void *ctx, unsigned long *flags);
void gtp_hit_tsv_unlock(void *ctx, unsigned long flags);
u64 gtp_hit_clock(void *ctx);
u64 gtp_hit_wall_ns(void *ctx);
s64 gtp_hit_builtin(void *ctx, enum gtp_tsv_builtin which, u32 entered);
u64 gtp_hit_task(void *ctx, u64 *born);

#endif /* _GTP_HIT_KERNEL_H */
