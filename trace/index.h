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
 * @offset: the offset of the frame's GDB image in the raw stream that qTBuffer serves
 */
struct gtp_index_entry {
	const struct gtp_frame *frame;
	u64 offset;
};

enum { GTP_RESTARTS_MAX = 64 };

/**
 * struct gtp_restarts - when the clock that gives frames their times restarted
 * @n: number of restarts, at most GTP_RESTARTS_MAX: the oldest are forgotten
 * @created: how many frames the buffer had made by each restart, the oldest first
 *
 * A frame made after a restart is later than one made before, whatever their times say. All buffers
 * of a run have the same @n.
 */
struct gtp_restarts {
	u32 n;
	u64 created[GTP_RESTARTS_MAX];
};

/* gtp_restarts_note - note a restart now. Context: any; no frame is being made in @b */
void gtp_restarts_note(struct gtp_restarts *r, const struct gtp_buffer *b);

enum {
	/* Entries are allocated in chunks of this many: a kernel allocation has at most 2 GiB. */
	GTP_INDEX_CHUNK = 1 << 16,
	GTP_INDEX_BLOCK = 1 << 10, /* frames with one summary, which a search may skip */
	/* GDB keeps a frame's number in an int, with -1 for none. */
	GTP_INDEX_MOST = INT_MAX - 1,
};

/* gtp_index_step_fn - report that @done of @total frames have been walked, for the work @what */
typedef void (*gtp_index_step_fn)(void *ctx, const char *what, u32 done, u32 total);

/**
 * struct gtp_index_seen - a summary of a range of frames, which lets searches skip it
 * @tps: bit n is set if a frame is of a tracepoint whose number has n as its low 6 bits
 * @pcs: the frames' addresses as a set of bits like @tps; trace/index.c hashes an address to a bit
 * @low, @high: the lowest and the highest address of the frames
 */
struct gtp_index_seen {
	u64 tps, pcs;
	u64 low, high;
};

/**
 * struct gtp_index_chunk - entries that are allocated together
 * @all: the summary of the chunk's frames
 * @block: a summary for every GTP_INDEX_BLOCK of them
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
 * @n: the number of frames: all, or the oldest GTP_INDEX_MOST
 * @formats: descriptions of static data, or NULL; set before gtp_index_build()
 * @progress: called with @ctx now and then during a walk of all frames, of which there may be a
 *            hundred million (may be NULL)
 * @ctx: passed to @progress
 *
 * The index is valid as long as no buffer is written to.
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
 * @restarts: for each buffer, where the clock restarted (may be NULL: nowhere)
 * @nbufs: the number of buffers
 * @most: only the oldest frames, this many, get a number; GTP_INDEX_MOST except in tests
 *
 * Frames of one CPU keep their order even if their times do not increase.
 * Context: that of @ix->progress; may take long (n log CPUs).
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
 * gtp_index_find() - do the search of QTFrame
 * @ix: the index
 * @how: the form of the search
 * @a: the first argument of the search, see enum gtp_find
 * @b: the second argument of the search, see enum gtp_find
 * @from: first frame number to look at: the selected frame + 1 (GTP_FIND_NUMBER ignores it)
 *
 * The summaries of GTP_INDEX_BLOCK and GTP_INDEX_CHUNK frames let the search skip most ranges, so
 * few frames are compared. But if 64 or more tracepoints take turns to leave frames, all frames
 * are.
 *
 * Return: frame number, or -1.
 */
s64 gtp_index_find(const struct gtp_index *ix, enum gtp_find how, u64 a, u64 b, u32 from);

/**
 * gtp_index_read() - read a part of the raw stream: all frames' images in order (qTBuffer)
 * @ix: the index
 * @offset: the offset of the first byte wanted
 * @dst: receives the bytes
 * @len: the number of bytes wanted
 *
 * Return: the number of bytes copied; 0 at the end.
 */
u32 gtp_index_read(const struct gtp_index *ix, u64 offset, u8 *dst, u32 len);

#endif /* _GTP_INDEX_H */
