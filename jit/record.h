/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks of a trace frame, written straight to where they belong: for snippets of actions. */
#ifndef _GTP_RECORD_H
#define _GTP_RECORD_H

#include "jit/jit_internal.h"
#include "trace/frame.h"

/* jit_record_begin - nothing is recorded yet */
void jit_record_begin(struct ax_jit *j);

/* jit_record_note - what has been recorded so far stays when something fails from here on */
void jit_record_note(struct ax_jit *j);

/* jit_record_regs - a REGS block of the registers in GDB's @mask */
void jit_record_regs(struct ax_jit *j, u64 mask);

/*
 * jit_record_mem - a MEM block of what @addr points to; if the next instruction reads just that, it
 * is done as well and @addr becomes its value
 */
void jit_record_mem(struct ax_jit *j, struct jit_val *addr, u64 len);

/*
 * jit_record_string - a MEM block of the bytes that @addr points to, the first NUL the last of
 * them, which is to come before @max: in a pad's frame only, which leaves it to C when it does not
 */
void jit_record_string(struct ax_jit *j, struct jit_val *addr, u64 max);

/*
 * jit_record_block - the head of a block with @room bytes behind it, of which it says that @len
 * count; returns where they are
 */
u32 jit_record_block(struct ax_jit *j, enum gtp_block_type type, u32 num, u32 len, u32 room);

/* jit_record_address - a block's address; @scratch is overwritten where it takes a register */
void jit_record_address(struct ax_jit *j, u32 at, const struct jit_load *l, enum x86_reg scratch);

/* jit_record_var - a VAR block with what is in @value */
void jit_record_var(struct ax_jit *j, u32 tsv, enum x86_reg value);

/* jit_record_after_call - load JIT_RECORD again, which calls overwrite */
void jit_record_after_call(struct ax_jit *j);

/* jit_record_size - bytes of all that has been recorded, with the trace frame's head */
u32 jit_record_size(const struct ax_jit *j);

#endif /* _GTP_RECORD_H */
