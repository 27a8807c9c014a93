/* SPDX-License-Identifier: GPL-2.0-only */
/* Included by others: the general registers of a struct gtp_regs, pushed; the way back of some. */

/* From di to r15, which has the lowest address; behind orig_rax. */
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

/* When rsp is at r11's place: all that C does not preserve; orig_rax is next. */
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
