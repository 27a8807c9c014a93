/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes on their way to GDB: a queue that takes what it is given and grows when it must. */
#ifndef _GTP_OUTQ_H
#define _GTP_OUTQ_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

enum {
	/*
	 * What a run prints stops here. Less than GTP_OUTQ_FULL, so that text alone never keeps GDB
	 * from writing: it could not send the ^C that ends the text.
	 */
	GTP_OUTQ_TEXT_MAX = 16 << 10,
	/* No more packets are taken from a client that has this much to read. */
	GTP_OUTQ_FULL = 64 << 10,
	/*
	 * Beyond that one packet's replies, and what a run prints. One reply fits without
	 * growing.
	 */
	GTP_OUTQ_START = 256 << 10,
	GTP_OUTQ_MAX = 32 << 20,
};

/**
 * struct gtp_outq - the queue
 * @lock: held for a copy of a few KiB at most
 * @wait: readers that wait for bytes, writers that wait for room
 * @ring: @size bytes, a power of two
 * @head: bytes ever put
 * @tail: bytes ever read
 * @broken: bytes were lost, because there was no memory to keep them; the connection is of no use
 *         any more
 */
struct gtp_outq {
	spinlock_t lock; /* of all but @wait */
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

/* Both are hints that are true when they are asked: one producer, one consumer at a time. */
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
