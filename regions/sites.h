/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's own tables of places it patches, and of places that control may arrive at. */
#ifndef _GTP_SITES_H
#define _GTP_SITES_H

#include "regions/text.h"

/* gtp_sites_before - what the decode must know: sites, returns as they run, code not to touch */
void gtp_sites_before(struct gtp_text *text);

/* gtp_sites_after - what needs decoded code: jump labels, alternatives' replacements */
void gtp_sites_after(struct gtp_text *text);

/*
 * gtp_sites_table_at - the address lies in one of those tables: what is stored there is no place
 * that control is passed to
 */
bool gtp_sites_table_at(const struct gtp_image *image, u64 addr);

/* gtp_sites_table_named - the same for a section as a whole */
bool gtp_sites_table_named(const char *name);

#endif /* _GTP_SITES_H */
