/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Called by kernel tracepoints: saves the registers as they are in the tracepoint's caller, and
 * calls C.
 */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

#include "base/compat.h"
#include "probe/regs_entry.S"

	.text

/*
 * void gtp_event_entry(struct event_probe *p, the tracepoint's arguments...)
 *
 * Called by the tracepoint like __traceiter_EVENT, with the same arguments in the same places: the
 * first six in registers, the rest above the return address. If the location has a pad (->go), the
 * pad evaluates the condition. The pad returns to the caller if the hit needs no C code, and
 * otherwise jumps to gtp_event_open or gtp_event_held, below.
 */
GTP_TAKEN_START(gtp_event_entry)
	movq	(%rdi), %rax		/* ->go; rax is not an argument */
	testq	%rax, %rax
	jz	gtp_event_open
	JMP_NOSPEC rax
SYM_FUNC_END(gtp_event_entry)

/*
 * Push a struct gtp_regs with the registers as they are at the first instruction of
 * __traceiter_EVENT. The caller can be found from the return address and the callee-saved
 * registers.
 */
.macro EVENT_HIT name:req held:req
GTP_TAKEN_START(\name)
	pushq	$__KERNEL_DS		/* ss */
	pushq	%rsp			/* rsp; corrected by the addq below */
	pushfq
	addq	$8, 8(%rsp)
	pushq	$__KERNEL_CS
	pushq	$0			/* rip: taken from the location */
	pushq	$-1			/* orig_rax */
	PUSH_GENERAL
	movq	%rsp, %rsi
	movl	$\held, %edx
	call	gtp_event_hit
	addq	$168, %rsp
	UNWIND_HINT_FUNC		/* C has preserved the registers: no pop */
	RET
SYM_FUNC_END(\name)
.endm

EVENT_HIT gtp_event_open 0
EVENT_HIT gtp_event_held 1
