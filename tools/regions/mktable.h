/* SPDX-License-Identifier: GPL-2.0-only */
/* Write the table of regions for an analysed image, and print a table. */
#ifndef _RGN_MKTABLE_H
#define _RGN_MKTABLE_H

#include "tools/regions/text.h"

/* rgn_mktable_make - return the contents of the table's file, which the caller frees */
u8 *rgn_mktable_make(const struct rgn_text *text, u32 *size);

/* rgn_mktable_write - write the table to @path, and print a summary */
void rgn_mktable_write(const struct rgn_text *text, const char *path);

/*
 * rgn_mktable_show - print the contents of the table at @path, with all entries if @entries is set
 */
void rgn_mktable_show(const char *path, bool entries);

#endif /* _RGN_MKTABLE_H */
