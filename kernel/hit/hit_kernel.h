/* SPDX-License-Identifier: GPL-2.0-only */
/* A hit's needs from the kernel: clock, current task, the lock of shared variables. */
#ifndef _GTP_HIT_KERNEL_H
#define _GTP_HIT_KERNEL_H

#include "hit/run.h"

/**
 * gtp_hit_calibrate_tsc() - may hits read the processor's counter instead of the clock?
 *
 * Reading the counter takes a tenth of the instructions. $clock is then the clock's time at tstart
 * plus the ticks since, at the rate that the kernel calibrated; adjustments by NTP during the run
 * are not in it.
 * Context: process; no hit is running. Return: what the counter means; NULL: they may not.
 */
const struct gtp_calibration *gtp_hit_calibrate_tsc(void);

/*
 * gtp_hit_recalibrate_tsc - the counter has restarted. Context: no other CPU is online, interrupts
 * are off; a hit in an NMI may read $clock meanwhile
 */
void gtp_hit_recalibrate_tsc(void);

/*
 * gtp_hit_tsv_reset - the lock of variables is free again, whatever a hit in which the kernel died
 * has left. Context: no hit is running
 */
void gtp_hit_tsv_reset(void);

/* Members of struct gtp_hit_ops; @ctx is not used. Context: a hit. */
bool gtp_hit_tsv_lock(void *ctx, unsigned long *flags);
void gtp_hit_tsv_unlock(void *ctx, unsigned long flags);
u64 gtp_hit_clock(void *ctx);
u64 gtp_hit_wall_ns(void *ctx);
s64 gtp_hit_builtin(void *ctx, enum gtp_tsv_builtin which, u32 entered);

#endif /* _GTP_HIT_KERNEL_H */
