/* SPDX-License-Identifier: GPL-2.0-only */
/* Compile a file's .eh_frame to rows of rules, and the rows to the table that the module reads. */
#ifndef _UNW_ROWS_H
#define _UNW_ROWS_H

#include "hit/cfi.h"
#include "tools/unwind/file.h"

/* struct unw_row - a rule, by its number, that holds from an offset in the file up to @end */
struct unw_row {
	u64 at, end;
	u32 rule;
};

/**
 * struct unw_rows - the rows of a file, in order
 * @row, @n: the rows
 * @rule, @rules: the rules; number 0 is GTP_CFI_NONE, which holds between the rows
 * @fdes: the number of FDEs that were read
 * @skipped: those of them that are not in code of the file, or beyond its first 4 GiB
 * @failed: those of them that have an unknown form
 * @unknown: bytes of code whose rules a table cannot express
 * @code: bytes of code that have a rule
 */
struct unw_rows {
	struct unw_row *row;
	u32 n, room;
	struct gtp_cfi_rule rule[GTP_CFI_RULES];
	u32 rules;
	u32 slot[4 * GTP_CFI_RULES];
	u32 fdes, skipped, failed;
	u64 unknown, code;
	const struct unw_file *file;
	u64 shift;
};

/* unw_rows_make - compile a file's .eh_frame; the caller frees the rows by unw_rows_free() */
struct unw_rows *unw_rows_make(const struct unw_file *file);
void unw_rows_free(struct unw_rows *rows);

/* unw_rows_table - return the table, which the caller frees */
u8 *unw_rows_table(const struct unw_rows *rows, u32 *size);

#endif /* _UNW_ROWS_H */
