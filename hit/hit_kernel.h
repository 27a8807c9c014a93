/* SPDX-License-Identifier: GPL-2.0-only */
/* What a hit asks of the kernel: clock, current task, the lock of shared variables. */
#ifndef _GTP_HIT_KERNEL_H
#define _GTP_HIT_KERNEL_H

#include "hit/run.h"

/**
 * gtp_hit_calibrate_tsc() - may hits read the processor's counter instead of the clock?
 *
 * That is a tenth of the instructions. $clock is then the clock's time of tstart and what the
 * counter has gone on since, at the rate that the kernel found out; what NTP does to the clock
 * during the run is not in it.
 * Context: process; no hit is running.
 */
bool gtp_hit_calibrate_tsc(void);

/* Members of struct gtp_hit_ops; @ctx is not used. Context: a hit. */
unsigned long gtp_hit_tsv_lock(void *ctx);
void gtp_hit_tsv_unlock(void *ctx, unsigned long flags);
u64 gtp_hit_clock(void *ctx);
u64 gtp_hit_tsc_to_ns(void *ctx, u64 tsc);
s64 gtp_hit_builtin(void *ctx, enum gtp_tsv_builtin which);

#endif /* _GTP_HIT_KERNEL_H */
