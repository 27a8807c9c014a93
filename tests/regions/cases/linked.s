# SPDX-License-Identifier: GPL-2.0-only
# A linked kernel: its tables are delimited by symbols, and addresses in data have no relocations.
# link
	.section __ksymtab,"a"
	.long 0
	.text
	.globl label, stored
	.type label, @function
#: label+0x0 jump-label
#: label+0x5 leader accepted
#? label+0x5 evidence: D
#? 0xffffffff81000005 label\+0x5
#? 0xffffffffa1000005 --at label=0xffffffffa1000000 label\+0x5
#? 0xffffffffa1000005 --at .text=0xffffffffa1000000 label\+0x5
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

	.type stored, @function
#: stored+0x0 leader accepted
#? stored+0x0 stored\+0x3: a constant in data
stored:
	mov %rdi, %rax
.Lstored:
	mov %rsi, %rdx
	mov %rsi, %rdx
	ret
	.size stored, . - stored
	.skip 8, 0xcc

#  Data in a section with the executable flag, as in 7.3: it is no code, and addresses in it count.
	.type kept, @function
#: kept+0x0 leader accepted
#? kept+0x0 kept\+0x3: a constant in data
#: variable+0x0 not-start
kept:
	mov %rdi, %rax
.Lkept:
	mov %rsi, %rdx
	mov %rsi, %rdx
	ret
	.size kept, . - kept
	.skip 8, 0xcc
	.section .kept,"awx"
	.type variable, @object
variable:
	.quad .Lkept
	.size variable, . - variable
	.text

	.type moved, @function
#: moved+0x0 leader accepted
#? moved+0x0 moved\+0x3: an instruction that names its address
moved:
	mov %rdi, %rax
.Lmoved:
	mov %rsi, %rdx
	mov $.Lmoved, %rdx
	ret
	.size moved, . - moved
	.skip 8, 0xcc

	.type quiet, @function
#: quiet+0x0 noinstr
__noinstr_text_start:
quiet:
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size quiet, . - quiet
__noinstr_text_end:
	.skip 8, 0xcc

	.section .rodata,"a"
	.quad .Lstored
	.globl __start___jump_table, __stop___jump_table
__start___jump_table:
	.long .Llabel - ., .Ltarget - .
	.quad 0
__stop___jump_table:
