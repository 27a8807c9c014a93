# SPDX-License-Identifier: GPL-2.0-only
# Bounds of functions in a library without a symbol table: code with an FDE, code without one, and
# misleading code. The labels are for the test; the library that gdbtp-regions reads is stripped.
	.text
	.globl exported
	.type exported, @function

#  Has an FDE: takes jumps, except where code without an FDE jumps to.
exported:
	.cfi_startproc
	mov %rdi, %rax
	mov %rsi, %rdx
.globl entered_by_asm
entered_by_asm:
	mov %rdx, %rcx
	mov %rcx, %rsi
	mov %rsi, %rdi
	ret
	.cfi_endproc
	.size exported, . - exported
	.balign 16

#  A function with a cold part elsewhere, which has its own FDE.
plain_hot:
	.cfi_startproc
	test %edi, %edi
	js plain_cold
	mov %rdi, %rax
.globl back_from_cold
back_from_cold:
	mov %rsi, %rdx
	mov %rdx, %rcx
	ret
	.cfi_endproc
	.balign 16

.globl plain_cold
plain_cold:
	.cfi_startproc
	mov %rsi, %rax
	mov %rsi, %rdi
	jmp back_from_cold
	.cfi_endproc
	.balign 16

#  Assembly without CFI. It begins with data that looks like the first bytes of a movabs, so a
#  decoder that goes from instruction to instruction takes the following jump for its constant.
.globl no_cfi
no_cfi:
	.byte 0x48, 0xb8
	jmp entered_by_asm
	mov %rdi, %rax
	mov %rsi, %rdx
	mov %rdx, %rcx
	ret
.globl no_cfi_end
no_cfi_end:
	.balign 16

#  A function with data in it, so that one of its jumps leads into the middle of a decoded instruction.
.globl astray
astray:
	.cfi_startproc
	mov %rdi, %rax
	mov %rsi, %rdx
	mov %rdx, %rcx
	jmp 1f
	.byte 0x48, 0xb8
1:	mov %rcx, %rsi
	mov %rsi, %rdi
	mov %rdi, %rdx
	ret
	.cfi_endproc
.globl astray_end
astray_end:
	.balign 16

#  A jump over a lock prefix, as the C library has. It must not make the function suspect.
.globl lock_prefix
lock_prefix:
	.cfi_startproc
	mov %rdi, %rax
	mov %rsi, %rdx
	cmpl $0, %fs:0x18
	je 1f
	lock
1:	cmpxchgl %ecx, (%rdi)
	mov %rdx, %rcx
	mov %rcx, %rsi
	ret
	.cfi_endproc
	.balign 16

#  Two functions, and a further FDE that begins in the first and ends in the second.
.globl crossed
crossed:
	.cfi_startproc
	mov %rdi, %rax
	mov %rsi, %rdx
	mov %rdx, %rcx
	mov %rcx, %rsi
	ret
	.cfi_endproc
	.balign 16
after:
	.cfi_startproc
	mov %rdi, %rax
	mov %rsi, %rdx
	mov %rdx, %rcx
	ret
	.cfi_endproc
.globl crossed_end
crossed_end:
	.balign 16
	.section .eh_frame, "aw", @unwind
cie:
	.long 2f - 1f
1:	.long 0
	.byte 1
	.asciz "zR"
	.byte 1, 0x78, 16, 1, 0x1b
	.balign 8
2:
fde:
	.long 4f - 3f
3:	.long . - cie
	.long crossed + 6 - .
	.long 20
	.byte 0
	.balign 8
4:
