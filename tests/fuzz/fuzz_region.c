// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer of the instruction decoder, and of gtp_region_find(), which decides whether a jump may
 * replace the instructions at a place.
 *
 * The first bytes are the place and the table's entries, the others are a function. Required:
 * nothing is read after the function (it is a copy of exactly its size, so that ASan detects such a
 * read), and an accepted region is consistent with the function and the table.
 */
#include <stdlib.h>
#include "mini_table.h"
#include "regions/region.h"

enum { FN_OFFSET = 0x100, SPAN_SIZE = 0x100000, HEAD = 3 + 3 * MINI_ENTRIES };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void fill(u32 *entries, const u8 *steps)
{
	u32 i, at = 0;

	for (i = 0; i < MINI_ENTRIES && steps[i]; i++) {
		at += steps[i];
		entries[i] = at;
	}
}

static void decode_all(const u8 *fn, u32 n)
{
	struct gtp_insn insn;
	u32 at;

	for (at = 0; at < n; at++) {
		if (gtp_insn_decode(&insn, fn + at, n - at))
			continue;
		must(insn.len && insn.len <= GTP_INSN_MAX && insn.len <= n - at);
		must(!insn.disp_at || insn.disp_at + 4 <= insn.len);
		must(insn.kind <= GTP_INSN_FIXED);
	}
}

static bool entered(const struct mini_lists *lists, u32 at)
{
	u32 i;

	for (i = 0; i < MINI_ENTRIES; i++) {
		if (lists->leaders[i] > at && lists->leaders[i] < at + GTP_REGION_JUMP)
			return true;
	}
	return false;
}

static void check(const struct gtp_region_ask *ask, const struct mini_lists *lists,
		  const struct gtp_region *r)
{
	u32 i, len = 0;

	must(r->len >= GTP_REGION_JUMP && r->len <= GTP_REGION_MAX);
	must(r->n && r->n <= GTP_REGION_JUMP && r->len <= ask->fn_size - ask->at);
	must(!memcmp(r->bytes, ask->fn + ask->at, r->len));
	for (i = 0; i < r->n; i++)
		len += r->insn[i].len;
	must(r->falls_out ? len == r->len : len <= r->len);
	must(!entered(lists, ask->at));
	must(lists->last || !(lists->flags & GTP_TABLE_PROGRAM));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct mini_table m;
	struct mini_lists lists = { 0 };
	struct gtp_region_ask ask = { .table = &m.table, .fn_offset = FN_OFFSET };
	struct gtp_region r;
	u8 *fn;

	if (size <= HEAD || size > 4096)
		return 0;
	ask.fn_size = (u32)size - HEAD;
	lists.flags = data[0];
	lists.last = data[0] & 4 ? 0 : ask.fn_size - 1;
	lists.proven = data[0] & 8;
	ask.at = (u32)gtp_get_le(data + 1, 2);
	fill(lists.leaders, data + 3);
	fill(lists.sites, data + 3 + MINI_ENTRIES);
	fill(lists.faults, data + 3 + 2 * MINI_ENTRIES);
	must(mini_table_make(&m, &lists, FN_OFFSET, SPAN_SIZE));
	ask.at %= ask.fn_size + 1;
	fn = malloc(ask.fn_size);
	memcpy(fn, data + HEAD, ask.fn_size);
	ask.fn = fn;
	decode_all(fn, ask.fn_size);
	if (gtp_region_find(&ask, &r) == GTP_REGION_OK)
		check(&ask, &lists, &r);
	free(fn);
	return 0;
}
