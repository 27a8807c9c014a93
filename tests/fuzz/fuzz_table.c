// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer of the table of regions that userspace hands to the kernel.
 *
 * Corrects the checksum, so that the code after that check is reached. Required: no sanitizer
 * complains; in a table that gtp_table_open() accepts, the entries of each list can be read, and
 * are in order and within the span.
 */
#include <stdlib.h>
#include "regions/table.h"

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void walk(const struct gtp_table *t, u32 i)
{
	struct gtp_table_span span;
	struct gtp_table_list l;
	u32 from = 0, found, n = 0;

	gtp_table_list(t, i, &l);
	gtp_table_span(t, l.span, &span);
	while (gtp_table_next(&l, from, &found)) {
		must(found >= from && found < span.size);
		from = found + 1;
		n++;
	}
	must(n == l.n);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 *copy = malloc(size ? size : 1);
	struct gtp_table t;
	const char *why = NULL;
	u32 i;

	memcpy(copy, data, size);
	if (size >= 16) {
		memcpy(copy, GTP_TABLE_MAGIC, 8);
		gtp_put_le(copy + 8, size, 4);
		gtp_put_le(copy + 12, gtp_table_crc(copy + 16, size - 16), 4);
	}
	if (gtp_table_open(&t, copy, size, &why)) {
		must(why);
	} else {
		/* Sixteen lists are enough: more of them only make the fuzzer slower. */
		for (i = 0; i < t.lists_n && i < 16; i++)
			walk(&t, i);
	}
	free(copy);
	return 0;
}
