/* SPDX-License-Identifier: GPL-2.0-only */
/* Copy frames from the pipe to files, until the run, an option or a signal ends the recording. */
#ifndef _DRAIN_DRAIN_H
#define _DRAIN_DRAIN_H

#include "pipe.h"
#include "series.h"
#include "until.h"

/* The reason why a recording ended. */
enum drain_end { DRAIN_OVER, DRAIN_UNTIL, DRAIN_TIME, DRAIN_SIGNAL, DRAIN_TROUBLE };

/**
 * struct drain - a recording
 * @pipe, @series: the source and the destination of the frames
 * @until: finds the frame that ends the recording
 * @ms: the longest time, counted from the header's arrival; 0: no limit
 * @snapshot: record only the frames that an active run has so far
 * @cut: true if the time was over before all frames were read
 * @begun, @ended: the times, in ms, at which the recording began and ended; 0: not yet
 * @buf, @size, @len: bytes that were read but not written yet; the first byte begins the header or
 *                    a frame
 * @tally: counts the frames that were written
 */
struct drain {
	struct pipe pipe;
	struct series series;
	struct until until;
	u64 ms, begun, ended;
	bool snapshot, cut;
	u8 *buf;
	size_t size, len;
	struct tally tally;
};

/* drain_all - record, and return why the recording ended; the caller must then end the files */
enum drain_end drain_all(struct drain *d);

#endif /* _DRAIN_DRAIN_H */
