# SPDX-License-Identifier: GPL-2.0-only
# Functions that return through a thunk, or jump through a retpoline.
#
# After "with" come options of gdbtp-regions.
	.section .modinfo,"a"
	.asciz "name=thunks"
	.text
	.p2align 6
	.type returns, @function
#: returns+0x0 jump accepted
#: returns+0x0 jump refused with --cpu its
#: returns+0x0 jump refused with --cpu rethunk
#  At run time these five bytes are a one-byte ret and four int3, or a jump to the thunk.
#: returns+0x9 relocate refused
#: returns+0xa int3
#: returns+0xa not-start with --cpu rethunk
returns:
	mov %rdi, %rax
	mov %rdi, %rax
	mov %rdi, %rax
.Lreturn:
	jmp __x86_return_thunk
	.size returns, . - returns

#  In the upper half of a cache line, the bug ITS of Intel's processors does not occur.
	.p2align 6
	.skip 40, 0xcc
	.type upper, @function
#: upper+0x0 jump accepted with --cpu its
#: upper+0x0 jump refused with --cpu rethunk
upper:
	mov %rdi, %rax
	mov %rdi, %rax
	mov %rdi, %rax
.Lupper:
	jmp __x86_return_thunk
	.size upper, . - upper
	.section .return_sites,"a"
	.long .Lreturn - ., .Lupper - .
	.text

	.type tail, @function
#: tail+0x0 jump refused
tail:
	mov %rdi, %rax
	mov %rdi, %rax
	jmp __x86_indirect_thunk_rax
	.size tail, . - tail
