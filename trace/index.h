/* SPDX-License-Identifier: GPL-2.0-only */
/* The stopped run as GDB sees it: frames of all CPUs in time order, numbered from 0. */
#ifndef _GTP_INDEX_H
#define _GTP_INDEX_H

#include "base/base.h"
#include "base/mem.h"
#include "trace/buffer.h"
#include "trace/sdata.h"

/**
 * struct gtp_index_entry - frame number i
 * @frame: the frame with that number
 * @offset: the offset of the frame in the raw stream, which has all frames in GDB's format
 *	(qTBuffer)
 */
struct gtp_index_entry {
	const struct gtp_frame *frame;
	u64 offset;
};

enum { GTP_RESTARTS_MAX = 64 };

/**
 * struct gtp_restarts - the frames at which the clock of frames' times restarted
 * @n: the number of restarts; only the last GTP_RESTARTS_MAX are kept
 * @created: for each restart, the oldest first, the value of @created of struct gtp_buffer
 *
 * A frame that was written after a restart is later than any frame before it, even if its time is
 * smaller. All buffers of a run have the same @n.
 */
struct gtp_restarts {
	u32 n;
	u64 created[GTP_RESTARTS_MAX];
};

/* gtp_restarts_note - record a restart now. Context: any; no frame may be open in @b */
void gtp_restarts_note(struct gtp_restarts *r, const struct gtp_buffer *b);

enum {
	/*
	 * Entries in a chunk: entries are allocated in chunks, because 2 GiB is the kernel's limit.
	 */
	GTP_INDEX_CHUNK = 1 << 16,
	GTP_INDEX_BLOCK = 1 << 10, /* entries with one summary, which a search may skip */
	/* GDB stores a frame's number in an int; -1 means none. */
	GTP_INDEX_MOST = INT_MAX - 1,
};

/* gtp_index_step_fn - report the progress of the work @what: @done of @total frames */
typedef void (*gtp_index_step_fn)(void *ctx, const char *what, u32 done, u32 total);

/**
 * struct gtp_index_seen - a summary of a range of frames, which lets searches skip it
 * @tps: bit n is set if a frame is of a tracepoint whose number has n as its low 6 bits
 * @pcs: a set of bits like @tps for the frames' addresses, each of which is hashed to a bit
 * @low, @high: the lowest and the highest address of the frames
 */
struct gtp_index_seen {
	u64 tps, pcs;
	u64 low, high;
};

/**
 * struct gtp_index_chunk - entries that are allocated together
 * @all: the summary of the chunk's frames
 * @block: one summary for every GTP_INDEX_BLOCK frames
 * @entry: GTP_INDEX_CHUNK entries, fewer in the last chunk
 */
struct gtp_index_chunk {
	struct gtp_index_seen all;
	struct gtp_index_seen block[GTP_INDEX_CHUNK / GTP_INDEX_BLOCK];
	struct gtp_index_entry entry[];
};

/**
 * struct gtp_index - the frames of a stopped run
 * @chunk: @n + 1 entries (the last entry has no frame, its offset is the length of all images);
 *         see gtp_index_at()
 * @chunks: the number of chunks
 * @n: the number of frames: all, but at most the oldest GTP_INDEX_MOST
 * @formats: the formats of static data, or NULL; set before gtp_index_build()
 * @progress: called repeatedly during a walk of all frames, of which there may be a hundred million
 *            (may be NULL)
 * @ctx: passed to @progress
 *
 * The index is valid as long as no buffer is written.
 */
struct gtp_index {
	struct gtp_index_chunk **chunk;
	u32 chunks;
	u32 n;
	const struct gtp_sdata_format *formats;
	gtp_index_step_fn progress;
	void *ctx;
};

/* gtp_index_at - return entry @i of the index; @i is at most @ix->n */
static inline struct gtp_index_entry *gtp_index_at(const struct gtp_index *ix, u32 i)
{
	return &ix->chunk[i / GTP_INDEX_CHUNK]->entry[i % GTP_INDEX_CHUNK];
}

/**
 * gtp_index_build() - merge the CPUs' buffers by time
 * @ix: empty; @formats, @progress and @ctx are set
 * @mem: where memory for the entries comes from
 * @bufs: the buffers; NULL entries are skipped
 * @restarts: for each buffer, the restarts of the clock; may be NULL: there were none
 * @nbufs: the number of buffers
 * @most: how many frames get a number, the oldest first; GTP_INDEX_MOST except in tests
 *
 * Frames of one CPU keep their order even if their times do not increase.
 * Context: that of @ix->progress; may take a long time (n log CPUs).
 * Return: 0; or -ENOMEM, with @ix empty.
 */
int gtp_index_build(struct gtp_index *ix, const struct gtp_mem *mem, struct gtp_buffer *const *bufs,
		    const struct gtp_restarts *const *restarts, u32 nbufs, u32 most);

/* gtp_index_free - free the memory of an index; after that it is empty */
void gtp_index_free(struct gtp_index *ix, const struct gtp_mem *mem);

enum gtp_find {
	GTP_FIND_NUMBER,  /* a: frame number */
	GTP_FIND_PC,	  /* a: address */
	GTP_FIND_TP,	  /* a: tracepoint */
	GTP_FIND_RANGE,	  /* a..b, both inclusive */
	GTP_FIND_OUTSIDE, /* not in a..b */
};

/**
 * gtp_index_find() - find a frame, as QTFrame requests
 * @ix: the index
 * @how: the form of the search
 * @a: the first argument of the search, see enum gtp_find
 * @b: the second argument of the search, see enum gtp_find
 * @from: the number of the first frame to compare, the selected frame + 1; GTP_FIND_NUMBER ignores
 *	it
 *
 * The summaries of GTP_INDEX_BLOCK and GTP_INDEX_CHUNK frames let the search skip most frames. But
 * if each range has frames of 64 or more tracepoints, no range is skipped.
 *
 * Return: frame number, or -1.
 */
s64 gtp_index_find(const struct gtp_index *ix, enum gtp_find how, u64 a, u64 b, u32 from);

/**
 * gtp_index_read() - read a part of the raw stream, which has all frames in GDB's format (qTBuffer)
 * @ix: the index
 * @offset: the offset of the first byte wanted
 * @dst: receives the bytes
 * @len: the number of bytes wanted
 *
 * Return: the number of bytes copied; 0 at the end.
 */
u32 gtp_index_read(const struct gtp_index *ix, u64 offset, u8 *dst, u32 len);

#endif /* _GTP_INDEX_H */
