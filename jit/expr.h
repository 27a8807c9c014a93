/* SPDX-License-Identifier: GPL-2.0-only */
/* Compile one expression, instruction by instruction. */
#ifndef _GTP_EXPR_H
#define _GTP_EXPR_H

#include "jit/jit_internal.h"

/* jit_expr - compile a whole expression, starting with an empty stack */
void jit_expr(struct ax_jit *j, const struct ax_verified *v);

#endif /* _GTP_EXPR_H */
