/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compiles opcodes that may call a stub: those that collect, those of trace state variables, and
 * printf.
 */
#ifndef _GTP_OPS_CALL_H
#define _GTP_OPS_CALL_H

#include "jit/jit_internal.h"

/* jit_var - return how to read a variable without a call; NULL if reading it takes a call */
const struct ax_jit_var *jit_var(const struct ax_jit_target *target, u64 tsv);

/* jit_op_getv, jit_op_setv, jit_op_tracev - emit the opcodes of these names */
void jit_op_getv(struct ax_jit *j);
void jit_op_setv(struct ax_jit *j);
void jit_op_tracev(struct ax_jit *j);

/* jit_op_trace - emit trace, tracenz */
void jit_op_trace(struct ax_jit *j);

/* jit_op_trace_short - emit trace_quick, trace16 */
void jit_op_trace_short(struct ax_jit *j);

/* jit_op_printf - emit printf */
void jit_op_printf(struct ax_jit *j);

#endif /* _GTP_OPS_CALL_H */
