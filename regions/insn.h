/* SPDX-License-Identifier: GPL-2.0-only */
/* What a mover of instructions must know of one: its length, its kind, what in it is relative. */
#ifndef _GTP_INSN_H
#define _GTP_INSN_H

#include "regions/insn_kind.h"

/* The longest instruction of the architecture. */
enum { GTP_INSN_MAX = 15 };

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
