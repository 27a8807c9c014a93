/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU's trace buffer: a ring of whole frames, which has one writer and is in the caller's
 * memory.
 */
#ifndef _GTP_BUFFER_H
#define _GTP_BUFFER_H

#include "base/base.h"
#include "trace/frame.h"

/**
 * struct gtp_buffer - the ring of one CPU's frames
 * @mem: the bytes of the ring, 8-aligned; owned by the caller
 * @head: offset of the next frame; equals @size if the ring is full to its end
 * @end: the end of the free space that begins at @head
 * @size: bytes of the ring; multiple of 8, at least GTP_BUFFER_MIN
 * @tail: offset of the oldest frame
 * @open: bytes of the frame that is being written at @head; 0: no frame is open
 * @circular: true to drop the oldest frames instead of refusing new frames
 * @created: the number of frames that were ever committed
 * @dropped: the number of these frames that were dropped since
 *
 * [0, @head) is always in use: frames are dropped only to write at @head, and the oldest frame
 * follows @head, or is at 0 if the ring has not wrapped. So the free space is contiguous, [@head,
 * @end). @end equals @size if the ring has not wrapped, and @tail if it has.
 *
 * Only hits on its CPU write the buffer, one at a time, since nested hits are skipped. So no
 * atomics are needed. Frames are read when the run is stopped. Each counter may be read at any
 * time, but two counters may then be of different moments. The members that the fast path of a
 * frame uses come first.
 */
struct gtp_buffer {
	u8 *mem;
	u32 head;
	u32 end;
	u64 created;
	u64 dropped;
	u32 size;
	u32 tail;
	u32 open;
	bool circular;
};

enum { GTP_BUFFER_MIN = 4096 };

void gtp_buffer_init(struct gtp_buffer *b, void *mem, u32 size, bool circular);

/* gtp_buffer_frames - return the number of frames in the buffer */
static inline u64 gtp_buffer_frames(const struct gtp_buffer *b)
{
	u64 dropped = READ_ONCE(b->dropped);

	return READ_ONCE(b->created) - dropped;
}

/* gtp_buffer_used - return how many bytes of the ring are in use, padding included */
static inline u32 gtp_buffer_used(const struct gtp_buffer *b)
{
	u32 head = READ_ONCE(b->head), end = READ_ONCE(b->end);

	/* A hit on the buffer's CPU may have changed both between the two reads. */
	return end > head ? b->size - (end - head) : b->size;
}

/**
 * gtp_buffer_has_room() - true if there is room for a whole frame without dropping others
 * @b: this CPU's buffer, in which no frame is open
 * @bytes: the size of the frame: a multiple of 8, at most GTP_FRAME_MAX
 *
 * Used by the fast path, which writes the frame at gtp_buffer_room() and adds it with
 * gtp_buffer_push(). If there is no room, gtp_buffer_make_room() may make some.
 */
static inline bool gtp_buffer_has_room(const struct gtp_buffer *b, u32 bytes)
{
	/* The sum cannot overflow: a ring has at most 1 GiB. */
	return b->head + bytes <= b->end;
}

/**
 * gtp_buffer_make_room() - drop the oldest frames to make room for a whole frame
 * @b: this CPU's buffer, no frame open, for which gtp_buffer_has_room() is false
 * @bytes: the size of the frame, as for gtp_buffer_has_room()
 *
 * A circular buffer drops more than the frame needs, a sixteenth of the ring or 4 KiB, whichever is
 * less, so that the next frames find room at once.
 *
 * Return: true if gtp_buffer_has_room() is now true.
 */
bool gtp_buffer_make_room(struct gtp_buffer *b, u32 bytes);

static inline void *gtp_buffer_room(const struct gtp_buffer *b)
{
	return b->mem + b->head;
}

/*
 * gtp_buffer_push - add the frame that was written at gtp_buffer_room(); @bytes is its size,
 * including its head
 */
