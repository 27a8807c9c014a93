/* SPDX-License-Identifier: GPL-2.0-only */
/* A call with known values in all registers, and a function that records its registers. */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/nospec-branch.h>

#define WORD 8
#define FLAGS (16 * WORD)		/* offset in struct gtp_target_regs, before xmm */
#define XMM (17 * WORD)

	.text

/* Load the registers that a function may change. The flags come first: moves do not change them. */
.macro LOAD_SCRATCH from:req
	pushq	\from + FLAGS(%rip)
	popfq
	movq	\from + 0 * WORD(%rip), %rax
	movq	\from + 1 * WORD(%rip), %rcx
	movq	\from + 2 * WORD(%rip), %rdx
	movq	\from + 6 * WORD(%rip), %rsi
	movq	\from + 7 * WORD(%rip), %rdi
	movq	\from + 8 * WORD(%rip), %r8
	movq	\from + 9 * WORD(%rip), %r9
	movq	\from + 10 * WORD(%rip), %r10
	movq	\from + 11 * WORD(%rip), %r11
.endm

/* Load all registers except rsp, which must stay valid. */
.macro LOAD_ALL from:req
	LOAD_SCRATCH \from
	movq	\from + 3 * WORD(%rip), %rbx
	movq	\from + 5 * WORD(%rip), %rbp
	movq	\from + 12 * WORD(%rip), %r12
	movq	\from + 13 * WORD(%rip), %r13
	movq	\from + 14 * WORD(%rip), %r14
	movq	\from + 15 * WORD(%rip), %r15
.endm

.macro KEEP_ALL to:req
	movq	%rax, \to + 0 * WORD(%rip)
	movq	%rcx, \to + 1 * WORD(%rip)
	movq	%rdx, \to + 2 * WORD(%rip)
	movq	%rbx, \to + 3 * WORD(%rip)
	movq	%rsp, \to + 4 * WORD(%rip)
	movq	%rbp, \to + 5 * WORD(%rip)
	movq	%rsi, \to + 6 * WORD(%rip)
	movq	%rdi, \to + 7 * WORD(%rip)
	movq	%r8, \to + 8 * WORD(%rip)
	movq	%r9, \to + 9 * WORD(%rip)
	movq	%r10, \to + 10 * WORD(%rip)
	movq	%r11, \to + 11 * WORD(%rip)
	movq	%r12, \to + 12 * WORD(%rip)
	movq	%r13, \to + 13 * WORD(%rip)
	movq	%r14, \to + 14 * WORD(%rip)
	movq	%r15, \to + 15 * WORD(%rip)
	pushfq
	popq	\to + FLAGS(%rip)
.endm

/*
 * void gtp_target_regs_enter(void)
 *
 * Calls the function at gtp_target_regs_to with the registers of gtp_target_regs_in, and records
 * the registers after the return in gtp_target_regs_after.
 */
SYM_FUNC_START(gtp_target_regs_enter)
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	pushfq
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movdqu	gtp_target_regs_in + XMM + 2 * \n * WORD(%rip), %xmm\n
	.endr
	leaq	-WORD(%rsp), %rax		/* the value of rsp in the called function */
	movq	%rax, gtp_target_regs_in + 4 * WORD(%rip)
	LOAD_ALL gtp_target_regs_in
	ANNOTATE_RETPOLINE_SAFE
	call	*gtp_target_regs_to(%rip)
	KEEP_ALL gtp_target_regs_after
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movdqu	%xmm\n, gtp_target_regs_after + XMM + 2 * \n * WORD(%rip)
	.endr
	popfq
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	RET
SYM_FUNC_END(gtp_target_regs_enter)

/* objtool must not check this function, because rbp does not point to a stack frame. */
STACK_FRAME_NON_STANDARD gtp_target_regs_enter

/*
 * Records its registers, and returns with the scratch registers of gtp_target_regs_back. Calls of
 * gtp_target_regs() end here, too. It does not record xmm registers, because gdbtp's decoder must
 * know all of its instructions.
 */
SYM_FUNC_START(gtp_target_regs_seen_by)
SYM_INNER_LABEL(gtp_target_regs_body, SYM_L_GLOBAL)
	/* Tests trace this instruction. In some kernels an endbr64 precedes it. */
	ANNOTATE_NOENDBR
	KEEP_ALL gtp_target_regs_seen
	LOAD_SCRATCH gtp_target_regs_back
	RET
SYM_FUNC_END(gtp_target_regs_seen_by)
