// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring for the text of printf on one CPU. Hits write the text, and a worker passes it to GDB.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/barrier.h>

#include "kernel/hit/text_kernel.h"

static bool text_put(struct gtp_text *t, const char *text, u32 len)
{
	u32 head = t->head, at = head % GTP_TEXT_SIZE, part;

	/* Pairs with the release in gtp_text_get(): bytes before @tail may be overwritten. */
	if (len > GTP_TEXT_SIZE - (head - smp_load_acquire(&t->tail)))
		return false;
	part = min(len, GTP_TEXT_SIZE - at);
	memcpy(t->ring + at, text, part);
	memcpy(t->ring, text + part, len - part);
	/* Pairs with the acquire in gtp_text_get(). */
	smp_store_release(&t->head, head + len);
	return true;
}

void gtp_text_put(struct gtp_text *t, const char *text, u32 len)
{
	if (!text_put(t, text, len))
		WRITE_ONCE(t->dropped, t->dropped + 1);
}

u32 gtp_text_get(struct gtp_text *t, char *buf, u32 size)
{
	u32 tail = t->tail, at = tail % GTP_TEXT_SIZE, len;

	/* Pairs with the release in text_put(): the bytes before @head are written. */
	len = min3(smp_load_acquire(&t->head) - tail, size - 1, GTP_TEXT_SIZE - at);
	memcpy(buf, t->ring + at, len);
	buf[len] = '\0';
	/* Pairs with the acquire in text_put(). */
	smp_store_release(&t->tail, tail + len);
	return len;
}

u64 gtp_text_dropped(struct gtp_text *t)
{
	u64 dropped = READ_ONCE(t->dropped), fresh = dropped - t->told;

	t->told = dropped;
	return fresh;
}
