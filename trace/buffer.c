// SPDX-License-Identifier: GPL-2.0-only
/* One CPU's trace buffer: makes room, writes frames and their blocks, and walks the frames. */
#include "trace/buffer.h"
#include "trace/sdata.h"

void gtp_buffer_init(struct gtp_buffer *b, void *mem, u32 size, bool circular)
{
	*b = (struct gtp_buffer){
		.mem = mem,
		.size = size & ~7U,
		.end = size & ~7U,
		.circular = circular,
	};
}

static struct gtp_frame *frame_at(const struct gtp_buffer *b, u32 pos)
{
	return (struct gtp_frame *)(b->mem + pos);
}

/*
 * Drop the oldest frames, which follow @head, until there are @room bytes at @head; before the end
 * of the ring there are at least as many. If the last frame of the ring is dropped, the ring is no
 * longer wrapped. Only the last frame can be padding.
 */
static void drop_behind(struct gtp_buffer *b, u32 room)
{
	u32 stop = b->head + room, tail = b->tail, last;
	u64 n = 0;

	do {
		last = tail;
		tail += frame_at(b, tail)->size;
		n++;
	} while (tail < stop);
	WRITE_ONCE(b->dropped, b->dropped + n - !!(frame_at(b, last)->flags & GTP_FRAME_PAD));
	WRITE_ONCE(b->end, tail);
	b->tail = tail == b->size ? 0 : tail;
}

/*
 * Move the open frame from the end of the ring to its front, where there is room. The space up to
 * the end of the ring becomes a padding frame. The first 8 bytes of its head always fit, because
 * all sizes are multiples of 8.
 */
static void move_to_front(struct gtp_buffer *b)
{
	u32 pad = b->size - b->head;

	memmove(b->mem, b->mem + b->head, b->open);
	if (b->tail == b->head) {
		b->tail = 0; /* the moved frame is the only frame */
	} else if (pad) {
		struct gtp_frame *f = frame_at(b, b->head);

		f->size = pad;
		f->tp = 0;
		f->flags = GTP_FRAME_PAD;
	}
	WRITE_ONCE(b->end, b->tail ? b->tail : b->size);
	b->head = 0;
}

/* Make @room bytes at the front: drop all frames after @head, then the oldest from the front. */
static void drop_for_front(struct gtp_buffer *b, u32 room)
{
	u32 tail;
	u64 n = 0;

	if (b->end < b->size)
		drop_behind(b, b->size - b->head);
	for (tail = b->tail; tail < room && tail < b->head; n++)
		tail += frame_at(b, tail)->size;
	b->tail = tail;
	WRITE_ONCE(b->dropped, b->dropped + n);
}

/* Make @need bytes of room for the open frame and, if possible, @want for it and later frames. */
static void drop(struct gtp_buffer *b, u32 need, u32 want)
{
	if (need <= b->size - b->head) {
		drop_behind(b, want < b->size - b->head ? want : b->size - b->head);
		return;
	}
	drop_for_front(b, want);
	move_to_front(b);
}

/*
 * Reserve room in a circular buffer; return NULL for other buffers, which are full. Out of line, so
 * that the fast path saves no registers for it.
 */
static noinline void *reserve_by_dropping(struct gtp_buffer *b, u32 need)
{
	u32 at = b->open;

	if (!b->circular || need > b->size)
		return NULL;
	drop(b, need, need);
	b->open = need;
	return b->mem + b->head + at;
}

/*
 * The number of bytes to drop is a compromise: the larger it is, the fewer hits must drop frames,
 * but the longer such a hit takes.
 */
enum { DROP_SHARE = 16, DROP_MOST = 4096 };

bool gtp_buffer_make_room(struct gtp_buffer *b, u32 bytes)
{
	u32 want = b->size / DROP_SHARE;

	if (!b->circular || bytes > b->size)
		return false;
	want = want < DROP_MOST ? want : DROP_MOST;
	drop(b, bytes, want > bytes ? want : bytes);
	return true;
}

void *gtp_buffer_reserve(struct gtp_buffer *b, u32 bytes)
{
	u32 at = b->open;
	u64 need = (u64)at + bytes;

	if (unlikely(need > GTP_FRAME_MAX))
		return NULL;
	if (unlikely(need > b->end - b->head))
		return reserve_by_dropping(b, (u32)need);
	b->open = (u32)need;
	return b->mem + b->head + at;
}

