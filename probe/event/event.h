/* SPDX-License-Identifier: GPL-2.0-only */
/* Collects static data ($_sdata) at locations that are kernel tracepoints. */
#ifndef _GTP_EVENT_H
#define _GTP_EVENT_H

#include "base/why.h"
#include "hit/run.h"

/*
 * gtp_event_sdata - implement ->sdata of struct gtp_target_ops; @ctx is not used. Context: under
 * gtp_lock
 */
int gtp_event_sdata(void *ctx, struct gtp_location *loc, struct gtp_why *why);

/* gtp_event_take - implement ->sdata of struct gtp_hit_ops; @ctx is not used. Context: a hit */
int gtp_event_take(void *ctx, const struct gtp_location *loc, const struct gtp_regs *regs,
		   struct gtp_buffer *buf);

#endif /* _GTP_EVENT_H */
