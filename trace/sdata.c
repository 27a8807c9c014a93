// SPDX-License-Identifier: GPL-2.0-only
/* Show a frame's static data ($_sdata) as memory: the record and its description. */
#include "trace/sdata.h"

static_assert(GTP_SDATA_HEAD + GTP_SDATA_RECORD_MAX + GTP_SDATA_TEXT_MAX <= GTP_BLOCK_MEM_MAX,
	      "it becomes one M block of a trace file");

const struct gtp_block *gtp_sdata_block(const struct gtp_frame *f)
{
	const struct gtp_block *b = NULL;

	while ((b = gtp_frame_next_block(f, b)) && b->type != GTP_BLOCK_STATIC)
		;
	return b;
}

const struct gtp_sdata_format *gtp_sdata_find(const struct gtp_sdata_format *list,
					      const struct gtp_frame *f)
{
	while (list && list->addr != f->pc)
		list = list->next;
	return list;
}

u32 gtp_sdata_size(const struct gtp_frame *f, const struct gtp_sdata_format *list)
{
	const struct gtp_block *b = gtp_sdata_block(f);
	const struct gtp_sdata_format *format;

	if (!b)
		return 0;
	format = gtp_sdata_find(list, f);
	return GTP_SDATA_HEAD + b->len + (format ? format->len : 0);
}

/*
 * part - copy the requested part of the @n bytes at @bytes, whose offset is *@at; add @n to *@at.
 * Return the number of bytes copied
 */
static u32 part(const void *bytes, u32 n, u64 *at, u64 from, u8 *dst, u32 len)
{
	u64 start = *at, skip = from > start ? from - start : 0;

	*at += n;
	if (skip >= n)
		return 0;
	n -= (u32)skip;
	if (n > len)
		n = len;
	memcpy(dst, (const u8 *)bytes + skip, n);
	return n;
}

u32 gtp_sdata_read(const struct gtp_frame *f, const struct gtp_sdata_format *list, u64 offset,
		   u8 *dst, u32 len)
{
	const struct gtp_block *b = gtp_sdata_block(f);
	const struct gtp_sdata_format *format = gtp_sdata_find(list, f);
	u8 head[GTP_SDATA_HEAD];
	u32 done;
	u64 at = 0;

	if (!b)
		return 0;
	gtp_put_le(head, b->len, 4);
	gtp_put_le(head + 4, format ? format->len : 0, 4);
	done = part(head, sizeof(head), &at, offset, dst, len);
	done += part(b + 1, b->len, &at, offset, dst + done, len - done);
	if (format)
		done += part(format->text, format->len, &at, offset, dst + done, len - done);
	return done;
}
