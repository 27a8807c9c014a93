/* SPDX-License-Identifier: GPL-2.0-only */
/* A program with 5,000 functions, for tests/bench/startup.py. It waits until it is killed. */
	.text
	.globl	_start
_start:
	mov	$34, %eax	/* pause() */
	syscall
	jmp	_start

/* As far apart as the functions of libc are on average. */
	.globl	many
	.balign	256
many:
	.rept	5000
	lea	1(%rdi), %rax
	ret
	.balign	256
	.endr

	.section .note.GNU-stack, "", @progbits