static inline void gtp_buffer_push(struct gtp_buffer *b, u32 bytes)
{
	b->head += bytes;
	gtp_inc_local(&b->created);
}

/**
 * gtp_buffer_begin() - open a frame
 * @b: this CPU's buffer
 * @tp: the number of the tracepoint
 * @pc: the address of the location
 * @time: the time of the hit, see struct gtp_frame
 *
 * Return: 0, or -ENOSPC.
 */
int gtp_buffer_begin(struct gtp_buffer *b, u16 tp, u64 pc, u64 time);

/**
 * gtp_buffer_reserve() - extend the open frame
 * @b: this CPU's buffer
 * @bytes: the number of bytes to add; a multiple of 8
 *
 * The frame stays contiguous: at the end of the ring it moves to the front, so pointers into it are
 * invalid after this call. A circular buffer drops whole frames, the oldest first.
 * Return: uninitialised memory, 8-aligned; NULL if the buffer is full or the frame would be larger
 * than GTP_FRAME_MAX or, in a circular buffer, than the ring.
 */
void *gtp_buffer_reserve(struct gtp_buffer *b, u32 bytes);

/* gtp_buffer_rewind - undo the reservations since gtp_buffer_mark() */
static inline u32 gtp_buffer_mark(const struct gtp_buffer *b)
{
	return b->open;
}

static inline void gtp_buffer_rewind(struct gtp_buffer *b, u32 mark)
{
	b->open = mark;
}

/* gtp_buffer_commit - close the open frame; its head receives @flags */
void gtp_buffer_commit(struct gtp_buffer *b, u16 flags);

/* gtp_buffer_abort - drop the open frame with all its blocks */
void gtp_buffer_abort(struct gtp_buffer *b);

/**
 * gtp_buffer_next() - walk the frames, oldest first
 * @b: a buffer without a writer
 * @f: the previous frame, NULL for the oldest
 *
 * Return: the next frame or NULL.
 */
const struct gtp_frame *gtp_buffer_next(const struct gtp_buffer *b, const struct gtp_frame *f);

/* Add a block to the open frame. Return: 0, -ENOSPC (full) or -E2BIG (above GTP_FRAME_MAX). */
int gtp_buffer_add_regs(struct gtp_buffer *b, const struct gtp_regs *regs, u64 pc, u64 mask);
int gtp_buffer_add_var(struct gtp_buffer *b, u16 tsv, s64 value);

/*
 * gtp_buffer_add_static - add a kernel event's record as a block; @copy, if not NULL, receives its
 * address in the buffer
 */
int gtp_buffer_add_static(struct gtp_buffer *b, const void *record, u32 len, u8 **copy);

/**
 * gtp_buffer_add_mem() - add the bytes at @addr as MEM blocks of at most GTP_BLOCK_MEM_MAX bytes
 * @b: this CPU's buffer, with an open frame
 * @addr: the address of the first byte
 * @len: the number of bytes; 0 adds nothing
 * @read: copies the bytes; returns 0 or -EFAULT
 * @ctx: passed to @read
 *
 * After a fault nothing is added. Return: 0, -EFAULT, -ENOSPC, -E2BIG.
 */
int gtp_buffer_add_mem(struct gtp_buffer *b, u64 addr, u64 len,
		       int (*read)(void *ctx, void *dst, u64 addr, u32 len), void *ctx);

/**
 * gtp_buffer_add_string() - like gtp_buffer_add_mem(), for the bytes at @addr through the first
 * NUL, at most @max
 *
 * Never reads a page after the one in which the string ends. After a fault before its end nothing
 * is added.
 * Return: 0, -EFAULT, -ENOSPC, -E2BIG.
 */
int gtp_buffer_add_string(struct gtp_buffer *b, u64 addr, u64 max,
			  int (*read)(void *ctx, void *dst, u64 addr, u32 len), void *ctx);

#endif /* _GTP_BUFFER_H */
