/* SPDX-License-Identifier: GPL-2.0-only */
/* Called by pads in a process: saves all registers, switches to the part's stack, and calls C. */
#include "probe/regs_entry.S"
#include "user/agent/layout.h"

	.text

/*
 * Called by a pad that has moved rsp below the red zone and pushed a word for C; see pad/pad.h. On
 * the stack are then the return address to the pad, the word, the red zone, and the interrupted
 * code's stack. The words pushed here form a struct gtp_regs. All registers are preserved; C
 * preserves six of them itself, and the agent's C code uses no others than the general ones. At the
 * end the flags replace the word: the pad pops them, or drops them if they are dead there. This
 * function itself restores the flags that C does not expect.
 *
 * A Go routine has a small stack, so C runs on a stack of the thread's part. A signal handler may
 * run on that stack, too, and hit a pad: @on_stack makes this hit a nested one. If the signal comes
 * between the test and the store, its hit ends before anything is on the stack.
 */
	.balign	64
	.globl	gtp_agent_pad_hit
	.type	gtp_agent_pad_hit, @function
gtp_agent_pad_hit:
	pushq	$0x2b			/* ss */
	pushq	%rsp			/* rsp, too low by 3 words and the red zone */
	pushfq
	addq	$3*8 + GTP_AGENT_RED_ZONE, 8(%rsp)
	pushq	$0x33			/* cs */
	subq	$2*8, %rsp		/* rip, taken from the location; orig_rax, unused */
	PUSH_GENERAL
	testl	$GTP_AGENT_ODD_FLAGS, 18*8(%rsp)
	jnz	.Lodd_flags
.Lflags_fit:
	movl	22*8(%rsp), %esi
	movq	gtp_agent_where(%rip), %rcx
	movq	%fs:0, %rax
	imulq	$GTP_AGENT_HASH, %rax, %rdx
	shrq	$GTP_AGENT_SHIFT, %rdx
	shll	$4, %edx
	addq	%rcx, %rdx
	cmpq	GTP_AGENT_SLOT_AT(%rdx), %rax
	jne	.Lsearch
	movq	GTP_AGENT_SLOT_AT+8(%rdx), %rdx
.Lfound:
	leaq	-GTP_AGENT_CPU_AT(%rdx), %rbx
	cmpl	$0, GTP_AGENT_ON_STACK(%rbx)
	jne	.Lnested
	movl	$1, GTP_AGENT_ON_STACK(%rbx)
	movq	%rsp, %rdi
	movq	%rsp, %rbp
	movq	GTP_AGENT_STACK_TOP(%rbx), %rax
	testq	%rax, %rax
	cmovnzq	%rax, %rsp
	andq	$-16, %rsp
	call	gtp_agent_hit
	movq	%rbp, %rsp
	movl	$0, GTP_AGENT_ON_STACK(%rbx)
.Lout:
	movq	18*8(%rsp), %rax
	testl	$GTP_AGENT_ODD_FLAGS, %eax
	jnz	.Lrestore_flags
.Lrestored:
	movq	%rax, 22*8(%rsp)	/* flags, for the pad to pop */
	addq	$4*8, %rsp
	popq	%rbp
	popq	%rbx
	POP_SCRATCH
	addq	$6*8, %rsp
	ret

.Lnested:
	incq	GTP_AGENT_CPU_AT+GTP_AGENT_NESTED(%rbx)
	jmp	.Lout

	/* This needs little of the thread's stack, and returns NULL if the hit is lost. */
.Lsearch:
	movq	%rsp, %rbp
	movl	%esi, %ebx
	movl	%esi, %edi
	andq	$-16, %rsp
	call	gtp_agent_claim
	movq	%rbp, %rsp
	movl	%ebx, %esi
	movq	%rax, %rdx
	testq	%rdx, %rdx
	jnz	.Lfound
	jmp	.Lout

.Lodd_flags:
	pushq	18*8(%rsp)
	andq	$~GTP_AGENT_ODD_FLAGS, (%rsp)
	popfq
	jmp	.Lflags_fit

.Lrestore_flags:
	pushq	%rax
	popfq
	jmp	.Lrestored
	.size	gtp_agent_pad_hit, . - gtp_agent_pad_hit

	.section .note.GNU-stack, "", @progbits
