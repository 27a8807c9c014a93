// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of lines of text, one for each CPU. Hits write the lines and a reader reads them, without a
 * lock.
 *
 * A line is contiguous. If a line does not fit before the end of the ring, a filler takes the rest
 * of the ring: only the first 8 bytes of a struct gtp_line, with the value filler in @len.
 */
#include "hit/lines.h"

static const u32 filler = U32_MAX;

static struct gtp_line *at(struct gtp_lines *r, u32 pos)
{
	return (struct gtp_line *)&r->ring[pos % GTP_LINES_SIZE / sizeof(u64)];
}

static void fill(struct gtp_lines *r, u32 pos, u32 bytes)
{
	struct gtp_line *line = at(r, pos);

	line->bytes = bytes;
	line->len = filler;
}

bool gtp_lines_put(struct gtp_lines *r, const struct gtp_line *line, const void *text)
{
	u32 bytes = gtp_round8((u32)sizeof(*line) + line->len), head = r->head;
	u32 rest = GTP_LINES_SIZE - head % GTP_LINES_SIZE;
	u32 skip = bytes > rest ? rest : 0;
	struct gtp_line *to;

	/*
	 * Pairs with gtp_publish() in gtp_lines_next(): the bytes before @tail may be overwritten.
	 */
	if (skip + bytes > GTP_LINES_SIZE - (head - gtp_acquire(&r->tail))) {
		WRITE_ONCE(r->dropped, r->dropped + 1);
		return false;
	}
	if (skip)
		fill(r, head, skip);
	to = at(r, head + skip);
	*to = *line;
	to->bytes = bytes;
	memcpy(to + 1, text, line->len);
	/* Pairs with gtp_acquire() in gtp_lines_first(): the whole line is written before @head. */
	gtp_publish(&r->head, head + skip + bytes);
	return true;
}

const struct gtp_line *gtp_lines_first(struct gtp_lines *r)
{
	/* Pairs with gtp_publish() in gtp_lines_put(): all bytes before @head are written. */
	u32 head = gtp_acquire(&r->head);

	while (r->tail != head) {
		const struct gtp_line *line = at(r, r->tail);

		if (line->len != filler)
			return line;
		gtp_lines_next(r);
	}
	return NULL;
}

void gtp_lines_next(struct gtp_lines *r)
{
	/* Pairs with gtp_acquire() in gtp_lines_put(): the reader has finished with the line. */
	gtp_publish(&r->tail, r->tail + at(r, r->tail)->bytes);
}

u64 gtp_lines_dropped(struct gtp_lines *r)
{
	u64 dropped = READ_ONCE(r->dropped), fresh = dropped - r->told;

	r->told = dropped;
	return fresh;
}

static bool was_seen(const struct gtp_lines *r)
{
	return (s32)(r->seen - r->tail) > 0;
}

struct gtp_lines *gtp_lines_oldest(struct gtp_lines *const *all, u32 n, u64 before)
{
	struct gtp_lines *oldest = NULL;
	u64 time = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		const struct gtp_line *line = all[i] ? gtp_lines_first(all[i]) : NULL;

		if (!line || (oldest && line->time >= time))
			continue;
		if (line->time >= before && !was_seen(all[i]))
			continue;
		oldest = all[i];
		time = line->time;
	}
	return oldest;
}

void gtp_lines_see(struct gtp_lines *r)
{
	r->seen = gtp_acquire(&r->head);
}

bool gtp_lines_wait(struct gtp_lines *const *all, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (all[i] && gtp_lines_first(all[i]))
			return true;
	return false;
}
