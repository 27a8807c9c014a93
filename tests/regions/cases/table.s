# SPDX-License-Identifier: GPL-2.0-only
# A jump through memory in a program: in code without a line table, with a row for every target, with a row missing.
	.file 1 "table.c"
	.text
	.type secret, @function
#: secret+0x0 indirect refused
#? secret+0x0 evidence: D
secret:
	mov %rdi, %rax
	mov %rdi, %rax
	jmp *(%rax)
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size secret, . - secret
	.skip 8, 0xcc

	.type told, @function
#: told+0x0 jump refused
#: told+0x8 leader refused
#: told+0xb jump refused
#? told+0x0 evidence: W
#? told+0x8 told\+0xb: the line table
told:
	.loc 1 1 1 basic_block
	mov %rdi, %rax
	mov %rdi, %rax
	jmp *(%rax)
	mov %rdi, %rax
	.loc 1 2 1 basic_block
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size told, . - told
	.skip 8, 0xcc

#  The target of a direct jump has no basic_block row, so the rows of this function cannot be trusted.
	.type doubtful, @function
#: doubtful+0x3 indirect refused
#? doubtful+0x3 evidence: D
doubtful:
	.loc 1 3 1 basic_block
	mov %rdi, %rax
	mov %rdi, %rax
	mov %rdi, %rax
	jmp *(%rax)
	.loc 1 4 1
1:	mov %rdi, %rax
	mov %rdi, %rax
	mov %rdi, %rax
	jne 1b
	ret
	.size doubtful, . - doubtful
	.skip 8, 0xcc
