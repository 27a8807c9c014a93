// SPDX-License-Identifier: GPL-2.0-only
/* The index of a stopped run: merges the frames of all CPUs by time, numbers and searches them. */
#include "trace/index.h"
#include "trace/tfile.h"

/**
 * struct cursor - the position in one CPU's buffer while the buffers are merged
 * @frame: the oldest frame that is not merged yet
 * @time: the time of @frame
 * @nth: the number of frames that were ever added to the buffer before @frame
 * @restarts: how often the clock had restarted before @frame
 * @buf: the number of the buffer
 */
struct cursor {
	const struct gtp_frame *frame;
	u64 time;
	u64 nth;
	u32 restarts;
	u32 buf;
};

/* struct merge - a binary heap of cursors; the first cursor is at the earliest frame */
struct merge {
	struct gtp_buffer *const *bufs;
	const struct gtp_restarts *const *restarts;
	struct cursor *heap;
	u32 count;
};

static const struct gtp_index_seen nothing_seen = { .low = U64_MAX };

/* The number of frames between two calls of ->progress; they take a few milliseconds. */
enum { FRAMES_A_STEP = 1 << 16 };

static void step(const struct gtp_index *ix, const char *what, u32 i)
{
	if (i % FRAMES_A_STEP == FRAMES_A_STEP - 1 && ix->progress)
		ix->progress(ix->ctx, what, i + 1, ix->n);
}

/*
 * True if the frame of @a comes before that of @b. Frames of equal times are ordered by buffer
 * number, so that their numbering is deterministic.
 */
static bool earlier(const struct cursor *a, const struct cursor *b)
{
	if (a->restarts != b->restarts)
		return a->restarts < b->restarts;
	if (a->time != b->time)
		return a->time < b->time;
	return a->buf < b->buf;
}

