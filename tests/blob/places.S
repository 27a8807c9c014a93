/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions with a place for a jump, in a known state of registers, flags and stack. */
	.text

.macro FUNCTION name
	.globl	\name
	.balign	16
\name:
.endm

/* long place_add(long a, long b): a + b + 1; the flags are dead at its first instruction */
FUNCTION place_add
	leaq	(%rdi,%rsi), %rax
	leaq	1(%rax), %rax
	ret

/* The same without a probe, to compare times with */
FUNCTION twin_add
	leaq	(%rdi,%rsi), %rax
	leaq	1(%rax), %rax
	ret

/* void place_flags(long a, long b, u64 *out): *out = the flags of a - b, after the place */
FUNCTION place_flags
	cmpq	%rsi, %rdi
	.globl	place_flags_at
place_flags_at:
	leaq	0x12345(%rdi,%rsi), %rax
	pushfq
	popq	%rcx
	movq	%rcx, (%rdx)
	ret

/* long place_red(long a, long b): 0x12345 - 77, if the red zone is not changed at the place */
FUNCTION place_red
	movq	%rdi, -8(%rsp)
	movq	$77, -64(%rsp)
	movq	%rsi, -128(%rsp)
	.globl	place_red_at
place_red_at:
	leaq	0x12345(%rdi,%rsi), %rax
	subq	-8(%rsp), %rax
	subq	-64(%rsp), %rax
	subq	-128(%rsp), %rax
	ret

/*
 * void place_regs(const u64 *in, u64 *out): load 14 general registers (all but rsp and r15) and 16
 * xmm registers from @in, pass the place, store them to @out
 */
FUNCTION place_regs
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	pushq	%rsi
	movq	%rdi, %r15
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	movups	14*8+16*\n(%r15), %xmm\n
	.endr
	movq	0(%r15), %rax
	movq	8(%r15), %rbx
	movq	16(%r15), %rcx
	movq	24(%r15), %rdx
	movq	32(%r15), %rsi
	movq	40(%r15), %rdi
	movq	48(%r15), %rbp
	movq	56(%r15), %r8
	movq	64(%r15), %r9
	movq	72(%r15), %r10
	movq	80(%r15), %r11
	movq	88(%r15), %r12
	movq	96(%r15), %r13
	movq	104(%r15), %r14
	.globl	place_regs_at
place_regs_at:
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00	/* a nop of 5 bytes */
	xchgq	%r15, (%rsp)
	movq	%rax, 0(%r15)
	movq	%rbx, 8(%r15)
	movq	%rcx, 16(%r15)
	movq	%rdx, 24(%r15)
	movq	%rsi, 32(%r15)
	movq	%rdi, 40(%r15)
	movq	%rbp, 48(%r15)
	movq	%r8, 56(%r15)
	movq	%r9, 64(%r15)
	movq	%r10, 72(%r15)
	movq	%r11, 80(%r15)
	movq	%r12, 88(%r15)
	movq	%r13, 96(%r15)
	movq	%r14, 104(%r15)
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	movups	%xmm\n, 14*8+16*\n(%r15)
	.endr
	popq	%rax
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	ret

/* long place_string(long a, long b): place_add() with the direction flag set at the place */
FUNCTION place_string
	std
	.globl	place_string_at
place_string_at:
	leaq	0x12345(%rdi,%rsi), %rax
	pushfq
	popq	%rax
	cld
	ret

/* long on_stack(void *top, long (*fn)(long, long), long a, long b): call a function on a stack */
FUNCTION on_stack
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rdi, %rsp
	movq	%rsi, %rax
	movq	%rdx, %rdi
	movq	%rcx, %rsi
	call	*%rax
	movq	%rbp, %rsp
	popq	%rbp
	ret

	.section .note.GNU-stack, "", @progbits
