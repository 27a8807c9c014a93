/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Assembly code of followed calls: it calls C when a pad reports a call's entry, and again when the
 * function returns to a gate, and then returns to the function's caller.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>
#include <asm/segment.h>
#include <asm/smap.h>

#include "base/compat.h"
#include "kernel/pad/follow_entry.h"
#include "kernel/pad/gates.h"
#include "probe/regs_entry.S"

#define WORD 8
#define REGS_WORDS GTP_FOLLOW_REGS_WORDS
#define HEAD_WORDS GTP_FOLLOW_HEAD_WORDS
#define SAVED_EFLAGS (GTP_FOLLOW_EFLAGS * WORD)
#define CARRY GTP_FOLLOW_CARRY
#define ZERO GTP_FOLLOW_ZERO

	.text

/*
 * Called like gtp_pad_hit, by a pad that has pushed a word for C; see pad/pad.h and
 * kernel/pad/follow.h. If S is rsp at the function's entry, the word is at S - 8, the return
 * address to the pad at S - 16. The flags tell the pad where to continue. If neither carry nor zero
 * is set, it continues at the displaced instructions. If zero is set, it continues at the bare
 * gate, with the stack as the pad has left it; if carry is set, at the framed gate, with the stack
 * as in kernel/pad/follow.h. The direction flag is clear at any function's first instruction.
 */
GTP_TAKEN_START(gtp_pad_followed)
	pushq	$__KERNEL_DS		/* ss */
	pushq	%rsp			/* rsp, too low by 3 words: corrected below */
	pushfq
	ASM_CLAC
	addq	$3 * WORD, WORD(%rsp)
	pushq	$__KERNEL_CS
	subq	$2 * WORD, %rsp		/* rip, taken from the location; orig_rax, unused */
	PUSH_GENERAL
	subq	$HEAD_WORDS * WORD, %rsp
	movq	%rsp, %rdi
	movl	(HEAD_WORDS + REGS_WORDS + 1) * WORD(%rsp), %esi
	call	gtp_follow_enter
	movq	HEAD_WORDS * WORD + SAVED_EFLAGS(%rsp), %rcx
	cmpl	$GTP_FOLLOW_FRAMED, %eax
	je	.Lframed
	andq	$~(CARRY | ZERO), %rcx
	cmpl	$GTP_FOLLOW_FRAMED, %eax
	jb	1f			/* GTP_FOLLOW_NOT */
	orq	$ZERO, %rcx
1:	movq	%rcx, (HEAD_WORDS + REGS_WORDS + 1) * WORD(%rsp)
	addq	$(HEAD_WORDS + 6) * WORD, %rsp
	POP_SCRATCH
	addq	$6 * WORD, %rsp
	RET

	/*
	 * The record stays on the stack. Push below it the flags that the pad pops, and the return
	 * address to the pad.
	 */
.Lframed:
	orq	$CARRY, %rcx
	movq	(HEAD_WORDS + REGS_WORDS) * WORD(%rsp), %rdx
	movq	%rbp, (HEAD_WORDS + REGS_WORDS + 1) * WORD(%rsp)
	leaq	(HEAD_WORDS + REGS_WORDS + 1) * WORD(%rsp), %rbp
	pushq	%rcx
	pushq	%rdx
#define SAVED(n) (n) * WORD - (REGS_WORDS + 1) * WORD(%rbp)
	movq	SAVED(6), %r11
	movq	SAVED(7), %r10
	movq	SAVED(8), %r9
	movq	SAVED(9), %r8
	movq	SAVED(10), %rax
	movq	SAVED(11), %rcx
	movq	SAVED(12), %rdx
	movq	SAVED(13), %rsi
	movq	SAVED(14), %rdi
	RET
SYM_FUNC_END(gtp_pad_followed)

/* The caller of gtp_pad_followed is a pad, which no unwind table describes. */
STACK_FRAME_NON_STANDARD gtp_pad_followed

/* Save all registers that C may change, and restore them. */
.macro SAVE
	pushfq
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	movq	%rax, %rsi
#ifdef CONFIG_TRACE_IRQFLAGS
	movq	9 * WORD(%rsp), %rdx
#endif
.endm

.macro RESTORE
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	popfq
.endm

/*
 * The first GTP_GATE bytes are followed by room for gates of GTP_GATE bytes each. A gate is a call
 * to the end of a pad, which runs the displaced instructions and jumps back into the function, and
 * after the call a jump to the code that follows the room. kernel/pad/gates.c writes the call
 * whenever a gate is taken, and the jump only the first time. The instructions here let objtool
 * follow the stack through the room, so that the unwinder finds the caller from any gate.
 */
	.balign	GTP_GATE
GTP_TAKEN_START(gtp_gates_framed)
	pushq	%rbp
	movq	%rsp, %rbp
	.org	gtp_gates_framed + GTP_GATE, 0x90
	.rept	GTP_GATES * GTP_GATE / 8
	.byte	0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0	/* nopl 0(%rax,%rax,1) */
	.endr
	SAVE
	leaq	-(REGS_WORDS + HEAD_WORDS + 1) * WORD(%rbp), %rdi
	call	gtp_follow_leave
	RESTORE
	leave
	RET
SYM_FUNC_END(gtp_gates_framed)

	.balign	GTP_GATE
GTP_TAKEN_START(gtp_gates_bare)
	.org	gtp_gates_bare + GTP_GATE, 0x90
	.rept	GTP_GATES * GTP_GATE / 8
	.byte	0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0	/* nopl 0(%rax,%rax,1) */
	.endr
	SAVE
	leaq	10 * WORD(%rsp), %rdi
	call	gtp_follow_leave_bare
	RESTORE
	RET
SYM_FUNC_END(gtp_gates_bare)
	.org	gtp_gates_bare + GTP_GATE + GTP_GATES * GTP_GATE + GTP_GATES_TAIL, 0xcc
