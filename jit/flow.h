/* SPDX-License-Identifier: GPL-2.0-only */
/* Emits the jumps and returns of the compiled code, and looks ahead at the next instruction. */
#ifndef _GTP_FLOW_H
#define _GTP_FLOW_H

#include "jit/jit_internal.h"

/* jit_mark - set @place to the current offset of the code */
void jit_mark(struct ax_jit *j, struct jit_place *place);

/*
 * jit_jcc, jit_jmp - jump forward to a place, in the short form if the place is certain to be in
 * its reach
 */
void jit_jcc(struct ax_jit *j, enum x86_cc cc, const struct jit_place *to);
void jit_jmp(struct ax_jit *j, const struct jit_place *to);

/* jit_jmp_back - jump back to an offset */
void jit_jmp_back(struct ax_jit *j, u32 to);

/*
 * jit_peek_at - decode the instruction at @pc; return false if there is none, or a jump leads to it
 */
bool jit_peek_at(const struct ax_jit *j, u32 pc, struct ax_insn *insn);

/* jit_peek - decode the next instruction; return false like jit_peek_at() */
bool jit_peek(const struct ax_jit *j, struct ax_insn *insn);

/* jit_is_dropped - true if the value that a setv leaves on the stack is never used */
bool jit_is_dropped(const struct ax_jit *j);

/* jit_low_is_enough - true if the next instruction discards the upper half of the result */
bool jit_low_is_enough(const struct ax_jit *j);

/*
 * jit_return - emit a return in the form that the target @w requires; @base is the address of the
 * code's first byte
 */
void jit_return(const struct ax_jit_target *w, struct x86_buf *b, u64 base);

#endif /* _GTP_FLOW_H */
