// SPDX-License-Identifier: GPL-2.0-only
/* The current run as a growing GDB trace file: frames as they come, each delivered once. */
#include "export/file.h"
#include "export/header.h"
#include "export/stream.h"
#include "hit/variable.h"

enum {
	BUFFERS = 3,	  /* buffers of each CPU that one sweep merges: held back, lost, taken */
	URGENT_SHARE = 4, /* a sweep is due when more than a fourth of a buffer is used */
};

static bool is_stale(const struct gtp_stream *s)
{
	return s->epoch != s->t->epoch;
}

/* --- opening and closing the stream --- */

static int get_buffer(struct gtp_stream *s, u32 i, struct gtp_buffer *b)
{
	struct gtp_trace *t = s->t;
	struct gtp_cpu *cpu = t->run.cpus[i];
	void *mem = t->target->buffer_alloc(t->ctx, cpu, cpu->buf.size);

	if (!mem)
		return -ENOMEM;
	gtp_buffer_init(b, mem, cpu->buf.size, cpu->buf.circular);
	return 0;
}

static int get_buffers(struct gtp_stream *s, bool whole)
{
	for (u32 i = 0; i < s->ncpus; i++) {
		struct gtp_stream_cpu *c = &s->cpus[i];

		if (!s->t->run.cpus[i])
			continue;
		if (get_buffer(s, i, &c->before) || get_buffer(s, i, &c->taken))
			return -ENOMEM;
		if (!whole)
			c->base = READ_ONCE(s->t->run.cpus[i]->buf.dropped);
	}
	return 0;
}

static int get_memory(struct gtp_stream *s, bool whole)
{
	const struct gtp_mem *mem = &s->t->mem;
	size_t n = (size_t)BUFFERS * s->ncpus;

	s->header = gtp_header_make(s->t, true, &s->header_len);
	s->cpus = mem->alloc(mem->ctx, s->ncpus * sizeof(*s->cpus));
	s->bufs = mem->alloc(mem->ctx, n * sizeof(struct gtp_buffer *));
	s->restarts = mem->alloc(mem->ctx, n * sizeof(struct gtp_restarts *));
	if (!s->header || !s->cpus || !s->bufs || !s->restarts)
		return -ENOMEM;
	return get_buffers(s, whole);
}

static u64 buffer_bytes(const struct gtp_trace *t)
{
	u64 sum = 0;

	for (u32 i = 0; i < t->run.ncpus; i++)
		sum += t->run.cpus[i] ? t->run.cpus[i]->buf.size : 0;
	return sum;
}

int gtp_stream_open(struct gtp_stream *s, struct gtp_trace *t, bool whole, gtp_index_step_fn step,
		    struct gtp_why *why)
{
	u64 bytes = (BUFFERS - 1) * buffer_bytes(t);

	*s = (struct gtp_stream){ .t = t, .epoch = t->epoch, .ncpus = t->run.ncpus };
	s->index.progress = step;
	if (bytes <= t->target->memory_most(t->ctx) && !get_memory(s, whole))
		return 0;
	gtp_stream_close(s);
	gtp_why(why,
		"no memory to follow the run: that takes %llu MiB, twice the trace buffer; set trace-buffer-size to less",
		bytes >> 20);
	return -ENOMEM;
}

void gtp_stream_close(struct gtp_stream *s)
{
	const struct gtp_mem *mem = &s->t->mem;

	for (u32 i = 0; s->cpus && i < s->ncpus; i++) {
		mem->free(mem->ctx, s->cpus[i].before.mem);
		mem->free(mem->ctx, s->cpus[i].taken.mem);
	}
	gtp_index_free(&s->index, mem);
	mem->free(mem->ctx, s->restarts);
	mem->free(mem->ctx, s->bufs);
	mem->free(mem->ctx, s->cpus);
	mem->free(mem->ctx, s->header);
	*s = (struct gtp_stream){ .t = s->t };
}

/* --- sweeping the buffers --- */

/* struct exchange - give hits the buffer @in, and take @out from them */
struct exchange {
	struct gtp_cpu *cpu;
	struct gtp_buffer in, out;
};

/*
 * Exchange the buffers. An NMI that hits in the middle of this is skipped, like any hit inside a
 * hit.
 */
