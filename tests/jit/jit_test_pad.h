/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that the test of jump pads shares with its assembly. */
#ifndef _GTP_JIT_TEST_PAD_H
#define _GTP_JIT_TEST_PAD_H

#include "base/base.h"

/* struct jit_test_pad_regs - registers in the processor's order, on which assembly depends */
struct jit_test_pad_regs {
	u64 gpr[16];
	u64 flags;
};

/* struct jit_test_pad_hit - the registers and the word that pad_hit got, and the number of calls */
struct jit_test_pad_hit {
	struct jit_test_pad_regs regs;
	u64 number;
	u64 count;
};

extern struct jit_test_pad_regs jit_test_pad_out;
extern struct jit_test_pad_hit jit_test_pad_hit;
extern u64 jit_test_pad_rsp;

/*
 * jit_test_pad_enter - enter the pad at @entry, made for jit_test_pad_place(), with the registers
 * @regs except rsp
 */
void jit_test_pad_enter(const struct jit_test_pad_regs *regs, u64 entry);
void jit_test_pad_place(void);

/* jit_test_pad_entry - the function that pads call as pad_hit */
void jit_test_pad_entry(void);

#endif /* _GTP_JIT_TEST_PAD_H */
