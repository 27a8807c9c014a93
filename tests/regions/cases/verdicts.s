# SPDX-License-Identifier: GPL-2.0-only
# Verdicts that depend only on the instructions at the address and in the bytes after it.
	.section .modinfo,"a"
	.asciz "name=verdicts"
	.text
	.globl straight
	.type straight, @function
#: straight+0x0 jump accepted
#: straight+0x1 not-start
#: straight+0x3 jump accepted
straight:
	mov %rdi, %rax
	mov %rsi, %rdx
	mov %rdx, %rcx
	add $0x12345678, %rax
#  A ret and the int3 after it: gdbtp can move the ret alone, but the kernel would also have to move the int3.
#: straight+0xf relocate refused
#: straight+0x10 int3
	ret
	int3
	int3
	int3
	int3
	.size straight, . - straight

	.type copies, @function
#  A call, a conditional jump and a shift: gdbtp relocates them, the kernel does not move them.
#: copies+0x0 relocate refused
#: copies+0x5 relocate refused
#: copies+0x7 relocate refused
#: copies+0xb jump accepted
copies:
	call straight
	jne straight
	shl $3, %rax
	mov %rdi, %rax
	mov %rdi, %rax
#  sti delays interrupts until after the next instruction, so it cannot be moved without that one.
#: copies+0xe copy accepted
#: copies+0x11 copy accepted
#: copies+0x12 jump accepted
	sti
	mov %rdi, %rax
	mov %rdi, %rax
#  A call of two bytes would return into the middle of the jump; a call at the end of the five bytes does not.
#: copies+0x18 return refused
#: copies+0x15 relocate refused
	call *%rax
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size copies, . - copies
	int3
	int3

	.type short, @function
#  Five bytes would reach into the next function.
#: short+0x0 end refused
#: short+0x1 end refused
short:
	push %rax
	pop %rax
	ret
	.size short, . - short

	.type dead, @function
#  Code after a ret that is not padding must be reached from somewhere, so some evidence is missing here.
#: dead+0x0 copy accepted
dead:
	ret
	mov %rdi, %rax
	mov %rdi, %rax
	.size dead, . - dead

	.type broken, @function
#  If one byte cannot be decoded, all instruction boundaries of the function are in doubt.
#: broken+0x0 bad-near refused
#: broken+0x6 bad
#: broken+0x2 bad-near refused
broken:
	xor %eax, %eax
	push %rbx
	push %rbx
	nop
	nop
	.byte 0x06
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size broken, . - broken

	.type landing, @function
#: landing+0x0 copy refused
#: landing+0x4 jump accepted
landing:
	endbr64
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size landing, . - landing
	.skip 8, 0xcc

	.section .init.text,"ax"
	.type early, @function
#? early+0x0 no probe: freed after boot
early:
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size early, . - early
