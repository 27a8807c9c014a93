/* SPDX-License-Identifier: GPL-2.0-only */
/* Compiles the setting of variables that have a table: of aggregations and of pairs. */
#ifndef _GTP_OPS_TABLE_H
#define _GTP_OPS_TABLE_H

#include "jit/jit_internal.h"

/* jit_count - emit setv of a count without a key */
void jit_count(struct ax_jit *j);

/* jit_update - emit setv of any other aggregation */
void jit_update(struct ax_jit *j);

/*
 * jit_pair_start, jit_pair_end - emit setv of the start or the end of a pair. If an end has no
 * start, a snippet of actions returns
 */
void jit_pair_start(struct ax_jit *j);
void jit_pair_end(struct ax_jit *j);

#endif /* _GTP_OPS_TABLE_H */
