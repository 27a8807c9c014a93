/* SPDX-License-Identifier: GPL-2.0-only */
/* What a mover of instructions must know of one: its length, its kind, what in it is relative. */
#ifndef _GTP_INSN_H
#define _GTP_INSN_H

#include "base/base.h"

/* The longest instruction of the architecture. */
enum { GTP_INSN_MAX = 15 };

enum gtp_insn_kind {
	GTP_INSN_PLAIN,    /* does the same wherever it is */
	GTP_INSN_RIP,      /* the same, but an operand counts from its end: disp_at */
	GTP_INSN_CALL,     /* direct near call, rel */
	GTP_INSN_JMP,      /* direct near jump, 8 or 32 bits, rel */
	GTP_INSN_JCC,      /* conditional near jump, 8 or 32 bits, cond, rel */
	GTP_INSN_LOOP,     /* loop, loope, loopne, jrcxz; rel */
	GTP_INSN_CALL_REG, /* indirect near call, the operand perhaps relative: disp_at */
	GTP_INSN_JMP_REG,  /* indirect near jump */
	GTP_INSN_RET,      /* near return: nothing is executed behind it */
	GTP_INSN_INT3,     /* padding, or somebody's breakpoint */
	GTP_INSN_TRAP,     /* ud2 and the like: BUG and WARN look at where they are */
	GTP_INSN_FIXED,    /* known, but must not run elsewhere or beside a jump: iret, sti */
};

/* Bits of gtp_insn.flags_*: the arithmetic flags, as in rflags. */
enum {
	GTP_FLAG_CF = 1 << 0,
	GTP_FLAG_PF = 1 << 2,
	GTP_FLAG_AF = 1 << 4,
	GTP_FLAG_ZF = 1 << 6,
	GTP_FLAG_SF = 1 << 7,
	GTP_FLAG_OF = 1 << 11,
	GTP_FLAGS_ARITH = GTP_FLAG_CF | GTP_FLAG_PF | GTP_FLAG_AF | GTP_FLAG_ZF | GTP_FLAG_SF |
			  GTP_FLAG_OF,
};

/**
 * struct gtp_insn - one decoded instruction
 * @len: bytes
 * @kind: enum gtp_insn_kind
 * @disp_at: where in it the 32-bit displacement is that counts from its end; 0: there is none
 * @cond: JCC: the condition code, its opposite is cond ^ 1
 * @rel: direct jumps and calls: the target counts from the instruction's end
 * @flags_in: arithmetic flags that it may look at
 * @flags_out: arithmetic flags that it certainly overwrites, whatever they were; or that the
 *	architecture leaves undefined, so that nobody can go by what they were
 *
 * When in doubt @flags_in is all of them and @flags_out none.
 */
struct gtp_insn {
	u8 len;
	u8 kind;
	u8 disp_at;
	u8 cond;
	s32 rel;
	u16 flags_in;
	u16 flags_out;
};

/**
 * gtp_insn_decode() - the 64-bit instruction at @p
 * @insn: filled in; undefined on error
 * @p: its bytes
 * @avail: how many of them may be read
 *
 * Knows what compilers and the kernel's assembler make, and refuses the rest: a refusal costs a
 * probe its speed, a wrong length costs the machine. Source: Intel SDM volume 2, appendix A.
 *
 * Context: any. Return: 0, or -EINVAL: unknown, forbidden in 64-bit mode, or cut off by @avail.
 */
int gtp_insn_decode(struct gtp_insn *insn, const u8 *p, u32 avail);

/**
 * gtp_insn_halts() - does the CPU wait for an interrupt there?
 * @p: an instruction
 * @avail: how many bytes may be read
 *
 * hlt, mwait and mwaitx; and sti in front of one of them, which lets no interrupt in between the
 * two. A kprobe executes an instruction alone, with interrupts off: a CPU that halts so does not
 * come back, and an interrupt behind a sti that is alone is slept through. For a jump they are
 * GTP_INSN_FIXED.
 *
 * Context: any.
 */
bool gtp_insn_halts(const u8 *p, u32 avail);

#endif /* _GTP_INSN_H */
