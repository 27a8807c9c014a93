/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's own tables of places it patches, and of places that control may arrive at. */
#ifndef _RGN_SITES_H
#define _RGN_SITES_H

#include "tools/regions/text.h"

/* rgn_sites_before - read what the decode needs: sites, returns as they run, unprobed functions */
void rgn_sites_before(struct rgn_text *text);

/* rgn_sites_after - read what needs decoded code: jump labels, alternatives' replacements */
void rgn_sites_after(struct rgn_text *text);

/*
 * rgn_sites_table_at - true if the address lies in one of the kernel's tables: what is stored there
 * is not a target of jumps or calls
 */
bool rgn_sites_table_at(const struct rgn_image *image, u64 addr);

/*
 * rgn_sites_table_named - true if a section of this name is one of the kernel's tables as a whole
 */
bool rgn_sites_table_named(const char *name);

#endif /* _RGN_SITES_H */
