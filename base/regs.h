/* SPDX-License-Identifier: GPL-2.0-only */
/* The registers of a hit: access to the kernel's pt_regs by GDB's amd64 register numbers. */
#ifndef _GTP_REGS_H
#define _GTP_REGS_H

#include "base/base.h"

/*
 * struct gtp_regs - the layout of x86-64's struct pt_regs, for the kernel and userspace
 *
 * The module asserts at build time that every offset equals the kernel's, so a pt_regs pointer can
 * be passed to shared code unchanged. Tests in userspace fill in the struct themselves.
 */
struct gtp_regs {
	u64 r15, r14, r13, r12, rbp, rbx;
	u64 r11, r10, r9, r8;
	u64 rax, rcx, rdx, rsi, rdi;
	u64 orig_rax;
	u64 rip, cs, eflags, rsp, ss;
};

/*
 * GDB's numbers (org.gnu.gdb.i386.core): 0-15 rax rbx rcx rdx rsi rdi rbp rsp r8-r15, 16 rip,
 * 17 eflags, 18 cs, 19 ss, 20-23 ds es fs gs
 */
enum {
	GTP_REG_FP = 6,
	GTP_REG_SP = 7,
	GTP_REG_PC = 16,
	GTP_REG_FLAGS = 17,
	GTP_REG_CS = 18,
	GTP_REG_SS = 19,
	GTP_NR_WIDE_REGS = 17,	/* registers 0 to 16 have 8 bytes; the others have 4 */
	GTP_NR_SAVED_REGS = 20, /* registers that a hit saves: rax to ss */
	GTP_NR_G_REGS = 24,	/* registers of the g packet; a hit never has ds, es, fs, gs */
	GTP_G_PACKET_BYTES = 17 * 8 + 7 * 4,
};

/*
 * Register masks in the form of R actions. They stand for all registers that a hit saves, for rax
 * to r15, and for the registers of 8 bytes.
 */
#define GTP_REGS_KNOWN (BIT_ULL(GTP_NR_SAVED_REGS) - 1)
#define GTP_REGS_GENERAL (BIT_ULL(GTP_REG_PC) - 1)
#define GTP_REGS_WIDE (BIT_ULL(GTP_NR_WIDE_REGS) - 1)

/*
 * gtp_regs_offset - return the offset in struct gtp_regs of GDB's register @n, @n <
 * GTP_NR_SAVED_REGS
 */
static inline u32 gtp_regs_offset(u32 n)
{
#define OFF(field) offsetof(struct gtp_regs, field)
	/* clang-format off */
	static const u8 offset[GTP_NR_SAVED_REGS] = {
		OFF(rax), OFF(rbx), OFF(rcx), OFF(rdx), OFF(rsi), OFF(rdi), OFF(rbp),
		OFF(rsp), OFF(r8),  OFF(r9),  OFF(r10), OFF(r11), OFF(r12), OFF(r13),
		OFF(r14), OFF(r15), OFF(rip), OFF(eflags), OFF(cs), OFF(ss),
	};
	/* clang-format on */
#undef OFF
	return offset[n];
}

/* gtp_regs_width - return the bytes of GDB's register @n in a g packet */
static inline u32 gtp_regs_width(u32 n)
{
	return n <= GTP_REG_PC ? 8 : 4;
}

/*
 * gtp_regs_bits - return how many of the low bits of register @n in struct gtp_regs are valid
 *
 * The bits above a selector's 16 are not part of the register. FRED stores the event's type and
 * vector there (<asm/fred.h>). An optimised kprobe's trampoline leaves old stack contents there,
 * since optimized_callback() sets only 16 bits.
 */
static inline u32 gtp_regs_bits(u32 n)
{
	if (n <= GTP_REG_PC)
		return 64;
	return n == GTP_REG_FLAGS ? 32 : 16;
}

/*
 * gtp_regs_get - return the value of GDB's register @n, zero-extended
 *
 * rip is not the tracepoint's address: each kind of probe leaves another value there. The caller
 * must use the tracepoint's address instead.
 */
static inline u64 gtp_regs_get(const struct gtp_regs *regs, u32 n)
{
	u64 v = *(const u64 *)((const char *)regs + gtp_regs_offset(n));

	return v & (~0ULL >> (64 - gtp_regs_bits(n)));
}

/* gtp_regs_put_general - store GDB's registers 0 to 15 at @p; return the address after them */
static inline u64 *gtp_regs_put_general(u64 *p, const struct gtp_regs *regs)
{
	*p++ = regs->rax;
	*p++ = regs->rbx;
	*p++ = regs->rcx;
	*p++ = regs->rdx;
	*p++ = regs->rsi;
	*p++ = regs->rdi;
	*p++ = regs->rbp;
	*p++ = regs->rsp;
	*p++ = regs->r8;
	*p++ = regs->r9;
	*p++ = regs->r10;
	*p++ = regs->r11;
	*p++ = regs->r12;
	*p++ = regs->r13;
	*p++ = regs->r14;
	*p++ = regs->r15;
	return p;
}

/* gtp_regs_pc - return rip as the probe has left it, which depends on the kind of probe */
static inline u64 gtp_regs_pc(const struct gtp_regs *regs)
{
	return regs->rip;
}

/* gtp_regs_stack - return the stack pointer */
static inline u64 gtp_regs_stack(const struct gtp_regs *regs)
{
	return regs->rsp;
}

/* gtp_regs_in_user - true if the registers are those of a program: its code runs in ring 3 */
static inline bool gtp_regs_in_user(const struct gtp_regs *regs)
{
	return regs->cs & 3;
}

#endif /* _GTP_REGS_H */
