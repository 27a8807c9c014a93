// SPDX-License-Identifier: GPL-2.0-only
/* Reads tables of regions. gtp_table_open() checks the whole table, so look-ups need no checks. */
#include "regions/table.h"

enum {
	AT_SIZE = 8,
	AT_CRC = 12,
	AT_ID = 16,
	AT_SPANS = 48,
	AT_LISTS = 52,
	INDEX_ENTRY = 8,
	VARINT_MAX = 5,
};

u32 gtp_table_crc(const u8 *bytes, size_t n)
{
	u32 crc = U32_MAX;
	size_t i;
	u32 bit;

	for (i = 0; i < n; i++) {
		crc ^= bytes[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static u32 get32(const u8 *p)
{
	return (u32)gtp_get_le(p, 4);
}

/*
 * Read the difference between two entries and move *@at past it. Return 0 if it is cut off or too
 * long; a difference is never 0.
 */
static u32 varint(const u8 *bytes, u32 size, u32 *at)
{
	u64 v = 0;
	u32 i;

	for (i = 0; i < VARINT_MAX && *at < size; i++) {
		u8 b = bytes[(*at)++];

		v |= (u64)(b & 0x7f) << (7 * i);
		if (!(b & 0x80))
			return v <= U32_MAX ? (u32)v : 0;
	}
	return 0;
}

static u32 blocks(u32 n)
{
	return n / GTP_TABLE_BLOCK + (n % GTP_TABLE_BLOCK != 0);
}

void gtp_table_span(const struct gtp_table *t, u32 i, struct gtp_table_span *span)
{
	const u8 *p = t->bytes + GTP_TABLE_HEAD + i * GTP_TABLE_SPAN;

	span->name = (const char *)p;
	span->addr = gtp_get_le(p + GTP_TABLE_NAME, 8);
	span->size = get32(p + GTP_TABLE_NAME + 8);
	span->flags = get32(p + GTP_TABLE_NAME + 12);
}

static const u8 *list_at(const struct gtp_table *t, u32 i)
{
	return t->bytes + GTP_TABLE_HEAD + t->spans_n * GTP_TABLE_SPAN + i * GTP_TABLE_LIST;
}

void gtp_table_list(const struct gtp_table *t, u32 i, struct gtp_table_list *list)
{
	const u8 *p = list_at(t, i);

	list->span = get32(p);
	list->kind = get32(p + 4);
	list->n = get32(p + 8);
	list->bytes = t->bytes + get32(p + 12);
	list->size = get32(p + 16);
}

bool gtp_table_find(const struct gtp_table *t, u32 span, enum gtp_table_kind kind,
		    struct gtp_table_list *list)
{
	u32 i;

	for (i = 0; i < t->lists_n; i++) {
		gtp_table_list(t, i, list);
		if (list->span == span && list->kind == (u32)kind)
			return true;
	}
	return false;
}

/* Check that the spans and the heads of the lists are within the file, before reading them. */
static const char *check_head(struct gtp_table *t)
{
	u64 need;

	if (t->size < GTP_TABLE_HEAD)
		return "it is shorter than its header";
	if (memcmp(t->bytes, GTP_TABLE_MAGIC, 8))
		return "it is no table of regions, or one of another version";
	if (get32(t->bytes + AT_SIZE) != t->size)
		return "its size is not the one in its header";
	if (get32(t->bytes + AT_CRC) != gtp_table_crc(t->bytes + AT_ID, t->size - AT_ID))
		return "its checksum is wrong";
	if (t->bytes[AT_ID] > GTP_TABLE_ID)
		return "its build-id is too long";
	t->spans_n = get32(t->bytes + AT_SPANS);
	t->lists_n = get32(t->bytes + AT_LISTS);
	need = GTP_TABLE_HEAD + (u64)t->spans_n * GTP_TABLE_SPAN + (u64)t->lists_n * GTP_TABLE_LIST;
	return need > t->size ? "its directories reach past its end" : NULL;
}

static const char *check_span(const struct gtp_table *t, u32 i)
{
	struct gtp_table_span span;

	gtp_table_span(t, i, &span);
	if (!memchr(span.name, 0, GTP_TABLE_NAME))
		return "a span's name has no end";
	if (span.addr > ~0ULL - span.size)
		return "a span reaches past the last address";
	return NULL;
}

/* Check one block: its index entry, and that its entries ascend and are within the span. */
static const char *check_block(const struct gtp_table_list *l, u32 block, u32 *last, u32 *at,
			       u32 limit)
{
	u32 first = get32(l->bytes + block * INDEX_ENTRY);
	u32 left = l->n - block * GTP_TABLE_BLOCK;

	if (left > GTP_TABLE_BLOCK)
		left = GTP_TABLE_BLOCK;
	if (get32(l->bytes + block * INDEX_ENTRY + 4) != *at)
		return "a list's index is wrong";
	if (block && first <= *last)
		return "a list does not grow";
	for (*last = first; --left;) {
		u32 step = varint(l->bytes, l->size, at);

		if (!step || step > U32_MAX - *last)
			return "a list does not grow";
		*last += step;
	}
	return *last >= limit ? "an entry lies past its span" : NULL;
}

static const char *check_list(const struct gtp_table *t, u32 i)
{
	const u8 *raw = list_at(t, i);
	struct gtp_table_span span;
	struct gtp_table_list l;
	const char *why = NULL;
	u32 block, at, last = 0;

	if (get32(raw + 12) > t->size || get32(raw + 16) > t->size - get32(raw + 12))
		return "a list reaches past its end";
	gtp_table_list(t, i, &l);
	if (l.span >= t->spans_n)
		return "a list is of no span";
	if ((u64)blocks(l.n) * INDEX_ENTRY > l.size)
		return "a list is shorter than its index";
	gtp_table_span(t, l.span, &span);
	at = blocks(l.n) * INDEX_ENTRY;
	for (block = 0; !why && block < blocks(l.n); block++)
		why = check_block(&l, block, &last, &at, span.size);
	if (!why && at != l.size)
		why = "a list is longer than its entries";
	return why;
}

int gtp_table_open(struct gtp_table *t, const void *bytes, size_t size, const char **why)
{
	struct gtp_table new = { .bytes = bytes, .size = (u32)size };
	const char *wrong = size > GTP_TABLE_MAX ? "it is too large" : check_head(&new);
	u32 i;

	for (i = 0; !wrong && i < new.spans_n; i++)
		wrong = check_span(&new, i);
	for (i = 0; !wrong && i < new.lists_n; i++)
		wrong = check_list(&new, i);
	if (wrong) {
		*why = wrong;
		return -EINVAL;
	}
	*t = new;
	return 0;
}

u32 gtp_table_build_id(const struct gtp_table *t, const u8 **id)
{
	*id = t->bytes + AT_ID + 1;
	return t->bytes[AT_ID];
}

/* Return the last block whose first entry is @from or less; if there is none, the first block. */
static u32 block_of(const struct gtp_table_list *list, u32 from)
{
	u32 low = 0, high = blocks(list->n);

	while (high - low > 1) {
		u32 mid = low + (high - low) / 2;

		if (get32(list->bytes + mid * INDEX_ENTRY) <= from)
			low = mid;
		else
			high = mid;
	}
	return low;
}

bool gtp_table_next(const struct gtp_table_list *list, u32 from, u32 *found)
{
	u32 block, i, at, v = 0;

	if (!list->n)
		return false;
	block = block_of(list, from);
	at = get32(list->bytes + block * INDEX_ENTRY + 4);
	for (i = block * GTP_TABLE_BLOCK; i < list->n; i++) {
		if (i % GTP_TABLE_BLOCK)
			v += varint(list->bytes, list->size, &at);
		else
			v = get32(list->bytes + i / GTP_TABLE_BLOCK * INDEX_ENTRY);
		if (v >= from) {
			*found = v;
			return true;
		}
	}
	return false;
}
