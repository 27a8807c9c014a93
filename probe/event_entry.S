/* SPDX-License-Identifier: GPL-2.0-only */
/* The way from a kernel tracepoint into C with the caller's registers. */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

#include "base/compat.h"

	.text

/*
 * void gtp_event_entry(struct event_probe *p, the tracepoint's arguments...)
 *
 * Called in the place of __traceiter_EVENT, with the same arguments in the same places: the first
 * six in registers, the rest behind the return address. So the struct gtp_regs that is pushed
 * here has the registers as at that function's first instruction. The caller can be found from the
 * return address and the callee-saved registers.
 */
GTP_TAKEN_START(gtp_event_entry)
	pushq	$__KERNEL_DS		/* ss */
	pushq	%rsp			/* rsp; off by the push above */
	pushfq
	addq	$8, 8(%rsp)
	pushq	$__KERNEL_CS
	pushq	$0			/* rip: taken from the location */
	pushq	$-1			/* orig_rax */
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
	movq	%rsp, %rsi
	call	gtp_event_hit
	addq	$168, %rsp
	UNWIND_HINT_FUNC		/* C has preserved the registers, they need no pop */
	RET
SYM_FUNC_END(gtp_event_entry)
