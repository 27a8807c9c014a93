/* SPDX-License-Identifier: GPL-2.0-only */
/* Called by jump pads: saves all registers as they were at the probed instruction, and calls C. */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>
#include <asm/segment.h>
#include <asm/smap.h>

#include "base/compat.h"
#include "probe/regs_entry.S"

	.text

/*
 * Called by a pad that has pushed a word for C; see pad/pad.h. On the stack are then the return
 * address to the pad, the word, and the interrupted code's stack. The words pushed here form a
 * struct gtp_regs. All registers are preserved; C preserves six of them itself. At the end the
 * flags replace the word, so that the pad pops them: with call depth tracking every return changes
 * the flags. C has turned interrupts off, and popping the flags turns them on again.
 *
 * In the middle of a string operation the direction flag may be set, which C does not expect. And
 * while the kernel copies from or to user memory, SMAP is off: turn it on for the time of the hit.
 */
.macro PAD_HIT name:req own:req
GTP_TAKEN_START(\name)
	pushq	$__KERNEL_DS		/* ss */
	pushq	%rsp			/* rsp, too low by 1 + \own words: corrected below */
	pushfq
	ASM_CLAC
	addq	$8 + 8*\own, 8(%rsp)
	pushq	$__KERNEL_CS
	subq	$2*8, %rsp		/* rip, taken from the location; orig_rax, unused */
	PUSH_GENERAL
	cld
	movq	%rsp, %rdi
	movl	22*8(%rsp), %esi
	call	gtp_pad_probe_hit
	movq	18*8(%rsp), %rax
	movq	%rax, 22*8(%rsp)	/* flags, for the pad to pop */
	addq	$6*8, %rsp
	POP_SCRATCH
	addq	$6*8, %rsp
	RET
SYM_FUNC_END(\name)
.endm

/*
 * @own: the word and the return address to the pad make 2; a pad that is called has its own return
 * address, too.
 */
PAD_HIT gtp_pad_hit 2
PAD_HIT gtp_pad_called 3

/*
 * The callers of these two are pads, which no unwind table describes. Objtool also warns about the
 * cld.
 */
STACK_FRAME_NON_STANDARD gtp_pad_hit
STACK_FRAME_NON_STANDARD gtp_pad_called
