// SPDX-License-Identifier: GPL-2.0-only
/* Writes a table of regions for one function: one span, three short lists. */
#include "mini_table.h"

static void put32(struct mini_table *m, u32 at, u32 v)
{
	gtp_put_le(m->bytes + at, v, 4);
}

static void put_varint(struct mini_table *m, u32 v)
{
	for (; v >= 0x80; v >>= 7)
		m->bytes[m->len++] = (u8)(v | 0x80);
	m->bytes[m->len++] = (u8)v;
}

static void put_list(struct mini_table *m, u32 number, u32 kind, const u32 *entries, u32 fn_offset)
{
	u32 at = MINI_LIST_AT + number * GTP_TABLE_LIST, start = m->len, n;

	if (entries[0]) {
		put32(m, start, fn_offset + entries[0]);
		put32(m, start + 4, 8);
		m->len += 8;
	}
	for (n = 0; n < MINI_ENTRIES && entries[n]; n++) {
		if (n)
			put_varint(m, entries[n] - entries[n - 1]);
	}
	put32(m, at + 4, kind);
	put32(m, at + 8, n);
	put32(m, at + 12, start);
	put32(m, at + 16, m->len - start);
}

bool mini_table_make(struct mini_table *m, const struct mini_lists *lists, u32 fn_offset,
		     u32 span_size)
{
	const char *why;

	memset(m, 0, sizeof(*m));
	memcpy(m->bytes, GTP_TABLE_MAGIC, 8);
	put32(m, 48, 1);
	put32(m, 52, MINI_LISTS);
	memcpy(m->bytes + GTP_TABLE_HEAD, ".text", 5);
	put32(m, GTP_TABLE_HEAD + 40, span_size);
	put32(m, GTP_TABLE_HEAD + 44, lists->flags);
	m->len = MINI_LIST_AT + MINI_LISTS * GTP_TABLE_LIST;
	put_list(m, 0, GTP_TABLE_LEADER, lists->leaders, fn_offset);
	put_list(m, 1, GTP_TABLE_SITE, lists->sites, fn_offset);
	put_list(m, 2, GTP_TABLE_FAULT, lists->faults, fn_offset);
	put32(m, 8, m->len);
	put32(m, 12, gtp_table_crc(m->bytes + 16, m->len - 16));
	return !gtp_table_open(&m->table, m->bytes, m->len, &why);
}
