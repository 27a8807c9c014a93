/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The assembly that a pad calls and that calls C, as in kernel/pad/probe_entry.S. It runs in a
 * process, so it has no clac and no cli, and the values of the segment registers are arbitrary.
 */
#include "probe/regs_entry.S"

	.text
	.globl	bench_pad_hit
	.balign	64
bench_pad_hit:
	pushq	$0x18
	pushq	%rsp
	pushfq
	addq	$24, 8(%rsp)
	pushq	$0x10
	subq	$2*8, %rsp
	PUSH_GENERAL
	cld
	movq	%rsp, %rdi
	movl	22*8(%rsp), %esi
	call	bench_hit
	movq	18*8(%rsp), %rax
	movq	%rax, 22*8(%rsp)
	addq	$6*8, %rsp
	POP_SCRATCH
	addq	$6*8, %rsp
	ret

	.globl	bench_pad_left
	.balign	64
bench_pad_left:
	andq	$-16, %rsp
	cld
	call	bench_left
	ud2

	.section .note.GNU-stack, "", @progbits
