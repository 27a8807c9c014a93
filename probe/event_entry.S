/* SPDX-License-Identifier: GPL-2.0-only */
/* The way from a kernel tracepoint into C with the caller's registers, and on to the event's own. */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

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
 * void gtp_event_record(void *probe, void *file, const struct gtp_regs *regs, const u64 *stack)
 *
 * Calls the event's own @probe with @file as its first argument and the tracepoint's arguments
 * behind: five from @regs, GTP_EVENT_STACK_WORDS words of @stack where the others may be.
 */
SYM_FUNC_START(gtp_event_record)
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rdi, %rax
	movq	%rsi, %r10
	movq	%rdx, %r11
	movq	%rcx, %rsi
	subq	$128, %rsp
	movq	%rsp, %rdi
	movl	$16, %ecx
	rep movsq
	movq	%r10, %rdi
	movq	13*8(%r11), %rsi
	movq	12*8(%r11), %rdx
	movq	11*8(%r11), %rcx
	movq	9*8(%r11), %r8
	movq	8*8(%r11), %r9
	CALL_NOSPEC rax
	leave
	RET
SYM_FUNC_END(gtp_event_record)
