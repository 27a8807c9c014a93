/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's executable memory. Every address at which a fast load can be has a fixup for faults.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/ibt.h>
#include <asm/page_types.h>
#include <asm/nospec-branch.h>

#include "arena.h"

/*
 * A module's exception table is fixed when the module is built, before the arena contains any load.
 * So every multiple of GTP_JIT_LOAD_ALIGN in the arena has an entry. Each entry leads to a fault
 * pad of its own, which identifies the load: the pad pushes its number within its group, and the
 * code at the group's end pushes the offset of the group's first load.
 */
#define PADS 32 /* pads of a group: short jumps reach its end */
#define GROUP_BYTES (PADS * GTP_JIT_LOAD_ALIGN)
#define GROUPS (GTP_JIT_ARENA / GROUP_BYTES)
#define PAD_SIZE 4
#define GROUP_SIZE (PADS * PAD_SIZE + 10)

	.text
/*
 * Two sample returns, because the form of a return may depend on its address. The kernel patches
 * them when it loads the module, as it does all returns; gtp_jit_init() reads the result.
 */
	.balign	GTP_JIT_LINE
SYM_START(gtp_jit_returns, SYM_L_GLOBAL, SYM_A_NONE)
	ENDBR
	test	%edi, %edi
	jz	.Lupper
	.org	gtp_jit_returns + GTP_JIT_RETURN_LOWER, 0x90
	RET
	.org	gtp_jit_returns + GTP_JIT_RETURN_UPPER, 0xcc
.Lupper:
	RET
SYM_FUNC_END(gtp_jit_returns)

	.balign	PAGE_SIZE, 0xcc
SYM_START(gtp_jit_arena, SYM_L_GLOBAL, SYM_A_NONE) /* SYM_FUNC_START may put padding in front */
	ENDBR
	.fill	GTP_JIT_ARENA - (. - gtp_jit_arena), 1, 0xcc
SYM_FUNC_END(gtp_jit_arena)
STACK_FRAME_NON_STANDARD gtp_jit_arena

SYM_FUNC_START_LOCAL(gtp_jit_fault_stubs)
.Lpads:
	.set	group, 0
	.rept	GROUPS
	.set	pad, 0
	.rept	PADS
	.byte	0x6a, pad				/* push pad */
	.byte	0xeb, (PADS - pad - 1) * PAD_SIZE	/* jmp to the group's end */
	.set	pad, pad + 1
	.endr
	.byte	0x68					/* push group */
	.long	group
	.byte	0xe9					/* jmp gtp_jit_faulted */
	.long	gtp_jit_faulted - . - 4
	.set	group, group + GROUP_BYTES
	.endr
SYM_FUNC_END(gtp_jit_fault_stubs)
STACK_FRAME_NON_STANDARD gtp_jit_fault_stubs

/*
 * Continue at the address that ax_jit_careful() gives, with all registers as at the load. The flags
 * need not be kept: the check of the address before the load has changed them.
 */
SYM_FUNC_START_LOCAL(gtp_jit_faulted)
	push	%rax
	push	%rdx
	mov	24(%rsp), %rax			/* the pad's number */
	shl	$3, %rax
	add	16(%rsp), %rax			/* the group's offset in the arena */
	lea	gtp_jit_arena(%rip), %rdx
	add	%rdx, %rax			/* the load */
	movslq	-4(%rax), %rdx
	add	%rdx, %rax
	mov	%rax, 24(%rsp)
	pop	%rdx
	pop	%rax
	lea	8(%rsp), %rsp
	RET
SYM_FUNC_END(gtp_jit_faulted)
STACK_FRAME_NON_STANDARD gtp_jit_faulted

	.pushsection "__ex_table", "a"
	.balign	4
	.set	load, 0
	.set	to, 0
	.rept	GROUPS
	.rept	PADS
	.long	gtp_jit_arena + load - .
	.long	.Lpads + to - .
	.long	EX_TYPE_DEFAULT
	.set	load, load + GTP_JIT_LOAD_ALIGN
	.set	to, to + PAD_SIZE
	.endr
	.set	to, to + GROUP_SIZE - PADS * PAD_SIZE
	.endr
	.popsection