/*
 * Return the error of a failed gtp_buffer_reserve(): the frame is too large for any buffer
 * (-E2BIG), or the buffer is full (-ENOSPC).
 */
static int refusal(const struct gtp_buffer *b, u64 bytes)
{
	return b->open + bytes > GTP_FRAME_MAX ? -E2BIG : -ENOSPC;
}

int gtp_buffer_begin(struct gtp_buffer *b, u16 tp, u64 pc, u64 time)
{
	struct gtp_frame *f;

	b->open = 0;
	f = gtp_buffer_reserve(b, sizeof(*f));
	if (unlikely(!f))
		return -ENOSPC;
	f->tp = tp;
	f->time = time;
	f->pc = pc;
	return 0;
}

void gtp_buffer_commit(struct gtp_buffer *b, u16 flags)
{
	struct gtp_frame *f = frame_at(b, b->head);

	f->size = b->open;
	f->flags = flags;
	gtp_buffer_push(b, b->open);
	b->open = 0;
}

void gtp_buffer_abort(struct gtp_buffer *b)
{
	b->open = 0;
}

const struct gtp_frame *gtp_buffer_next(const struct gtp_buffer *b, const struct gtp_frame *f)
{
	u32 pos = b->tail;

	if (!gtp_buffer_frames(b))
		return NULL;
	if (f) {
		pos = (u32)((const u8 *)f - b->mem) + f->size;
		if (pos == b->head)
			return NULL;
	}
	/*
	 * Continue at the front after the end of the ring or at its padding. There are no frames at
	 * the front if the frame that was moved there was aborted.
	 */
	if (pos == b->size || frame_at(b, pos)->flags & GTP_FRAME_PAD)
		return b->head ? frame_at(b, 0) : NULL;
	return frame_at(b, pos);
}

static u64 *add_block(struct gtp_buffer *b, u16 type, u16 num, u32 len, u32 room)
{
	struct gtp_block *block = gtp_buffer_reserve(b, sizeof(*block) + room);

	if (unlikely(!block))
		return NULL;
	block->len = (u16)len;
	block->type = type;
	block->num = num;
	return (u64 *)(block + 1);
}

/* Count bits. __builtin_popcount() may call a library function that the kernel does not have. */
static u32 count_bits(u32 m)
{
	static_assert(GTP_NR_SAVED_REGS <= 32, "a mask of saved registers fits 32 bits");
	m -= (m >> 1) & 0x55555555;
	m = (m & 0x33333333) + ((m >> 2) & 0x33333333);
	return (((m + (m >> 4)) & 0x0f0f0f0f) * 0x01010101) >> 24;
}

/* Store the registers that a mask selects, in the order of the mask's bits. */
static void put_regs(u64 *p, const struct gtp_regs *regs, u64 pc, u32 left)
{
	/*
	 * For "collect $regs" store all general registers without testing each bit, in half the
	 * time.
	 */
	if ((left & GTP_REGS_GENERAL) == GTP_REGS_GENERAL) {
		p = gtp_regs_put_general(p, regs);
		left &= ~(u32)GTP_REGS_GENERAL;
	}
	for (; left; left &= left - 1) {
		u32 n = (u32)__builtin_ctz(left);

		*p++ = n == GTP_REG_PC ? pc : gtp_regs_get(regs, n);
	}
}

int gtp_buffer_add_regs(struct gtp_buffer *b, const struct gtp_regs *regs, u64 pc, u64 mask)
{
	u32 left = mask & GTP_REGS_KNOWN;
	u32 bytes = 8 + 8 * count_bits(left);
	u64 *p;

	if (!left)
		return 0;
	p = add_block(b, GTP_BLOCK_REGS, 0, bytes, bytes);
	if (unlikely(!p))
		return refusal(b, sizeof(struct gtp_block) + bytes);
	*p++ = left;
	put_regs(p, regs, pc, left);
	return 0;
}

int gtp_buffer_add_var(struct gtp_buffer *b, u16 tsv, s64 value)
{
	u64 *p = add_block(b, GTP_BLOCK_VAR, tsv, 8, 8);

	if (unlikely(!p))
		return refusal(b, sizeof(struct gtp_block) + 8);
	*p = (u64)value;
	return 0;
}

