/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The current run as a growing GDB trace file: frames as they come, each delivered once.
 *
 * Every CPU has three buffers that take turns. Hits write into one. One was taken from the hits and
 * is being read. One has the frames that were too young for the last sweep, and is read by the next
 * sweep. An exchange runs on the CPU itself between two hits, so a hit is unaware of the reader,
 * and they share no cache line except in that moment.
 *
 * Frames are in order of time over all CPUs: a sweep takes all frames that were written before its
 * first exchange and that no earlier sweep has taken, and leaves later frames to the next sweep.
 * This holds as far as the CPUs' clocks agree.
 *
 * If a circular buffer drops frames because the reader is too slow, the stream has a frame of
 * tracepoint GTP_TP_LOST before that CPU's next frame, with $cpu_id and, in $lost, their number. A
 * buffer that is not circular ends the run when it is full, as without a reader.
 */
#ifndef _GTP_STREAM_H
#define _GTP_STREAM_H

#include "session/trace.h"

/* struct gtp_stream_lost - a frame that says what was lost, and the buffer around it */
struct gtp_stream_lost {
	struct gtp_buffer buf;
	u64 mem[8];
};

/**
 * struct gtp_stream_cpu - the buffers of a CPU that hits do not write into now
 * @before: the buffer with the frames that the last sweep left for the next one
 * @taken: the buffer that the last sweep took from the hits
 * @ready: the frames of @taken that are older than the sweep
 * @base: the number of dropped frames when hits got their current buffer
 * @lost: precedes @ready, if there were losses
 */
struct gtp_stream_cpu {
	struct gtp_buffer before, taken, ready;
	u64 base;
	struct gtp_stream_lost lost;
};

enum gtp_stream_state {
	GTP_STREAM_NONE,   /* no sweep was made */
	GTP_STREAM_TAKEN,  /* the sweep has taken the buffers, but had no memory to merge them */
	GTP_STREAM_MERGED, /* the sweep's frames can be read, or have been read */
};

/**
 * struct gtp_stream - the reader of the current run
 * @t: the session
 * @epoch: the epoch of the session's frames that the stream reads
 * @header: the header of the file, @header_len bytes
 * @cpus: the CPUs' buffers, as in the run; @ncpus of them
 * @bufs, @restarts: the buffers that one sweep merges: three for each CPU
 * @index: the index of the last sweep, once it is merged
 * @state: the result of the last sweep
 * @last: the last sweep was the final one: the run is over
 * @clock_us: the time of the sweep that last checked the clock
 * @pos: bytes that have been read of the header, then of the index, then of the file's end
 * @read_header: the header has been read completely
 */
struct gtp_stream {
	struct gtp_trace *t;
	u64 epoch;
	char *header;
	u32 header_len;
	struct gtp_stream_cpu *cpus;
	u32 ncpus;
	struct gtp_buffer **bufs;
	const struct gtp_restarts **restarts;
	struct gtp_index index;
	enum gtp_stream_state state;
	bool last;
	bool read_header;
	u64 clock_us;
	u64 pos;
};

/**
 * gtp_stream_open() - become the reader of the current run, or of one that has just ended
 * @s: the stream
 * @t: the session, which has run; there is no other reader
 * @whole: the reader has waited for the run: report all losses since its beginning
 * @step: called now and then while a sweep walks many frames (may be NULL)
 * @why: the refusal
 *
 * Takes twice the memory of the trace buffers, and 16 bytes for each frame of a sweep. Frames that
 * are there already will be read.
 * Context: may sleep, under the session's lock.
 * Return: 0, -ENOMEM.
 */
int gtp_stream_open(struct gtp_stream *s, struct gtp_trace *t, bool whole, gtp_index_step_fn step,
		    struct gtp_why *why);

/*
 * gtp_stream_close - close the stream; frames that a sweep has taken and that were not read are
 * lost.
 * Context: like gtp_stream_open(); another run may have begun
 */
void gtp_stream_close(struct gtp_stream *s);

/* gtp_stream_urgent - true if a CPU's buffer is so full that a sweep is due. Context: any */
bool gtp_stream_urgent(const struct gtp_stream *s);

/*
 * gtp_stream_waits - true if a sweep would find frames, or the run's end. Context: the session's
 * lock
 */
bool gtp_stream_waits(const struct gtp_stream *s);

/**
 * gtp_stream_sweep() - take frames from all CPUs and merge them in order of time
 * @s: a stream that was read completely, see gtp_stream_left()
 *
 * Once the run is over it takes all remaining frames, which are then gone for GDB, too.
 * Context: may sleep, the session's lock. Return: 0; -ENOMEM with nothing lost: try again; -ESTALE:
 * the run's frames were dropped.
 */
int gtp_stream_sweep(struct gtp_stream *s);

/* gtp_stream_left - return the number of bytes that can be read without a sweep */
u64 gtp_stream_left(const struct gtp_stream *s);

/* gtp_stream_ended - true if the stream has been read up to the end of the run */
bool gtp_stream_ended(const struct gtp_stream *s);

/**
 * gtp_stream_read() - read the next bytes of the file
 * @s: the stream
 * @dst: receives the bytes
 * @len: the number of bytes wanted
 *
 * Context: under the session's lock.
 * Return: the number of bytes, 0 if a sweep is due or at the end; -ESTALE: the run's frames were
 * dropped.
 */
s64 gtp_stream_read(struct gtp_stream *s, u8 *dst, u32 len);

#endif /* _GTP_STREAM_H */
