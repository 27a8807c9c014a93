/* SPDX-License-Identifier: GPL-2.0-only */
/* Emit jumps and ends of expressions. */
#ifndef _GTP_OPS_JUMP_H
#define _GTP_OPS_JUMP_H

#include "jit/jit_internal.h"

/* jit_op_goto, jit_op_if_goto, jit_op_end - emit the opcodes of these names */
void jit_op_goto(struct ax_jit *j);
void jit_op_if_goto(struct ax_jit *j);
void jit_op_end(struct ax_jit *j);

/* jit_leave_snippet - emit a return of the top of the stack or, for actions, of the frame's size */
void jit_leave_snippet(struct ax_jit *j);

/* jit_leave_if - emit the same, to be executed if @cc holds */
void jit_leave_if(struct ax_jit *j, enum x86_cc cc);

#endif /* _GTP_OPS_JUMP_H */
