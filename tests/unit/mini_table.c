// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a table of regions for one function. The table has one span with three lists; for a
 * function of a program, it has six lists.
 */
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

static void put_entries(struct mini_table *m, u32 number, u32 kind, const u32 *entries, u32 n,
			u32 fn_offset)
{
	u32 at = MINI_LIST_AT + number * GTP_TABLE_LIST, start = m->len, i;

	if (n) {
		put32(m, start, fn_offset + entries[0]);
		put32(m, start + 4, 8);
		m->len += 8;
	}
	for (i = 1; i < n; i++)
		put_varint(m, entries[i] - entries[i - 1]);
	put32(m, at + 4, kind);
	put32(m, at + 8, n);
	put32(m, at + 12, start);
	put32(m, at + 16, m->len - start);
}

static void put_list(struct mini_table *m, u32 number, u32 kind, const u32 *entries, u32 fn_offset)
{
	u32 n = 0;

	while (n < MINI_ENTRIES && entries[n])
		n++;
	put_entries(m, number, kind, entries, n, fn_offset);
}

static void put_function(struct mini_table *m, const struct mini_lists *lists, u32 fn_offset)
{
	const u32 start = 0;
	bool bound = lists->last;

	put_entries(m, 3, GTP_TABLE_FUNCTION, &start, bound, fn_offset);
	put_entries(m, 4, GTP_TABLE_LAST, &lists->last, bound, fn_offset);
	put_entries(m, 5, GTP_TABLE_PROVEN, &start, lists->proven, fn_offset);
}

bool mini_table_make(struct mini_table *m, const struct mini_lists *lists, u32 fn_offset,
		     u32 span_size)
{
	u32 n = lists->flags & GTP_TABLE_PROGRAM ? MINI_PROGRAM_LISTS : MINI_LISTS;
	const char *why;

	memset(m, 0, sizeof(*m));
	memcpy(m->bytes, GTP_TABLE_MAGIC, 8);
	put32(m, 48, 1);
	put32(m, 52, n);
	memcpy(m->bytes + GTP_TABLE_HEAD, ".text", 5);
	put32(m, GTP_TABLE_HEAD + 40, span_size);
	put32(m, GTP_TABLE_HEAD + 44, lists->flags);
	m->len = MINI_LIST_AT + n * GTP_TABLE_LIST;
	put_list(m, 0, GTP_TABLE_LEADER, lists->leaders, fn_offset);
	put_list(m, 1, GTP_TABLE_SITE, lists->sites, fn_offset);
	put_list(m, 2, GTP_TABLE_FAULT, lists->faults, fn_offset);
	if (n == MINI_PROGRAM_LISTS)
		put_function(m, lists, fn_offset);
	put32(m, 8, m->len);
	put32(m, 12, gtp_table_crc(m->bytes + 16, m->len - 16));
	return !gtp_table_open(&m->table, m->bytes, m->len, &why);
}
