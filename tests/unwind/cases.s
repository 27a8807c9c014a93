# SPDX-License-Identifier: GPL-2.0-only
# Functions with call frame information of all forms. A line "#= KIND OFFSET BP BX MORE" is the rule that gdbtp-unwind must
# find for the next instruction.
	.text
	.globl	frame, big, moved, aligned, word, signal, other, thread, odd, again, last

	.type	frame, @function
frame:
	.cfi_startproc
#= sp 8 0 0 0
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
#= sp 16 2 0 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
#= bp 16 2 0 0
	push	%rbx
	.cfi_offset %rbx, -24
	.cfi_remember_state
#= bp 16 2 3 0
	pop	%rbx
	.cfi_restore %rbx
#= bp 16 2 0 0
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
#= sp 8 0 0 0
	ret
	.cfi_restore_state
#= bp 16 2 3 0
	ud2
	.cfi_endproc
	.size	frame, . - frame

# The space between functions takes the rule before it.
	.p2align 4
	.type	big, @function
big:
	.cfi_startproc
	sub	$0x12345678, %rsp
	.cfi_adjust_cfa_offset 0x12345678
#= sp 305419904 0 0 0
	mov	%rbp, (%rsp)
	.cfi_offset %rbp, -8 * 254
#= sp 305419904 254 0 0
	mov	%rbx, 8(%rsp)
	.cfi_offset %rbx, -8 * 255
#= sp 305419904 254 255 0
	nop
	.cfi_undefined %rbp
#= sp 305419904 255 255 0
	nop
	.cfi_same_value %rbp
	.cfi_register %rbx, %r12
#= sp 305419904 0 255 0
	hlt
	.cfi_endproc
	.size	big, . - big

# No rule: these bytes are in no function.
#= none 0 0 0 0
	mov	$1, %eax
	hlt
	.p2align 4

	.type	moved, @function
moved:
	.cfi_startproc
	nop
	.cfi_def_cfa %rbx, 40
#= bx 40 0 0 0
	nop
	.cfi_def_cfa %r10, 0
#= unknown 0 0 0 0
	ret
	.cfi_endproc

# As gcc writes it for a frame of variable size that is aligned: the CFA is in the word at rbp - 40.
	.type	aligned, @function
aligned:
	.cfi_startproc
	nop
	.cfi_escape 0x0f, 3, 0x76, 0x58, 0x06
	.cfi_escape 0x10, 6, 2, 0x76, 0
	.cfi_escape 0x10, 3, 2, 0x76, 0x50
#= at-bp -40 1 7 0
	nop
	.cfi_offset %rbx, -24
#= at-bp -40 1 255 0
	ret
	.cfi_endproc

# As OpenSSL writes it: the old stack pointer is in a word of the frame.
	.type	word, @function
word:
	.cfi_startproc
	nop
	.cfi_escape 0x0f, 6, 0x77, 0x98, 0x01, 0x06, 0x23, 8
	.cfi_offset %rbp, -16
#= at-sp 152 2 0 1
	nop
	.cfi_escape 0x0f, 6, 0x77, 0x98, 0x01, 0x06, 0x23, 4
#= unknown 0 0 0 0
	nop
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
#= plt 11 2 0 0
	nop
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x1c
#= unknown 0 0 0 0
	ret
	.cfi_endproc

	.type	signal, @function
signal:
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01
#= signal 0 0 0 0
	nop
	.cfi_escape 0x10, 16, 3, 0x77, 0xb0, 0x01
#= unknown 0 0 0 0
	ret
	.cfi_endproc

# The return address is not in its place, or the stack pointer is elsewhere.
	.type	other, @function
other:
	.cfi_startproc
	nop
	.cfi_register %rip, %rdx
#= unknown 0 0 0 0
	nop
	.cfi_offset %rip, -16
#= unknown 0 0 0 0
	nop
	.cfi_offset %rip, -8
#= sp 8 0 0 0
	nop
	.cfi_register %rsp, %r8
#= unknown 0 0 0 0
	ret
	.cfi_endproc

	.type	thread, @function
thread:
	.cfi_startproc
	.cfi_undefined %rip
#= end 0 0 0 0
	ret
	.cfi_endproc

# Offsets that are no multiples of a word.
	.type	odd, @function
odd:
	.cfi_startproc
	nop
	.cfi_escape 0x0e, 12
#= sp 12 0 0 0
	nop
	.cfi_escape 0x0f, 3, 0x76, 0x58, 0x06
	.cfi_escape 0x10, 6, 2, 0x76, 4
#= at-bp -40 255 0 0
	ret
	.cfi_endproc

# An opcode that does not exist: the rows before it are valid.
	.type	again, @function
again:
	.cfi_startproc
#= sp 8 0 0 0
	nop
	.cfi_def_cfa_offset 24
#= sp 24 0 0 0
	nop
	.cfi_escape 0x3f
#= unknown 0 0 0 0
	ret
	.cfi_endproc

# In the second page of the file, to which the same rule holds on.
	.type	last, @function
last:
	.cfi_startproc
	.cfi_def_cfa_offset 32
#= sp 32 0 0 0
	nop
	.fill	70000, 1, 0x90
#= sp 32 0 0 0
	ret
	.cfi_endproc
#= none 0 0 0 0
	mov	$2, %eax
	.section .note.GNU-stack, "", @progbits
