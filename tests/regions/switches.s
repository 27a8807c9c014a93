# SPDX-License-Identifier: GPL-2.0-only
# Jumps through registers. In functions called good_*, all targets of such a jump can be proven. In
# bad_*, the proof has one error, and no instruction of the function may take a jump. target_* are
# targets in jump tables, which no jump may overwrite.
	.text

#  begin NAME, end: a function with an FDE; instructions at its end have room for a jump.
	.macro begin name
	.globl \name
\name:
	.cfi_startproc
	.endm
	.macro end
	mov %rdi, %r8
	mov %rsi, %r9
	mov %rdx, %r10
	ret
	.cfi_endproc
	.balign 16
	.endm

#  through NAME: a jump through the table of NAME as compilers write it, with the index in %rax.
	.macro through name
	lea table_\name(%rip), %rdx
	movslq (%rdx,%rax,4), %rax
	add %rdx, %rax
	jmp *%rax
	.endm

#  cases NAME, FLAGS, KIND: three cases, and the table with their addresses.
	.macro cases name, flags="a", kind=.rodata
	.globl target_\name\()_0, target_\name\()_1, target_\name\()_2
target_\name\()_0:
	mov %rdi, %r8
target_\name\()_1:
	mov %rdi, %r9
target_\name\()_2:
	mov %rdi, %r10
	.pushsection \kind\().\name, "\flags"
	.balign 4
table_\name:
	.long target_\name\()_0 - table_\name
	.long target_\name\()_1 - table_\name
	.long target_\name\()_2 - table_\name
	.popsection
	.endm

#  A switch as GCC writes it.
	begin good_plain
	endbr64
	cmp $2, %edi
	ja 1f
	mov %edi, %eax
	through good_plain
	cases good_plain
1:
	end

#  A system call changes %rax, although %rax is not an operand of the instruction.
	begin good_syscall
	xor %eax, %eax
	syscall
	cmp $2, %eax
	ja 1f
	mov %eax, %eax
	through good_syscall
	cases good_syscall
1:
	end

#  The instruction loop changes %rcx.
	begin good_loop
	xor %ecx, %ecx
	loop 2f
	nop
2:
	cmp $2, %ecx
	ja 1f
	mov %ecx, %eax
	through good_loop
	cases good_loop
1:
	end

#  The compare comes after the copy of the index, and uses jae with the bound plus one.
	begin good_copy
	mov %edi, %eax
	cmp $3, %edi
	jae 1f
	through good_copy
	cases good_copy
1:
	end

#  The index is a byte, zero-extended; the jump has the prefix notrack.
	begin good_byte
	cmp $2, %dil
	ja 1f
	movzbl %dil, %eax
	lea table_good_byte(%rip), %rdx
	movslq (%rdx,%rax,4), %rax
	add %rax, %rdx
	notrack jmp *%rdx
	cases good_byte
1:
	end

#  A mask bounds the index, and the table's address is kept in a register over a call.
	begin good_mask
	push %rbx
	.cfi_adjust_cfa_offset 8
	lea table_good_mask(%rip), %rbx
	call good_plain
	and $2, %eax
	movslq (%rbx,%rax,4), %rax
	add %rbx, %rax
	jmp *%rax
	cases good_mask
	pop %rbx
	.cfi_adjust_cfa_offset -8
	end

#  The compare is with memory, and the index is then loaded from there.
	begin good_memory
	cmpl $2, 8(%rdi)
	ja 1f
	mov 8(%rdi), %eax
	through good_memory
	cases good_memory
1:
	end

#  A tail call through a pointer: the stack frame has been removed.
	begin good_tail
	push %rbx
	.cfi_adjust_cfa_offset 8
	mov %rdi, %rbx
	mov (%rdi), %rax
	pop %rbx
	.cfi_adjust_cfa_offset -8
	cmp $5, %esi
	je 1f
	jmp *0x18(%rax)
1:
	end

#  One of the cases is in another part of the function.
	begin good_cold
	cmp $2, %edi
	ja 1f
	mov %edi, %eax
	through good_cold
	.globl target_good_cold_0
target_good_cold_0:
	mov %rdi, %r8
	mov %rdi, %r11
	.globl back_good_cold
back_good_cold:
	mov %rdi, %r9
	.pushsection .rodata.good_cold, "a"
	.balign 4
table_good_cold:
	.long target_good_cold_0 - table_good_cold
	.long target_good_cold_1 - table_good_cold
	.long back_good_cold - table_good_cold
	.popsection
1:
	end

	begin part_good_cold
	mov %rsi, %r11
	mov %rsi, %r8
	.globl target_good_cold_1
target_good_cold_1:
	mov %rsi, %r9
	jmp back_good_cold
	end

#  Nothing bounds the index.
	begin bad_index
	mov %edi, %eax
	through bad_index
	cases bad_index
	end

#  The compare bounds another register.
	begin bad_register
	cmp $2, %esi
	ja 1f
	mov %edi, %eax
	through bad_register
	cases bad_register
