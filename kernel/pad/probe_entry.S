/* SPDX-License-Identifier: GPL-2.0-only */
/* The way from a jump pad into C, with all registers as they were at the probed instruction. */
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
 * Called by a pad that has pushed a word for C; see pad/pad.h. On the stack are then: the way back
 * to the pad, the word, and what the interrupted code has. The words pushed here form a struct
 * gtp_regs. All registers are preserved; C preserves six of them itself. The flags lie in the
 * word's place in the end, where the pad pops them: on some CPUs every return counts calls, and the
 * flags are the count's. C has turned interrupts off, and these come back with the flags.
 *
 * In the middle of a string operation the direction flag may be set, which C does not expect; and
 * where the kernel copies from and to user memory, that is open to it, but not to us.
 */
.macro PAD_HIT name:req own:req
GTP_TAKEN_START(\name)
	pushq	$__KERNEL_DS		/* ss */
	pushq	%rsp			/* rsp; off by that push, and by \own words in front */
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

/* The word, and the way back to the pad; for a pad that is called, its own way back too. */
PAD_HIT gtp_pad_hit 2
PAD_HIT gtp_pad_called 3

/* The unwinder cannot find their callers anyway; and objtool warns that the cld is redundant. */
STACK_FRAME_NON_STANDARD gtp_pad_hit
STACK_FRAME_NON_STANDARD gtp_pad_called
