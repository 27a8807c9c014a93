/* SPDX-License-Identifier: GPL-2.0-only */
/* Read the line table: find rows that start a basic block, and count rows. */
#ifndef _RGN_ROWS_H
#define _RGN_ROWS_H

#include "tools/regions/text.h"

/* struct rgn_rows - counts of a line table */
struct rgn_rows {
	u64 rows;
	u64 blocks; /* rows with basic_block set */
	u64 bytes;  /* size of .debug_line */
	u64 broken; /* units of .debug_line that could not be read to their end */
};

/* rgn_rows_read - run the line programs of a file, and call @each (may be NULL) for each row */
void rgn_rows_read(const struct rgn_image *image, struct rgn_rows *rows,
		   void (*each)(void *ctx, u64 addr, bool block), void *ctx);

/*
 * rgn_rows_mark - mark the addresses whose rows start basic blocks, and set RGN_FN_ROWS for each
 * function whose direct jumps all lead to such rows
 */
void rgn_rows_mark(struct rgn_text *text, const struct rgn_image *debug);

#endif /* _RGN_ROWS_H */
