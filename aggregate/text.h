/* SPDX-License-Identifier: GPL-2.0-only */
/* Aggregations as text for scripts: one line for each key. */
#ifndef _GTP_AGGREGATE_TEXT_H
#define _GTP_AGGREGATE_TEXT_H

#include "aggregate/table.h"
#include "base/parse.h"

/*
 * A table has these lines. Numbers are decimal, except that each KEY is a 64-bit word in hex:
 *
 *	entry N KEY... : VALUE... : BUCKET=N ...
 *	noroom N : VALUE... : BUCKET=N ...
 *
 * SUM, MIN and MAX have one VALUE. STATS and histograms have three: the sum, the smallest and the
 * largest value. Empty buckets are left out.
 */

/*
 * gtp_aggr_text_bytes - return a number of bytes that is enough for the table's lines and the
 * terminating NUL
 */
size_t gtp_aggr_text_bytes(const struct gtp_aggr_table *t);

void gtp_aggr_text(const struct gtp_aggr_table *t, struct gtp_out *out);

#endif /* _GTP_AGGREGATE_TEXT_H */
