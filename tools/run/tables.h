/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's table of regions, for a module that has none. */
#ifndef _RUN_TABLES_H
#define _RUN_TABLES_H

#include "gtpd.h"

#define TABLES_LINE "/proc/gtp" /* the module that has this file has /proc/gtpregions, too */

/*
 * tables_offer - load part @p's table of regions, if it has one, into a module that has none
 *
 * A table that cannot be loaded is reported on standard error; probes are breakpoints then.
 */
void tables_offer(const struct gtpd *g, const struct gtpd_part *p);

#endif /* _RUN_TABLES_H */