int gtp_buffer_add_static(struct gtp_buffer *b, const void *record, u32 len, u8 **copy)
{
	u32 room = gtp_round8(len);
	u64 *p;

	if (unlikely(len > GTP_SDATA_RECORD_MAX))
		return -E2BIG;
	p = add_block(b, GTP_BLOCK_STATIC, 0, len, room);
	if (unlikely(!p))
		return refusal(b, sizeof(struct gtp_block) + room);
	memcpy(p, record, len);
	if (copy)
		*copy = (u8 *)p;
	return 0;
}

static int add_mem_block(struct gtp_buffer *b, u64 addr, u32 len,
			 int (*read)(void *ctx, void *dst, u64 addr, u32 len), void *ctx)
{
	u32 room = 8 + gtp_round8(len);
	u64 *p = add_block(b, GTP_BLOCK_MEM, 0, len, room);

	if (unlikely(!p))
		return refusal(b, sizeof(struct gtp_block) + room);
	*p = addr;
	return read(ctx, p + 1, addr, len);
}

int gtp_buffer_add_mem(struct gtp_buffer *b, u64 addr, u64 len,
		       int (*read)(void *ctx, void *dst, u64 addr, u32 len), void *ctx)
{
	u32 mark = gtp_buffer_mark(b);
	int err = 0;

	/*
	 * Refuse the frame now; otherwise older frames would be dropped and memory read for
	 * nothing.
	 */
	if (unlikely(len > GTP_FRAME_MAX))
		return -E2BIG;
	while (len && !err) {
		u32 n = len < GTP_BLOCK_MEM_MAX ? (u32)len : GTP_BLOCK_MEM_MAX;

		err = add_mem_block(b, addr, n, read, ctx);
		addr += n;
		len -= n;
	}
	if (unlikely(err))
		gtp_buffer_rewind(b, mark);
	return err;
}

/*
 * The most bytes that are read of a string at once. Most strings need one or two reads. Reads end
 * at multiples of STRING_STEP, so none crosses a page boundary.
 */
enum { STRING_STEP = 64 };

static u32 string_step(u64 addr, u64 left)
{
	u32 n = STRING_STEP - (u32)(addr & (STRING_STEP - 1));

	return n < left ? n : (u32)left;
}

/**
 * add_string_block() - add one MEM block of a string
 * @b: this CPU's buffer
 * @addr: address of the string
 * @max: most bytes of the block, at most GTP_BLOCK_MEM_MAX
 * @ended: set to true if the block contains the NUL
 * @read: copies memory
 * @ctx: passed to @read
 *
 * Return: 0, or the same errors as gtp_buffer_add_mem(). After an error a part of the block may be
 * in the frame; the caller must rewind.
 */
static int add_string_block(struct gtp_buffer *b, u64 addr, u32 max, bool *ended,
			    int (*read)(void *ctx, void *dst, u64 addr, u32 len), void *ctx)
{
	u32 start = gtp_buffer_mark(b);
	u32 data = start + sizeof(struct gtp_block) + 8;
	u64 *p = add_block(b, GTP_BLOCK_MEM, 0, 0, 8);
	u32 len = 0;

	if (unlikely(!p))
		return refusal(b, sizeof(struct gtp_block) + 8);
	*p = addr;
	while (len < max && !*ended) {
		u32 n = string_step(addr + len, max - len);
		u32 more = data + gtp_round8(len + n) - b->open;
		const u8 *nul;
		u8 *dst;
		int err;

		if (unlikely(!gtp_buffer_reserve(b, more)))
			return refusal(b, more);
		dst = b->mem + b->head + data + len; /* the frame may have moved */
		err = read(ctx, dst, addr + len, n);
		if (unlikely(err))
			return err;
		nul = memchr(dst, 0, n);
		*ended = nul;
		len += nul ? (u32)(nul - dst) + 1 : n;
	}
	((struct gtp_block *)(b->mem + b->head + start))->len = (u16)len;
	gtp_buffer_rewind(b, data + gtp_round8(len));
	return 0;
}

int gtp_buffer_add_string(struct gtp_buffer *b, u64 addr, u64 max,
			  int (*read)(void *ctx, void *dst, u64 addr, u32 len), void *ctx)
{
	u32 mark = gtp_buffer_mark(b);
	bool ended = false;
	int err = 0;

	while (max && !ended && !err) {
		u32 n = max < GTP_BLOCK_MEM_MAX ? (u32)max : GTP_BLOCK_MEM_MAX;

		err = add_string_block(b, addr, n, &ended, read, ctx);
		addr += n;
		max -= n;
	}
	if (unlikely(err))
		gtp_buffer_rewind(b, mark);
	return err;
}
