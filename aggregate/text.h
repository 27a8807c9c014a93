/* SPDX-License-Identifier: GPL-2.0-only */
/* Aggregations as text, for scripts: one line for each and for each of its keys. */
#ifndef _GTP_AGGREGATE_TEXT_H
#define _GTP_AGGREGATE_TEXT_H

#include "aggregate/table.h"
#include "base/parse.h"

/*
 * The lines of one table, all numbers decimal except keys, which are words in hex:
 *
 *	entry N KEY... : VALUE... : BUCKET=N ...
 *	noroom N : VALUE... : BUCKET=N ...
 *
 * SUM, MIN and MAX have one VALUE. STATS and histograms have three: the sum, the smallest, the
 * largest. Empty buckets are left out.
 */

/* gtp_aggr_text_bytes - return enough room for the table's lines, the terminator included */
size_t gtp_aggr_text_bytes(const struct gtp_aggr_table *t);

void gtp_aggr_text(const struct gtp_aggr_table *t, struct gtp_out *out);

#endif /* _GTP_AGGREGATE_TEXT_H */
