/* SPDX-License-Identifier: GPL-2.0-only */
/* Call an event's own function, which makes its record, with the tracepoint's arguments. */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>

#include "event_record.h"

	.text

/*
 * void gtp_event_record(const struct gtp_regs *regs, const u64 *stack, void *probe, void *file)
 *
 * Calls the event's own @probe with @file as its first argument, followed by the tracepoint's
 * arguments: five from @regs, and GTP_EVENT_STACK_WORDS words of @stack, which hold any further
 * arguments.
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