static void exchange(void *arg)
{
	struct exchange *x = arg;
	struct gtp_cpu *cpu = x->cpu;
	u32 before = cpu->in_hit; /* GTP_HIT_LOST must stay */

	WRITE_ONCE(cpu->in_hit, GTP_HIT_BEGUN);
	barrier();
	x->out = cpu->buf;
	/* The counters continue, with all older frames counted as gone from this buffer. */
	x->in.created = x->out.created;
	x->in.dropped = x->out.created;
	cpu->buf = x->in;
	barrier();
	WRITE_ONCE(cpu->in_hit, before);
}

/*
 * Exchange buffers. The frames that were held back have been read, so hits get that buffer's
 * memory.
 */
static void take(struct gtp_stream *s, u32 i)
{
	struct gtp_stream_cpu *c = &s->cpus[i];
	struct exchange x = { .cpu = s->t->run.cpus[i] };

	gtp_buffer_init(&x.in, c->before.mem, c->before.size, c->before.circular);
	c->before = c->taken;
	s->t->target->between_hits(s->t->ctx, x.cpu, exchange, &x);
	c->taken = x.out;
	s->t->taken += gtp_buffer_frames(&c->taken);
	gtp_buffer_init(&c->lost.buf, c->lost.mem, sizeof(c->lost.mem), false);
}

/*
 * True if @f, the @nth of its buffer, was written before @cutoff; also if the clock has restarted
 * since.
 */
static bool is_older(const struct gtp_frame *f, u64 nth, const struct gtp_restarts *r, u64 cutoff)
{
	return f->time < cutoff || (r->n && r->created[r->n - 1] > nth);
}

/* Divide the taken frames: @c->ready gets those older than @cutoff, @c->taken keeps the rest. */
static void divide(struct gtp_stream_cpu *c, const struct gtp_restarts *r, u64 cutoff)
{
	const struct gtp_frame *f = NULL;
	u64 nth = c->taken.dropped;

	c->ready = c->taken;
	while ((f = gtp_buffer_next(&c->taken, f)) && is_older(f, nth, r, cutoff))
		nth++;
	c->taken.dropped = nth;
	if (!f)
		return;
	c->ready.created = nth;
	c->ready.head = (u32)((const u8 *)f - c->taken.mem);
	c->taken.tail = c->ready.head;
}

/* Report losses at their place in time: before the oldest frame that is left. */
static void tell_lost(struct gtp_stream *s, u32 i, u64 cutoff)
{
	struct gtp_stream_cpu *c = &s->cpus[i];
	const struct gtp_frame *next = gtp_buffer_next(&c->taken, NULL);
	u64 n = c->taken.dropped - c->base;

	c->base = c->taken.created;
	if (!n)
		return;
	gtp_buffer_begin(&c->lost.buf, GTP_TP_LOST, 0,
			 next && next->time < cutoff ? next->time : cutoff - 1);
	gtp_buffer_add_var(&c->lost.buf, GTP_TSV_CPU_ID, i);
	gtp_buffer_add_var(&c->lost.buf, GTP_TSV_LOST, (s64)n);
	gtp_buffer_commit(&c->lost.buf, 0);
}

static u64 now(const struct gtp_trace *t)
{
	for (u32 i = 0; i < t->run.ncpus; i++)
		if (t->run.cpus[i])
			return gtp_hit_now(t->run.cpus[i]);
	return U64_MAX;
}

enum { CLOCK_CHECK_US = 1000 * 1000 };

/*
 * Check the clock of the hits. The check interrupts every CPU, as the sweep itself does: once a
 * second is often enough.
 */
static void check_clock(struct gtp_stream *s)
{
	u64 us = s->t->target->wallclock_us(s->t->ctx);

	if (us - s->clock_us < CLOCK_CHECK_US)
		return;
	s->clock_us = us;
	gtp_trace_check_clock(s->t);
}

static void sweep(struct gtp_stream *s)
{
	struct gtp_trace *t = s->t;
	u64 cutoff;
	u32 i;

	check_clock(s);
	s->last = !gtp_trace_running(t);
	cutoff = s->last ? U64_MAX : now(t);
	for (i = 0; i < s->ncpus; i++) {
		struct gtp_stream_cpu *c = &s->cpus[i];
		struct gtp_buffer **bufs = &s->bufs[(size_t)BUFFERS * i];

		if (!t->run.cpus[i])
			continue;
		if (s->index.progress)
			s->index.progress(NULL, "taking frames", i, s->ncpus);
		take(s, i);
		tell_lost(s, i, cutoff);
		divide(c, &t->run.cpus[i]->restarts, cutoff);
		bufs[0] = &c->before;
		bufs[1] = &c->lost.buf;
		bufs[2] = &c->ready;
		s->restarts[BUFFERS * i] = &t->run.cpus[i]->restarts;
		s->restarts[BUFFERS * i + 2] = &t->run.cpus[i]->restarts;
	}
	if (!s->last)
		return;
	/* The frames that GDB or another reader has seen are gone. */
	gtp_index_free(&t->index, &t->mem);
	t->indexed = false;
	s->epoch = ++t->epoch;
}