/* Restore the order of the heap: move the cursor at @i down until no cursor below it is earlier. */
static void sift_down(struct merge *m, u32 i)
{
	struct cursor moved = m->heap[i];
	u32 child;

	while ((child = 2 * i + 1) < m->count) {
		if (child + 1 < m->count && earlier(&m->heap[child + 1], &m->heap[child]))
			child++;
		if (!earlier(&m->heap[child], &moved))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = moved;
}

static u32 count_frames(struct gtp_buffer *const *bufs, u32 nbufs, u32 most)
{
	u64 n = 0;

	for (u32 i = 0; i < nbufs; i++)
		n += bufs[i] ? gtp_buffer_frames(bufs[i]) : 0;
	return n < most ? (u32)n : most;
}

void gtp_restarts_note(struct gtp_restarts *r, const struct gtp_buffer *b)
{
	if (r->n == GTP_RESTARTS_MAX)
		memmove(r->created, r->created + 1, --r->n * sizeof(*r->created));
	r->created[r->n++] = b->created;
}

static void count_restarts(const struct merge *m, struct cursor *c)
{
	const struct gtp_restarts *r = m->restarts ? m->restarts[c->buf] : NULL;

	while (r && c->restarts < r->n && r->created[c->restarts] <= c->nth)
		c->restarts++;
}

static void merge_init(struct merge *m, u32 nbufs)
{
	for (u32 i = 0; i < nbufs; i++) {
		const struct gtp_frame *f = m->bufs[i] ? gtp_buffer_next(m->bufs[i], NULL) : NULL;

		if (!f)
			continue;
		m->heap[m->count] = (struct cursor){ f, f->time, m->bufs[i]->dropped, 0, i };
		count_restarts(m, &m->heap[m->count++]);
	}
	for (u32 i = m->count / 2; i--;)
		sift_down(m, i);
}

static const struct gtp_frame *merge_take(struct merge *m)
{
	struct cursor *first = m->heap;
	const struct gtp_frame *f = first->frame;

	first->frame = gtp_buffer_next(m->bufs[first->buf], f);
	first->nth++;
	count_restarts(m, first);
	if (first->frame)
		first->time = first->frame->time;
	else
		*first = m->heap[--m->count];
	sift_down(m, 0);
	return f;
}

/* Hash an address to one of 64 bits, so that neighbouring addresses have different bits. */
static u64 pc_bit(u64 pc)
{
	return BIT_ULL(pc * 0x9e3779b97f4a7c15ULL >> 58);
}

static void see_all(struct gtp_index_seen *s, const struct gtp_index_seen *more)
{
	if (more->low < s->low)
		s->low = more->low;
	if (more->high > s->high)
		s->high = more->high;
	s->tps |= more->tps;
	s->pcs |= more->pcs;
}

static void see(struct gtp_index_seen *s, const struct gtp_frame *f)
{
	see_all(s, &(struct gtp_index_seen){
			   .tps = BIT_ULL(f->tp % 64),
			   .pcs = pc_bit(f->pc),
			   .low = f->pc,
			   .high = f->pc,
		   });
}

static struct gtp_index_seen *block_of(const struct gtp_index *ix, u32 i)
{
	return &ix->chunk[i / GTP_INDEX_CHUNK]->block[i % GTP_INDEX_CHUNK / GTP_INDEX_BLOCK];
}

/*
 * Fill in entries @i to @end - 1, which share one summary. The image of the first is at @offset in
 * the raw stream. Return the offset of the end of the last.
 */
static u64 fill(struct gtp_index *ix, struct merge *m, u32 i, u32 end, u64 offset)
{
	struct gtp_index_entry *entry = gtp_index_at(ix, i);
	struct gtp_index_seen *seen = block_of(ix, i);

	*seen = nothing_seen;
	for (; i < end; i++, entry++) {
		const struct gtp_frame *f = merge_take(m);

		*entry = (struct gtp_index_entry){ f, offset };
		offset += gtp_tfile_frame_size(f, ix->formats);
		see(seen, f);
	}
	see_all(&ix->chunk[(i - 1) / GTP_INDEX_CHUNK]->all, seen);
	step(ix, "numbering frames", i - 1);
	return offset;
}

static void fill_all(struct gtp_index *ix, struct merge *m)
{
	u64 offset = 0;
	u32 i, end;

	for (i = 0; i < ix->n; i = end) {
		end = ix->n - i < GTP_INDEX_BLOCK ? ix->n : i + GTP_INDEX_BLOCK;
		offset = fill(ix, m, i, end, offset);
	}
	*gtp_index_at(ix, ix->n) = (struct gtp_index_entry){ NULL, offset };
}

void gtp_index_free(struct gtp_index *ix, const struct gtp_mem *mem)
{
	while (ix->chunks)
		mem->free(mem->ctx, ix->chunk[--ix->chunks]);
	mem->free(mem->ctx, ix->chunk);
	ix->chunk = NULL;
	ix->n = 0;
}

/* Allocate @entries entries, in chunks; the last chunk is only as large as needed. */
static int make_chunks(struct gtp_index *ix, const struct gtp_mem *mem, u32 entries)
{
	u32 chunks = (entries - 1) / GTP_INDEX_CHUNK + 1;

	ix->chunk = mem->alloc(mem->ctx, (size_t)chunks * sizeof(*ix->chunk));
	if (!ix->chunk)
		return -ENOMEM;
	for (; ix->chunks < chunks; ix->chunks++) {
		u32 n = entries < GTP_INDEX_CHUNK ? entries : GTP_INDEX_CHUNK;
		struct gtp_index_chunk *chunk;

		chunk = mem->alloc(mem->ctx, sizeof(*chunk) + n * sizeof(*chunk->entry));
		if (!chunk)
			return -ENOMEM;
		chunk->all = nothing_seen;
		ix->chunk[ix->chunks] = chunk;
		entries -= n;
	}
	return 0;
}

int gtp_index_build(struct gtp_index *ix, const struct gtp_mem *mem, struct gtp_buffer *const *bufs,
		    const struct gtp_restarts *const *restarts, u32 nbufs, u32 most)
{
	struct merge m = { .bufs = bufs, .restarts = restarts };

	ix->n = count_frames(bufs, nbufs, most);
	m.heap = mem->alloc(mem->ctx, ((size_t)nbufs + 1) * sizeof(*m.heap));
	if (!m.heap || make_chunks(ix, mem, ix->n + 1)) {
		mem->free(mem->ctx, m.heap);
		gtp_index_free(ix, mem);
		return -ENOMEM;
	}
	merge_init(&m, nbufs);
	fill_all(ix, &m);
	mem->free(mem->ctx, m.heap);
	return 0;
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

static bool may_match(const struct gtp_index_seen *s, enum gtp_find how, u64 a, u64 b)
{
	switch (how) {
	case GTP_FIND_PC:
		return s->pcs & pc_bit(a) && a >= s->low && a <= s->high;
	case GTP_FIND_TP:
		return s->tps & BIT_ULL(a % 64);
	case GTP_FIND_RANGE:
		return a <= s->high && b >= s->low;
	case GTP_FIND_OUTSIDE:
		return s->low < a || s->high > b;
	default:
		return false;
	}
}

/* struct span - a range of frames, and the summary that shows whether any of them can match */
struct span {
	u32 end;
	bool may;
};

static struct span span_at(const struct gtp_index *ix, enum gtp_find how, u64 a, u64 b, u32 i)
{
	struct span s = { i - i % GTP_INDEX_CHUNK + GTP_INDEX_CHUNK, false };

	if (may_match(&ix->chunk[i / GTP_INDEX_CHUNK]->all, how, a, b)) {
		s.end = i - i % GTP_INDEX_BLOCK + GTP_INDEX_BLOCK;
		s.may = may_match(block_of(ix, i), how, a, b);
	}
	if (s.end > ix->n)
		s.end = ix->n;
	return s;
}

s64 gtp_index_find(const struct gtp_index *ix, enum gtp_find how, u64 a, u64 b, u32 from)
{
	if (how == GTP_FIND_NUMBER)
		return a < ix->n ? (s64)a : -1;
	for (u32 i = from; i < ix->n;) {
		struct span s = span_at(ix, how, a, b, i);

		for (; s.may && i < s.end; i++)
			if (matches(gtp_index_at(ix, i)->frame, how, a, b))
				return i;
		i = s.end;
		step(ix, "searching frames", i - 1);
	}
	return -1;
}

/*
 * Return the number of the frame whose image contains the byte at @offset of the raw stream.
 * @offset must be less than the length of the stream.
 */
static u32 entry_at(const struct gtp_index *ix, u64 offset)
{
	u32 low = 0, high = ix->n;

	while (high - low > 1) {
		u32 mid = low + (high - low) / 2;

		if (gtp_index_at(ix, mid)->offset <= offset)
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

	if (offset >= gtp_index_at(ix, ix->n)->offset)
		return 0;
	for (i = entry_at(ix, offset); i < ix->n && done < len; i++) {
		const struct gtp_index_entry *entry = gtp_index_at(ix, i);
		u32 from = (u32)(offset + done - entry->offset);

		done += gtp_tfile_read_frame(entry->frame, ix->formats, from, dst + done,
					     len - done);
	}
	return done;
}
