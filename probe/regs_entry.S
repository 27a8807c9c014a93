/* SPDX-License-Identifier: GPL-2.0-only */
/* Macros that push the general registers of a struct gtp_regs, and pop some of them again. */

/* Push the registers of struct gtp_regs from di, just below orig_rax, down to r15, the lowest. */
.macro PUSH_GENERAL
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%rax
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
.endm

/*
 * Pop all registers that C does not preserve. rsp must point to the saved r11, and points to
 * orig_rax afterwards.
 */
.macro POP_SCRATCH
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rax
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
.endm
