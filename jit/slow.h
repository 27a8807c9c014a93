/* SPDX-License-Identifier: GPL-2.0-only */
/* Emits calls of the common stubs, and the slow code, which follows the fast code. */
#ifndef _GTP_SLOW_H
#define _GTP_SLOW_H

#include "jit/jit_internal.h"

/*
 * jit_slow_add - add slow code for the instruction being compiled; return its number. In a pad all
 * instructions share one piece of slow code, which leaves the hit to C code.
 */
u32 jit_slow_add(struct ax_jit *j, struct jit_slow s);

/* jit_slow_paths - emit all slow code, after the fast code */
void jit_slow_paths(struct ax_jit *j);

/* jit_slow_copy - emit the careful copy of a whole block; uses @s->dst for its address */
void jit_slow_copy(struct ax_jit *j, const struct jit_slow *s);

/* jit_call_stub - emit a call of a stub, whose arguments must be in their registers */
void jit_call_stub(struct ax_jit *j, enum ax_jit_stub stub);

/* jit_desc - return the description of an instruction for the stubs, see JIT_DESC_OP */
u32 jit_desc(const struct ax_jit *j, u32 pc, u32 op, u32 reg, bool sign);

/* jit_progress - emit the store of @progress before code that may fail */
void jit_progress(struct ax_jit *j, u32 progress);

#endif /* _GTP_SLOW_H */
