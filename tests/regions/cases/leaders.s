# SPDX-License-Identifier: GPL-2.0-only
# Code that jumps into the middle of a region: one function for each kind of evidence for such a jump.
	.section .modinfo,"a"
	.asciz "name=leaders"
	.text

#  A jump of the same function. The kernel's own rule sees it, too, but refuses one byte more than needed.
	.type own_jump, @function
#: own_jump+0x0 leader refused
#: own_jump+0x2 leader refused
#: own_jump+0x3 jump accepted
#? own_jump+0x0 own_jump\+0x3: a jump of the same function
own_jump:
	mov %edi, %eax
	push %rbx
1:	mov %rsi, %rdx
	mov %rsi, %rdx
	nop
	nop
	nop
	nop
	jne 1b
	ret
	.size own_jump, . - own_jump
	.skip 8, 0xcc

#  A jump to the byte after the five bytes is harmless, but the kernel's rule refuses the place.
	.type behind, @function
#: behind+0x0 jump refused
behind:
	mov %rdi, %rax
	mov %edi, %eax
1:	mov %rsi, %rdx
	nop
	nop
	jne 1b
	ret
	.size behind, . - behind
	.skip 8, 0xcc

#  A jump from the function's cold part in another section, where the kernel's rule does not look.
	.type hot, @function
#: hot+0x0 leader accepted
#: hot+0x3 jump accepted
#? hot+0x0 hot\+0x3: a jump or call from another function
#? hot+0x0 denied
hot:
	mov %rdi, %rax
.Lback:
	mov %rsi, %rdx
	mov %rsi, %rdx
	ret
	.size hot, . - hot
	.skip 8, 0xcc
	.section .text.unlikely,"ax"
	.type hot.cold, @function
hot.cold:
	nop
	jmp .Lback
	.size hot.cold, . - hot.cold
	.skip 8, 0xcc
	.text

	.type faulting, @function
#: faulting+0x0 fault refused
#: faulting+0x3 leader refused
#: faulting+0x6 jump refused
#? faulting+0x3 faulting\+0x6: an exception fixup
faulting:
.Lfault:
	mov (%rdi), %rax
	mov %rsi, %rdx
.Lfixup:
	mov %rsi, %rdx
	mov %rsi, %rdx
	ret
	.size faulting, . - faulting
	.skip 8, 0xcc
	.section __ex_table,"a"
	.long .Lfault - ., .Lfixup - ., 0
	.text

#  A jump label that is a nop in the file; the kernel can switch the jump on at any time.
	.type label, @function
#: label+0x0 jump-label
#: label+0x5 leader accepted
#: label+0x8 jump accepted
#? label+0x5 label\+0x8: a jump label
#? label+0x5 denied
label:
.Llabel:
	.byte 0x0f, 0x1f, 0x44, 0, 0
	mov %rsi, %rdx
.Ltarget:
	mov %rsi, %rdx
	mov %rsi, %rdx
	ret
	.size label, . - label
	.skip 8, 0xcc
	.section __jump_table,"a"
	.long .Llabel - ., .Ltarget - .
	.quad 0
	.text

#  An alternative: at boot the kernel may replace the nops by a jump.
	.type chosen, @function
#: chosen+0x0 boot-site accepted
#: chosen+0x5 leader accepted
#? chosen+0x5 chosen\+0x8: an alternative's replacement code
chosen:
.Lold:
	nop
	nop
	nop
	nop
	nop
	mov %rsi, %rdx
.Lchosen:
	mov %rsi, %rdx
	mov %rsi, %rdx
	ret
	.size chosen, . - chosen
	.skip 8, 0xcc
	.section .altinstr_replacement,"ax"
.Lnew:	.byte 0xe9
	.long .Lchosen - . - 4
	.section .altinstructions,"a"
	.long .Lold - ., .Lnew - .
	.word 1
	.byte 5, 5
	.section .altinstr_aux,"ax"
	jmp .Lboot
	.text

	.type boot, @function
#: boot+0x0 leader accepted
#? boot+0x0 boot\+0x3: code that runs at boot only
boot:
	mov %rdi, %rax
.Lboot:
	mov %rsi, %rdx
	mov %rsi, %rdx
	ret
	.size boot, . - boot
	.skip 8, 0xcc

#  The address of an instruction is in data, or an instruction takes it.
	.type stored, @function
#: stored+0x0 leader accepted
#? stored+0x0 stored\+0x3: a relocation
stored:
	mov %rdi, %rax
.Lstored:
	mov %rsi, %rdx
	mov %rsi, %rdx
	ret
	.size stored, . - stored
	.skip 8, 0xcc
	.data
	.quad .Lstored
	.text

	.type named, @function
#: named+0x0 leader accepted
#? named+0x0 named\+0x3: an instruction that names its address
named:
	mov %rdi, %rax
.Lnamed:
	mov %rsi, %rdx
	mov %rsi, %rdx
	lea .Lnamed(%rip), %rax
	ret
	.size named, . - named
	.skip 8, 0xcc
