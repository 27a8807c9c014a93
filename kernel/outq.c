// SPDX-License-Identifier: GPL-2.0-only
/* The queue of bytes for GDB. It never blocks its producer, and grows on demand. */
#include <linux/poll.h>

#include "kernel/base/mem_kernel.h"
#include "kernel/outq.h"

/**
 * gtp_outq_init() - make an empty queue
 * @q: zeroed
 *
 * Return: 0 or -ENOMEM.
 */
int gtp_outq_init(struct gtp_outq *q)
{
	spin_lock_init(&q->lock);
	init_waitqueue_head(&q->wait);
	q->ring = gtp_mem_alloc(GTP_OUTQ_START);
	if (!q->ring)
		return -ENOMEM;
	q->size = GTP_OUTQ_START;
	return 0;
}

void gtp_outq_exit(struct gtp_outq *q)
{
	gtp_mem_free(q->ring);
	q->ring = NULL;
}

/* copy_out - copy @len bytes from position @pos of the queue, which has all of them */
static void copy_out(const struct gtp_outq *q, u64 pos, u8 *dst, u32 len)
{
	u32 at = pos & (q->size - 1), part = min(len, q->size - at);

	memcpy(dst, q->ring + at, part);
	memcpy(dst + part, q->ring, len - part);
}

static void copy_in(struct gtp_outq *q, u64 pos, const u8 *src, u32 len)
{
	u32 at = pos & (q->size - 1), part = min(len, q->size - at);

	memcpy(q->ring + at, src, part);
	memcpy(q->ring, src + part, len - part);
}

/*
 * Move to a larger ring; return false if there is no memory. There is one producer, the caller; a
 * concurrent reader only advances @tail and changes no byte. So copy without the lock: there may be
 * megabytes to copy.
 */
static bool grow(struct gtp_outq *q, u64 need)
{
	u32 size = q->size;
	u8 *ring, *old = q->ring;
	u64 pos;

	if (need > GTP_OUTQ_MAX)
		return false;
	while (size < need)
		size *= 2;
	ring = gtp_mem_alloc(size);
	if (!ring)
		return false;
	for (pos = READ_ONCE(q->tail); pos < q->head; pos++)
		ring[pos & (size - 1)] = old[pos & (q->size - 1)];
	spin_lock(&q->lock);
	q->ring = ring;
	q->size = size;
	spin_unlock(&q->lock);
	gtp_mem_free(old);
	return true;
}

/**
 * gtp_outq_put() - append bytes
 * @q: the queue
 * @bytes: the bytes
 * @len: the number of bytes
 *
 * Never waits for the reader: GDB reads only after its write has returned. The queue is bounded by
 * GTP_OUTQ_FULL plus the replies to one packet. If there is no memory for the bytes, the queue is
 * broken: the reader gets the bytes before the gap, then an error, never a stream with a gap in it.
 *
 * Context: process, may sleep; one caller at a time (gtp_lock).
 */
void gtp_outq_put(struct gtp_outq *q, const void *bytes, u32 len)
{
	u64 need = gtp_outq_used(q) + len;

	if (!q->broken && need > q->size && !grow(q, need))
		WRITE_ONCE(q->broken, true);
	if (!q->broken) {
		spin_lock(&q->lock);
		copy_in(q, q->head, bytes, len);
		WRITE_ONCE(q->head, q->head + len);
		spin_unlock(&q->lock);
	}
	wake_up_interruptible_poll(&q->wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * gtp_outq_peek() - copy the oldest bytes and leave them queued
 * @q: the queue
 * @dst: receives the bytes
 * @len: the room in @dst
 *
 * Context: one reader at a time. Return: the number of bytes copied.
 */
u32 gtp_outq_peek(struct gtp_outq *q, void *dst, u32 len)
{
	spin_lock(&q->lock);
	len = min_t(u64, len, q->head - q->tail);
	copy_out(q, q->tail, dst, len);
	spin_unlock(&q->lock);
	return len;
}

/* gtp_outq_take() - drop the @len oldest bytes, whether gtp_outq_peek() has copied them or not */
void gtp_outq_take(struct gtp_outq *q, u32 len)
{
	spin_lock(&q->lock);
	WRITE_ONCE(q->tail, q->tail + len);
	spin_unlock(&q->lock);
	wake_up_interruptible_poll(&q->wait, EPOLLOUT | EPOLLWRNORM);
}