1:
	end

#  The compare is signed.
	begin bad_signed
	cmp $2, %edi
	jg 1f
	mov %edi, %eax
	through bad_signed
	cases bad_signed
1:
	end

#  Only the low byte is compared, but the whole register is used.
	begin bad_byte
	cmp $2, %dil
	ja 1f
	mov %edi, %eax
	through bad_byte
	cases bad_byte
1:
	end

#  The program can write to the table.
	begin bad_writable
	cmp $2, %edi
	ja 1f
	mov %edi, %eax
	through bad_writable
	cases bad_writable, aw, .data
1:
	end

#  A jump leads to the instruction after the compare.
	begin bad_entered
	test %rsi, %rsi
	js 2f
	cmp $2, %edi
	ja 1f
2:
	mov %edi, %eax
	through bad_entered
	cases bad_entered
1:
	end

#  Code without CFI jumps to the instruction after the compare.
	begin bad_elsewhere
	cmp $2, %edi
	ja 1f
	.globl inside_bad_elsewhere
inside_bad_elsewhere:
	mov %edi, %eax
	through bad_elsewhere
	cases bad_elsewhere
1:
	end

#  The index is loaded again after the compare.
	begin bad_stale
3:
	mov %eax, %ecx
	mov (%rdi), %eax
	cmp $2, %ecx
	ja 3b
	through bad_stale
	cases bad_stale
1:
	end

#  The compared copy of the index is from the previous round of a loop.
	begin bad_loop
	xor %ecx, %ecx
3:
	mov (%rdi), %eax
	cmp $2, %ecx
	mov %eax, %ecx
	ja 3b
	through bad_loop
	cases bad_loop
	end

#  A store comes between the compare of memory and the load.
	begin bad_store
	cmpl $2, 8(%rdi)
	ja 1f
	mov %esi, (%rdx)
	mov 8(%rdi), %eax
	through bad_store
	cases bad_store
1:
	end

#  A call may change the register that was compared.
	begin bad_call
	cmp $2, %edi
	ja 1f
	call good_plain
	mov %edi, %eax
	through bad_call
	cases bad_call
1:
	end

#  The branch uses the flags of another instruction.
	begin bad_flags
	cmp $2, %edi
	add %rsi, %rdx
	ja 1f
	mov %edi, %eax
	through bad_flags
	cases bad_flags
1:
	end

#  One case is in the middle of another function.
	begin bad_outside
	cmp $2, %edi
	ja 1f
	mov %edi, %eax
	through bad_outside
	.pushsection .rodata.bad_outside, "a"
	.balign 4
table_bad_outside:
	.long 1f - table_bad_outside
	.long target_foreign - table_bad_outside
	.long 1f - table_bad_outside
	.popsection
1:
	end

	begin foreign
	mov %rsi, %r11
	mov %rsi, %r8
	.globl target_foreign
target_foreign:
	mov %rsi, %r9
	end

#  The bound is one too large: the last entry does not belong to this table.
	begin bad_last
	cmp $3, %edi
	ja 1f
	mov %edi, %eax
	through bad_last
	cases bad_last
1:
	.pushsection .rodata.bad_last, "a"
	.long 1
	.popsection
	end

#  The stack frame is still there, so the jump is not a tail call.
	begin bad_frame
	push %rbx
	.cfi_adjust_cfa_offset 8
	mov (%rdi), %rax
	cmp $5, %esi
	je 1f
	jmp *%rax
1:
	pop %rbx
	.cfi_adjust_cfa_offset -8
	end

#  The address of a label is stored, so the pointer may lead to it.
	begin bad_label
	lea 1f(%rip), %rax
	mov %rax, (%rdi)
	jmp *(%rsi)
1:
	mov %rdi, %rax
	end

#  The target is a sum, not an entry of a table.
	begin bad_sum
	mov (%rdi), %rax
	add (%rsi), %rax
	jmp *%rax
	end

#  A called function without CFI may change any register, even those that C functions preserve.
	begin bad_own_way
	push %rbx
	.cfi_adjust_cfa_offset 8
	cmp $2, %edi
	ja 1f
	mov %edi, %ebx
	call own_way
	mov %ebx, %eax
	through bad_own_way
	cases bad_own_way
1:
	pop %rbx
	.cfi_adjust_cfa_offset -8
	end

#  The targets of one jump are proven, those of the other are not.
	begin bad_second
	cmp $2, %edi
	ja 1f
	mov %edi, %eax
	through bad_second
	cases bad_second
1:
	mov (%rdi), %rax
	add (%rsi), %rax
	jmp *%rax
	end

#  The jump is never reached, so nothing is known about it.
	begin bad_unreached
	ret
	mov (%rdi), %rax
	jmp *%rax
	end

#  Code without CFI: bad_own_way calls it, and it jumps into bad_elsewhere.
	.balign 16
own_way:
	mov $7, %ebx
	ret
	jmp inside_bad_elsewhere

	.globl the_end
the_end:
	nop
