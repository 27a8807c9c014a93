/* SPDX-License-Identifier: GPL-2.0-only */
/* Emit arithmetic, comparisons, not and extensions. */
#ifndef _GTP_OPS_ALU_H
#define _GTP_OPS_ALU_H

#include "jit/jit_internal.h"

/* jit_op_arithmetic - emit add, sub, mul, bit_and, bit_or, bit_xor */
void jit_op_arithmetic(struct ax_jit *j);

/* jit_op_compare - emit equal, less_signed, less_unsigned */
void jit_op_compare(struct ax_jit *j);

/* jit_op_log_not, jit_op_bit_not - emit the opcodes of these names */
void jit_op_log_not(struct ax_jit *j);
void jit_op_bit_not(struct ax_jit *j);

/* jit_op_extend - emit ext, zero_ext */
void jit_op_extend(struct ax_jit *j);

/* jit_test - emit a test of a value; return the condition code that then stands for nonzero */
enum x86_cc jit_test(struct ax_jit *j, struct jit_val *v);

#endif /* _GTP_OPS_ALU_H */
