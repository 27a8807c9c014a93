/* SPDX-License-Identifier: GPL-2.0-only */
/* Write the table of regions of an analysed image, and show one. */
#ifndef _GTP_MKTABLE_H
#define _GTP_MKTABLE_H

#include "regions/text.h"

/* gtp_mktable_make - the file's bytes, which the caller frees */
u8 *gtp_mktable_make(const struct gtp_text *text, u32 *size);

/* gtp_mktable_write - write @path; says what it wrote */
void gtp_mktable_write(const struct gtp_text *text, const char *path);

/* gtp_mktable_show - print what a table holds, with @entries every entry */
void gtp_mktable_show(const char *path, bool entries);

#endif /* _GTP_MKTABLE_H */
