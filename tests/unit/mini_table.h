/* SPDX-License-Identifier: GPL-2.0-only */
/* A table of regions for one function, for tests and fuzzers. */
#ifndef _GTP_MINI_TABLE_H
#define _GTP_MINI_TABLE_H

#include "regions/table.h"

enum {
	MINI_ROOM = 1024,
	MINI_ENTRIES = 6,
	MINI_LISTS = 3,
	MINI_PROGRAM_LISTS = 6,
	MINI_LIST_AT = GTP_TABLE_HEAD + GTP_TABLE_SPAN, /* offset of the directory of the lists */
};

/*
 * struct mini_lists - the lists for the function: ascending offsets in it, above 0; a 0 ends a list
 * that does not fill its array. If @flags has GTP_TABLE_PROGRAM, the function is also in the list
 * of functions if @last, its last byte, is not 0, and in the list of proven functions if @proven.
 */
struct mini_lists {
	u32 leaders[MINI_ENTRIES];
	u32 sites[MINI_ENTRIES];
	u32 faults[MINI_ENTRIES];
	u32 flags;
	u32 last;
	bool proven;
};

struct mini_table {
	u8 bytes[MINI_ROOM];
	u32 len;
	struct gtp_table table;
};

/*
 * mini_table_make - make a table with one span of @span_size bytes and the function at @fn_offset;
 * return false if the table is not valid
 */
bool mini_table_make(struct mini_table *m, const struct mini_lists *lists, u32 fn_offset,
		     u32 span_size);

#endif /* _GTP_MINI_TABLE_H */
