/* SPDX-License-Identifier: GPL-2.0-only */
/* Find expressions that only add to a variable, such as $n = $n + 1. */
#ifndef _GTP_ADDS_H
#define _GTP_ADDS_H

#include "agentexpr/ax.h"

/**
 * ax_adds_to() - true if an expression only adds to a variable
 * @v: a verified expression
 * @tsv: receives the number of that variable, if the result is true
 *
 * Such an expression has the same effect if its getv returns 0 and its setv adds: see
 * agentexpr/adds.c. The expression sets no other variable.
 *
 * Context: any. Time is linear in the length of the expression.
 */
bool ax_adds_to(const struct ax_verified *v, u16 *tsv);

#endif /* _GTP_ADDS_H */