static int merge(struct gtp_stream *s)
{
	int err;

	s->index.formats = s->t->formats;
	/* Frames of a stream have no numbers, so their number is not limited. */
	err = gtp_index_build(&s->index, &s->t->mem, s->bufs, s->restarts, BUFFERS * s->ncpus,
			      U32_MAX - 1);
	if (!err)
		s->state = GTP_STREAM_MERGED;
	return err;
}

static u64 index_len(const struct gtp_stream *s)
{
	return gtp_index_at(&s->index, s->index.n)->offset;
}

static u64 piece_len(const struct gtp_stream *s)
{
	if (!s->read_header)
		return s->header_len;
	if (s->state != GTP_STREAM_MERGED)
		return 0;
	return index_len(s) + (s->last ? GTP_FILE_END_BYTES : 0);
}

int gtp_stream_sweep(struct gtp_stream *s)
{
	if (is_stale(s))
		return -ESTALE;
	/* First merge frames that an earlier sweep has taken, if it had no memory to merge them. */
	if (s->state != GTP_STREAM_TAKEN) {
		gtp_index_free(&s->index, &s->t->mem);
		s->pos = 0;
		sweep(s);
		s->state = GTP_STREAM_TAKEN;
	}
	return merge(s);
}

/* --- reading the stream --- */

bool gtp_stream_urgent(const struct gtp_stream *s)
{
	if (is_stale(s))
		return true;
	for (u32 i = 0; i < s->ncpus; i++) {
		const struct gtp_cpu *cpu = s->t->run.cpus[i];

		if (cpu && gtp_buffer_used(&cpu->buf) > cpu->buf.size / URGENT_SHARE)
			return true;
	}
	return !gtp_trace_running(s->t);
}

bool gtp_stream_waits(const struct gtp_stream *s)
{
	if (is_stale(s) || s->state == GTP_STREAM_TAKEN || !gtp_trace_running(s->t))
		return true;
	for (u32 i = 0; i < s->ncpus; i++) {
		const struct gtp_cpu *cpu = s->t->run.cpus[i];

		if (cpu && (gtp_buffer_frames(&cpu->buf) || gtp_buffer_frames(&s->cpus[i].taken)))
			return true;
	}
	return false;
}

u64 gtp_stream_left(const struct gtp_stream *s)
{
	return piece_len(s) - s->pos;
}

bool gtp_stream_ended(const struct gtp_stream *s)
{
	return s->state == GTP_STREAM_MERGED && s->last && !gtp_stream_left(s);
}

static u32 copy_header(struct gtp_stream *s, u8 *dst, u32 len)
{
	u64 left = gtp_stream_left(s);

	len = len < left ? len : (u32)left;
	memcpy(dst, s->header + s->pos, len);
	s->pos += len;
	if (s->pos == s->header_len) {
		s->read_header = true;
		s->pos = 0;
	}
	return len;
}

static u32 copy_frames(struct gtp_stream *s, u8 *dst, u32 len)
{
	u32 done;
	u64 left;

	if (s->state != GTP_STREAM_MERGED)
		return 0;
	done = gtp_index_read(&s->index, s->pos, dst, len);
	s->pos += done;
	left = gtp_stream_left(s);
	if (s->pos < index_len(s))
		return done;
	len = len - done < left ? len - done : (u32)left;
	memset(dst + done, 0, len); /* the file's end */
	s->pos += len;
	return done + len;
}

s64 gtp_stream_read(struct gtp_stream *s, u8 *dst, u32 len)
{
	u32 done = 0;

	if (gtp_stream_ended(s))
		return 0;
	if (is_stale(s))
		return -ESTALE;
	if (!s->read_header)
		done = copy_header(s, dst, len);
	if (!s->read_header)
		return done;
	return done + copy_frames(s, dst + done, len - done);
}
