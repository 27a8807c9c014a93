/* SPDX-License-Identifier: GPL-2.0-only */
/* Emit shifts. */
#ifndef _GTP_OPS_SHIFT_H
#define _GTP_OPS_SHIFT_H

#include "jit/jit_internal.h"

/* jit_op_shift - emit lsh, rsh_signed, rsh_unsigned */
void jit_op_shift(struct ax_jit *j);

/* jit_shift_const - emit a shift by a known count, of any size */
void jit_shift_const(struct ax_jit *j, enum ax_op op, struct jit_val *v, u64 count);

#endif /* _GTP_OPS_SHIFT_H */
