/* SPDX-License-Identifier: GPL-2.0-only */
/* Copy frames from the pipe to files, until something ends that. */
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
 * @until: the condition for the last frame
 * @ms: the longest time, counted from the header's arrival; 0: until the run ends
 * @snapshot: record only the frames that are there already, of an active run
 * @cut: the time was over, but there was more to read
 * @begun, @ended: when the recording began and ended, in ms; 0: not yet
 * @buf, @size, @len: bytes that were read but not written; a frame or the header begins with the
 *                    first one
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

/* drain_all - record, and return why the recording ended; the caller still has to end the files */
enum drain_end drain_all(struct drain *d);

#endif /* _DRAIN_DRAIN_H */
