/* SPDX-License-Identifier: GPL-2.0-only */
/* The line table, read in one pass: rows that start a basic block, and how many rows there are. */
#ifndef _GTP_ROWS_H
#define _GTP_ROWS_H

#include "regions/text.h"

/* struct gtp_rows - what a line table holds */
struct gtp_rows {
	u64 rows;
	u64 blocks;  /* rows with basic_block set */
	u64 bytes;   /* size of .debug_line */
	u64 broken;  /* units that could not be read to their end */
};

/* gtp_rows_read - run the line programs of a file; @each may be NULL */
void gtp_rows_read(const struct gtp_image *image, struct gtp_rows *rows,
		   void (*each)(void *ctx, u64 addr, bool block), void *ctx);

/*
 * gtp_rows_mark - mark the rows that start basic blocks, and the functions all of whose direct
 * targets have such a row
 */
void gtp_rows_mark(struct gtp_text *text, const struct gtp_image *debug);

#endif /* _GTP_ROWS_H */
