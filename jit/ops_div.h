/* SPDX-License-Identifier: GPL-2.0-only */
/* Emit divisions. */
#ifndef _GTP_OPS_DIV_H
#define _GTP_OPS_DIV_H

#include "jit/jit_internal.h"

/* jit_op_divide - emit div_signed, div_unsigned, rem_signed, rem_unsigned */
void jit_op_divide(struct ax_jit *j);

#endif /* _GTP_OPS_DIV_H */
