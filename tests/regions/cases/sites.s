# SPDX-License-Identifier: GPL-2.0-only
# Places that the kernel patches: they take no probe, and no jump may overlap them.
	.section .modinfo,"a"
	.asciz "name=sites"
	.text

	.type traced, @function
#: traced+0x0 ftrace
#: traced+0x5 jump accepted
traced:
.Lfentry:
	.byte 0x0f, 0x1f, 0x44, 0, 0
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size traced, . - traced
	.skip 8, 0xcc
	.section __mcount_loc,"a"
	.quad .Lfentry
	.text

	.type label, @function
#: label+0x0 site refused
#: label+0x3 jump-label
#? label+0x0 label\+0x3: a jump label's
label:
	mov %rdi, %rax
.Llabel:
	.byte 0x66, 0x90
	mov %rdi, %rax
	mov %rdi, %rax
.Ltarget:
	ret
	.size label, . - label
	.skip 8, 0xcc
	.section __jump_table,"a"
	.long .Llabel - ., .Ltarget - .
	.quad 0
	.text

	.type called, @function
#: called+0x0 site refused
#: called+0x3 static-call
called:
	mov %rdi, %rax
.Lcall:
	call traced
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size called, . - called
	.skip 8, 0xcc
	.section .static_call_sites,"a"
	.long .Lcall - ., 0
	.text

	.type warns, @function
#: warns+0x0 copy refused
#: warns+0x3 bug
#: warns+0x5 jump accepted
warns:
	mov %rdi, %rax
.Lbug:
	ud2
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size warns, . - warns
	.skip 8, 0xcc
	.section __bug_table,"aw"
	.long .Lbug - ., 0
	.word 0, 0
	.text

#  At boot the kernel rewrites a paravirtual call, and may replace the call of a retpoline by a shorter call.
	.type boot, @function
#: boot+0x0 boot-site refused
#: boot+0xa boot-site refused
#: boot+0x7 relocate refused
#: boot+0xf jump accepted
#? boot+0x0 boot\+0x0: a paravirtual call's
boot:
.Lpv:
	call *pv_ops(%rip)
	nop
	mov %rdi, %rax
.Lthunk:
	call __x86_indirect_thunk_rax
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size boot, . - boot
	.skip 8, 0xcc
	.section .parainstructions,"a"
	.quad .Lpv
	.byte 0, 7
	.skip 6
	.section .retpoline_sites,"a"
	.long .Lthunk - .
	.text

	.type banned, @function
#: banned+0x0 nokprobe
banned:
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size banned, . - banned
	.skip 8, 0xcc
	.section _kprobe_blacklist,"aw"
	.quad banned

	.section .noinstr.text,"ax"
	.type quiet, @function
#: quiet+0x0 noinstr
quiet:
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size quiet, . - quiet

	.section .entry.text,"ax"
	.type entry, @function
#: entry+0x0 entry
entry:
	mov %rdi, %rax
	mov %rdi, %rax
	ret
	.size entry, . - entry
