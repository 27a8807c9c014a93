/* SPDX-License-Identifier: GPL-2.0-only */
/* Read the kernel's tables of places that it patches, and of places at which control may arrive. */
#ifndef _RGN_SITES_H
#define _RGN_SITES_H

#include "tools/regions/text.h"

/*
 * rgn_sites_before - read the tables that decoding needs: patch sites, returns, functions that
 * cannot be probed
 */
void rgn_sites_before(struct rgn_text *text);

/* rgn_sites_after - read the tables that need decoded code: jump labels, alternatives */
void rgn_sites_after(struct rgn_text *text);

/*
 * rgn_sites_table_at - true if the address is in one of the kernel's tables: addresses that are
 * stored there are not targets of jumps or calls
 */
bool rgn_sites_table_at(const struct rgn_image *image, u64 addr);

/*
 * rgn_sites_table_named - true if the section of this name contains only one of the kernel's tables
 */
bool rgn_sites_table_named(const char *name);

#endif /* _RGN_SITES_H */
