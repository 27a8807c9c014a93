/* SPDX-License-Identifier: GPL-2.0-only */
/* For test_unwind.c: registers with the names that the kernel uses. */
#ifndef _TEST_ASM_PTRACE_H
#define _TEST_ASM_PTRACE_H

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

#define user_mode(regs) (((regs)->cs & 3) == 3)

#endif /* _TEST_ASM_PTRACE_H */
