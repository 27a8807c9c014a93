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
 * @pipe, @series: from where, to where
 * @until: the condition for the last frame
 * @ms: the longest time, from the header on; 0: until the run ends
 * @snapshot: record only the frames that are there already, of an active run
 * @cut: the time was over, but there was more to read
 * @begun, @ended: the times of both, in ms; 0: not yet
 * @buf, @size, @len: bytes that were read but not written; a frame or the header begins with the
 *                    first one
 * @tally: frames that were put
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

/* drain_all - record; the caller still has to end the files */
enum drain_end drain_all(struct drain *d);

#endif /* _DRAIN_DRAIN_H */
