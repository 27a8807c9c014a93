/* SPDX-License-Identifier: GPL-2.0-only */
/* The queue of bytes for GDB. It never blocks its producer, and grows on demand. */
#ifndef _GTP_OUTQ_H
#define _GTP_OUTQ_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

enum {
	/*
	 * Text that a run prints waits while the queue is longer than this. This limit is less than
	 * GTP_OUTQ_FULL: text alone must not keep GDB from writing the ^C that ends the run.
	 */
	GTP_OUTQ_TEXT_MAX = 16 << 10,
	/* A client for which this many bytes are queued must read before it can write. */
	GTP_OUTQ_FULL = 64 << 10,
	/*
	 * The replies to one packet and the text of a run may exceed GTP_OUTQ_FULL. A single reply
	 * fits into GTP_OUTQ_START bytes, without growing the queue.
	 */
	GTP_OUTQ_START = 256 << 10,
	GTP_OUTQ_MAX = 32 << 20,
};

/**
 * struct gtp_outq - a queue of bytes
 * @lock: held for a copy of a few KiB at most
 * @wait: readers that wait for bytes, and writers that wait for room
 * @ring: the memory of the queue, @size bytes, a power of two
 * @head: the number of bytes that were ever put
 * @tail: the number of bytes that were ever read
 * @broken: bytes were lost for lack of memory; the connection has to end
 */
struct gtp_outq {
	spinlock_t lock; /* guards all members except @wait */
	wait_queue_head_t wait;
	u8 *ring;
	u32 size;
	u64 head, tail;
	bool broken;
};

int gtp_outq_init(struct gtp_outq *q);
void gtp_outq_exit(struct gtp_outq *q);
void gtp_outq_put(struct gtp_outq *q, const void *bytes, u32 len);
u32 gtp_outq_peek(struct gtp_outq *q, void *dst, u32 len);
void gtp_outq_take(struct gtp_outq *q, u32 len);

/*
 * Read the queue's state without the lock: the producer or the consumer may change it at any time.
 */
static inline u64 gtp_outq_used(const struct gtp_outq *q)
{
	return READ_ONCE(q->head) - READ_ONCE(q->tail);
}

static inline bool gtp_outq_full(const struct gtp_outq *q)
{
	return gtp_outq_used(q) >= GTP_OUTQ_FULL;
}

static inline bool gtp_outq_broken(const struct gtp_outq *q)
{
	return READ_ONCE(q->broken);
}

#endif /* _GTP_OUTQ_H */
