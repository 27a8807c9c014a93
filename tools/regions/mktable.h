/* SPDX-License-Identifier: GPL-2.0-only */
/* Write the table of regions of an analysed image, and show one. */
#ifndef _RGN_MKTABLE_H
#define _RGN_MKTABLE_H

#include "tools/regions/text.h"

/* rgn_mktable_make - return the bytes of the table's file, which the caller frees */
u8 *rgn_mktable_make(const struct rgn_text *text, u32 *size);

/* rgn_mktable_write - write the table to @path, and print what was written */
void rgn_mktable_write(const struct rgn_text *text, const char *path);

/* rgn_mktable_show - print what the table at @path contains; with @entries every entry */
void rgn_mktable_show(const char *path, bool entries);

#endif /* _RGN_MKTABLE_H */
