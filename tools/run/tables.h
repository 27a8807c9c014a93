/* SPDX-License-Identifier: GPL-2.0-only */
/* Load the kernel's table of regions into a module that has no such table. */
#ifndef _RUN_TABLES_H
#define _RUN_TABLES_H

#include "gtpd.h"

#define TABLES_LINE "/proc/gtp" /* a module with this file also has /proc/gtpregions */

/*
 * tables_offer - load part @p's table of regions, if it has one, into a module that has none
 *
 * If the table cannot be loaded, prints the reason to standard error; probes are then breakpoints
 * instead of jumps.
 */
void tables_offer(const struct gtpd *g, const struct gtpd_part *p);

#endif /* _RUN_TABLES_H */
