/* SPDX-License-Identifier: GPL-2.0-only */
/* Tells which tracepoints have no fixed pc. */
#ifndef _GTP_MOVING_H
#define _GTP_MOVING_H

#include "base/sample.h"
#include "base/watch.h"

/*
 * gtp_moving_is - true for a watch address or a sample address: any instruction can be hit there,
 * so each hit has a pc of its own
 */
static inline bool gtp_moving_is(u64 addr)
{
	return gtp_watch_is(addr) || gtp_sample_is(addr);
}

#endif /* _GTP_MOVING_H */
