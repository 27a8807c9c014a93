/* SPDX-License-Identifier: GPL-2.0-only */
/* A program without a C library, whose FS segment is 0. It says that it is ready, then counts. */
#include <asm/unistd.h>

	.text
	.globl	_start, bare_count
	.type	bare_count, @function
bare_count:
	movq	%rdi, %rax
	addq	$1, %rax
	ret
	.size	bare_count, . - bare_count

	.type	_start, @function
_start:
	movl	$__NR_getpid, %eax
	syscall
	leaq	text_end(%rip), %rsi
1:	xorl	%edx, %edx
	movl	$10, %ecx
	divl	%ecx
	addl	$'0', %edx
	decq	%rsi
	movb	%dl, (%rsi)
	testl	%eax, %eax
	jnz	1b
	leaq	-6(%rsi), %rsi
	movl	$0x64616572, (%rsi)		/* "read" */
	movw	$0x2079, 4(%rsi)		/* "y " */
	leaq	text_end+1(%rip), %rdx
	subq	%rsi, %rdx
	movl	$1, %edi
	movl	$__NR_write, %eax
	syscall
	xorl	%edi, %edi
2:	call	bare_count
	movq	%rax, %rdi
	jmp	2b
	.size	_start, . - _start

	.data
	.fill	32, 1, 0
text_end:
	.byte	'\n'

	.section .note.GNU-stack, "", @progbits
