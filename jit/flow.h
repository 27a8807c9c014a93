/* SPDX-License-Identifier: GPL-2.0-only */
/* How the compiled code goes on: jumps, the instruction that comes next, returns. */
#ifndef _GTP_FLOW_H
#define _GTP_FLOW_H

#include "jit/jit_internal.h"

/* jit_mark - this is where the code of @place begins */
void jit_mark(struct ax_jit *j, struct jit_place *place);

/* jit_jcc, jit_jmp - to a place that lies ahead, by the short form where that surely reaches */
void jit_jcc(struct ax_jit *j, enum x86_cc cc, const struct jit_place *to);
void jit_jmp(struct ax_jit *j, const struct jit_place *to);

/* jit_jmp_back - to an offset that lies behind */
void jit_jmp_back(struct ax_jit *j, u32 to);

/* jit_peek_at - the instruction at @pc; false when it can be reached by a jump, or there is none */
bool jit_peek_at(const struct ax_jit *j, u32 pc, struct ax_insn *insn);

/* jit_peek - the same of the next one */
bool jit_peek(const struct ax_jit *j, struct ax_insn *insn);

/* jit_low_is_enough - the next instruction throws the upper half of the result away */
bool jit_low_is_enough(const struct ax_jit *j);

/* jit_return - a return as @w wants it, in code that runs at @base; nothing behind it runs */
void jit_return(const struct ax_jit_target *w, struct x86_buf *b, u64 base);

#endif /* _GTP_FLOW_H */
