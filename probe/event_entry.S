/* SPDX-License-Identifier: GPL-2.0-only */
/* The way from a kernel tracepoint into C with the caller's registers, and on to the event's own. */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

#include "event_entry.h"

	.text

/*
 * void gtp_event_entry(struct event_probe *p, the tracepoint's arguments...)
 *
 * Called in the place of __traceiter_EVENT, with the same arguments in the same places: the first
 * six in registers, the rest behind the return address. So what is pushed here, a struct
 * gtp_regs, is what the registers are at that function's first instruction. Who called is what
 * the return address and the registers that a function preserves say.
 */
SYM_FUNC_START(gtp_event_entry)
	pushq	$__KERNEL_DS		/* ss */
	pushq	%rsp			/* rsp; off by the push above */
	pushfq
	addq	$8, 8(%rsp)
	pushq	$__KERNEL_CS
	pushq	$0			/* rip: the location knows */
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

/*
 * void gtp_event_record(const struct gtp_regs *regs, const u64 *stack, void *probe, void *file)
 *
 * Calls the event's own @probe with @file as its first argument and the tracepoint's arguments
 * behind: five from @regs, GTP_EVENT_STACK_WORDS words of @stack where the others may be.
 */
SYM_FUNC_START(gtp_event_record)
	pushq	%rbp
	movq	%rsp, %rbp
	word = GTP_EVENT_STACK_WORDS
	.rept	GTP_EVENT_STACK_WORDS
	word = word - 1
	pushq	word * 8(%rsi)
	.endr
	movq	%rdx, %rax
	movq	%rdi, %r10
	movq	%rcx, %rdi
	movq	13*8(%r10), %rsi
	movq	12*8(%r10), %rdx
	movq	11*8(%r10), %rcx
	movq	9*8(%r10), %r8
	movq	8*8(%r10), %r9
	CALL_NOSPEC rax
	leave
	RET
SYM_FUNC_END(gtp_event_record)
