/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Enters a pad with chosen registers. This file also has the traced code, and the function that
 * pads call for a hit.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/nospec-branch.h>

#include "base/compat.h"

	.macro	for_each_but_rsp what
	\what	0, %rax
	\what	1, %rcx
	\what	2, %rdx
	\what	3, %rbx
	\what	5, %rbp
	\what	6, %rsi
	\what	8, %r8
	\what	9, %r9
	\what	10, %r10
	\what	11, %r11
	\what	12, %r12
	\what	13, %r13
	\what	14, %r14
	\what	15, %r15
	\what	7, %rdi
	.endm

	.macro	load n, reg
	mov	8*\n(%rdi), \reg
	.endm

	.macro	store_out n, reg
	mov	\reg, jit_test_pad_out+8*\n(%rip)
	.endm

	.macro	store_hit n, reg
	mov	\reg, jit_test_pad_hit+8*\n(%rip)
	.endm

	.text

/* jit_test_pad_enter(struct jit_test_pad_regs *regs, u64 entry) does not load rsp from @regs. */
SYM_FUNC_START(jit_test_pad_enter)
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, jit_test_pad_rsp(%rip)
	push	%rsi
	pushq	8*16(%rdi)
	popfq
	for_each_but_rsp load
	ANNOTATE_UNRET_SAFE			/* a return thunk might change registers */
	ret					/* jump to the entry */
	int3
SYM_FUNC_END(jit_test_pad_enter)
STACK_FRAME_NON_STANDARD jit_test_pad_enter

/*
 * The traced code begins with one instruction, which a jump displaces. The code after it stores the
 * registers and returns to the caller of jit_test_pad_enter().
 */
GTP_TAKEN_START(jit_test_pad_place)
	.byte	0x0f, 0x1f, 0x44, 0, 0		/* nop */
	for_each_but_rsp store_out
	mov	%rsp, jit_test_pad_out+8*4(%rip)
	pushfq
	popq	jit_test_pad_out+8*16(%rip)
	mov	jit_test_pad_rsp(%rip), %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	RET
SYM_FUNC_END(jit_test_pad_place)
STACK_FRAME_NON_STANDARD jit_test_pad_place

/* In this test, pads call this function for a hit. In gdbtp.ko they call gtp_pad_hit. */
GTP_TAKEN_START(jit_test_pad_entry)
	for_each_but_rsp store_hit
	pushfq
	popq	jit_test_pad_hit+8*16(%rip)
	pushfq
	lea	24(%rsp), %rax			/* flags, return address, number */
	mov	%rax, jit_test_pad_hit+8*4(%rip)
	mov	16(%rsp), %rax
	mov	%rax, jit_test_pad_hit+8*17(%rip)
	incq	jit_test_pad_hit+8*18(%rip)
	popq	%rax
	mov	%rax, 8(%rsp)			/* flags in place of the number */
	mov	jit_test_pad_hit(%rip), %rax
	RET
SYM_FUNC_END(jit_test_pad_entry)
STACK_FRAME_NON_STANDARD jit_test_pad_entry
