/* SPDX-License-Identifier: GPL-2.0-only */
/* Write the blocks of a trace frame straight to their places, in snippets of actions. */
#ifndef _GTP_RECORD_H
#define _GTP_RECORD_H

#include "jit/jit_internal.h"
#include "trace/frame.h"

/* jit_record_begin - start with nothing recorded */
void jit_record_begin(struct ax_jit *j);

/* jit_record_note - emit code that keeps the blocks recorded so far if later code fails */
void jit_record_note(struct ax_jit *j);

/* jit_record_regs - record a REGS block of the registers in GDB's @mask */
void jit_record_regs(struct ax_jit *j, u64 mask);

/*
 * jit_record_mem - record a MEM block of the @len bytes at @addr; if the next instruction reads the
 * same memory, compile it as well, and let @addr become its value
 */
void jit_record_mem(struct ax_jit *j, struct jit_val *addr, u64 len);

/*
 * jit_record_string - record a MEM block of the bytes at @addr through the first NUL. Call it only
 * for a frame that a pad writes; the pad leaves the hit to C if there is no NUL among @max bytes
 */
void jit_record_string(struct ax_jit *j, struct jit_val *addr, u64 max);

/*
 * jit_record_block - write the head of a block, with the length @len, and skip @room bytes; return
 * their offset
 */
u32 jit_record_block(struct ax_jit *j, enum gtp_block_type type, u32 num, u32 len, u32 room);

/* jit_record_address - write a block's address; may overwrite @scratch */
void jit_record_address(struct ax_jit *j, u32 at, const struct jit_load *l, enum x86_reg scratch);

/* jit_record_var - record a VAR block with the value in register @value */
void jit_record_var(struct ax_jit *j, u32 tsv, enum x86_reg value);

/* jit_record_after_call - load JIT_RECORD again, because calls overwrite it */
void jit_record_after_call(struct ax_jit *j);

/* jit_record_size - return the number of bytes recorded so far, with the trace frame's head */
u32 jit_record_size(const struct ax_jit *j);

#endif /* _GTP_RECORD_H */
