/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring for the text of printf on one CPU. Hits write the text, and a worker passes it to GDB.
 */
#ifndef _GTP_TEXT_KERNEL_H
#define _GTP_TEXT_KERNEL_H

#include <linux/types.h>

enum { GTP_TEXT_SIZE = 4096 }; /* maximum bytes of unread text on one CPU; a power of two */

/**
 * struct gtp_text - the ring for the text of printf on one CPU
 * @head: the number of bytes ever written; only the CPU's own hits write it, and they do not nest
 * @tail: the number of bytes ever read; only the reader writes it
 * @dropped: lines for which there was no room
 * @told: the part of @dropped that gtp_text_dropped() has returned
 */
struct gtp_text {
	u32 head, tail;
	u64 dropped, told;
	char ring[GTP_TEXT_SIZE];
};

/* gtp_text_put - append a whole text; if it does not fit, count it as dropped. Context: a hit */
void gtp_text_put(struct gtp_text *t, const char *text, u32 len);

/*
 * gtp_text_get - read at most @size - 1 bytes and terminate them; return their number. One reader
 * at a time
 */
u32 gtp_text_get(struct gtp_text *t, char *buf, u32 size);

/*
 * gtp_text_dropped - return how many lines were dropped since the last call. One reader at a time
 */
u64 gtp_text_dropped(struct gtp_text *t);

#endif /* _GTP_TEXT_KERNEL_H */
