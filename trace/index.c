// SPDX-License-Identifier: GPL-2.0-only
/* The stopped run's frames of all CPUs: merged by time into one numbered list, and searched. */
#include "trace/index.h"
#include "trace/tfile.h"

/*
 * The merge is a heap of cursors, one per CPU that still has frames. It uses the entries that are
 * not filled yet: cursor i is entry[n - i], its offset the number of the buffer. Every cursor
 * stands for at least one frame that is still to be placed, so the list growing from the front
 * never reaches the heap.
 */
struct merge {
	struct gtp_index_entry *top;
	u32 count;
};

/* Frames between two calls of ->progress: a few milliseconds. */
enum { FRAMES_A_STEP = 1 << 16 };

static void step(const struct gtp_index *ix, const char *what, u32 i)
{
	if (i % FRAMES_A_STEP == FRAMES_A_STEP - 1 && ix->progress)
		ix->progress(ix->ctx, what, i + 1, ix->n);
}

static struct gtp_index_entry *cursor(const struct merge *m, u32 i)
{
	return m->top - i;
}

/* Equal times are ordered by buffer number, so that the numbering of a run is deterministic. */
static bool earlier(const struct gtp_index_entry *a, const struct gtp_index_entry *b)
{
	if (a->frame->time != b->frame->time)
		return a->frame->time < b->frame->time;
	return a->offset < b->offset;
}

static void exchange(struct gtp_index_entry *a, struct gtp_index_entry *b)
{
	struct gtp_index_entry t = *a;

	*a = *b;
	*b = t;
}

static void sift_down(const struct merge *m, u32 i)
{
	for (;;) {
		u32 best = i, child = 2 * i + 1;

		if (child < m->count && earlier(cursor(m, child), cursor(m, best)))
			best = child;
		child++;
		if (child < m->count && earlier(cursor(m, child), cursor(m, best)))
			best = child;
		if (best == i)
			return;
		exchange(cursor(m, i), cursor(m, best));
		i = best;
	}
}

static u32 count_frames(struct gtp_buffer *const *bufs, u32 nbufs)
{
	u32 n = 0;

	for (u32 i = 0; i < nbufs; i++)
		n += bufs[i] ? (u32)gtp_buffer_frames(bufs[i]) : 0;
	return n;
}

static void merge_init(struct merge *m, struct gtp_buffer *const *bufs, u32 nbufs)
{
	for (u32 i = 0; i < nbufs; i++) {
		const struct gtp_frame *f = bufs[i] ? gtp_buffer_next(bufs[i], NULL) : NULL;

		if (f)
			*cursor(m, m->count++) = (struct gtp_index_entry){ f, i };
	}
	for (u32 i = m->count / 2; i--;)
		sift_down(m, i);
}

static const struct gtp_frame *merge_take(struct merge *m, struct gtp_buffer *const *bufs)
{
	struct gtp_index_entry *first = cursor(m, 0);
	const struct gtp_frame *f = first->frame;

	first->frame = gtp_buffer_next(bufs[first->offset], f);
	if (!first->frame)
		*first = *cursor(m, --m->count);
	sift_down(m, 0);
	return f;
}

static void set_offsets(struct gtp_index *ix)
{
	u64 offset = 0;

	for (u32 i = 0; i < ix->n; i++) {
		ix->entry[i].offset = offset;
		offset += gtp_tfile_frame_size(ix->entry[i].frame, ix->formats);
		step(ix, "measuring frames", i);
	}
	ix->entry[ix->n] = (struct gtp_index_entry){ NULL, offset };
}

void gtp_index_build(struct gtp_index *ix, struct gtp_buffer *const *bufs, u32 nbufs)
{
	struct merge m = { .count = 0 };

	ix->n = count_frames(bufs, nbufs);
	m.top = ix->entry + ix->n;
	merge_init(&m, bufs, nbufs);
	for (u32 i = 0; i < ix->n; i++) {
		ix->entry[i].frame = merge_take(&m, bufs);
		step(ix, "numbering frames", i);
	}
	set_offsets(ix);
}

static bool matches(const struct gtp_frame *f, enum gtp_find how, u64 a, u64 b)
{
	switch (how) {
	case GTP_FIND_PC:
		return f->pc == a;
	case GTP_FIND_TP:
		return f->tp == a;
	case GTP_FIND_RANGE:
		return f->pc >= a && f->pc <= b;
	case GTP_FIND_OUTSIDE:
		return f->pc < a || f->pc > b;
	default:
		return false;
	}
}

s64 gtp_index_find(const struct gtp_index *ix, enum gtp_find how, u64 a, u64 b, u32 from)
{
	if (how == GTP_FIND_NUMBER)
		return a < ix->n ? (s64)a : -1;
	for (u32 i = from; i < ix->n; i++) {
		if (matches(ix->entry[i].frame, how, a, b))
			return i;
		step(ix, "searching frames", i);
	}
	return -1;
}

/* The frame whose image has the byte at @offset; @offset is below the stream's length. */
static u32 entry_at(const struct gtp_index *ix, u64 offset)
{
	u32 low = 0, high = ix->n;

	while (high - low > 1) {
		u32 mid = low + (high - low) / 2;

		if (ix->entry[mid].offset <= offset)
			low = mid;
		else
			high = mid;
	}
	return low;
}

u32 gtp_index_read(const struct gtp_index *ix, u64 offset, u8 *dst, u32 len)
{
	u32 done = 0;
	u32 i;

	if (offset >= ix->entry[ix->n].offset)
		return 0;
	for (i = entry_at(ix, offset); i < ix->n && done < len; i++) {
		u32 from = (u32)(offset + done - ix->entry[i].offset);

		done += gtp_tfile_read_frame(ix->entry[i].frame, ix->formats, from, dst + done,
					     len - done);
	}
	return done;
}
