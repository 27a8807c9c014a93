/* SPDX-License-Identifier: GPL-2.0-only */
/* Decode the properties of an instruction that copying needs: length, kind, operands, flags. */
#ifndef _GTP_INSN_H
#define _GTP_INSN_H

#include "regions/insn_kind.h"

/* The length of the architecture's longest instruction. */
enum { GTP_INSN_MAX = 15 };

/**
 * struct gtp_insn - one decoded instruction
 * @len: the length of the instruction
 * @kind: enum gtp_insn_kind
 * @disp_at: offset of a 32-bit displacement that is relative to %rip; 0: there is none
 * @cond: JCC: the condition code; the code of the opposite condition is @cond ^ 1
 * @rel: direct jumps and calls: distance from the instruction's end to the target
 * @flags_in: arithmetic flags that the instruction may read
 * @flags_out: arithmetic flags that the instruction always overwrites or leaves undefined, so that
 * later code cannot depend on their old values
 *
 * If the effect on the flags is in doubt, @flags_in has all flags and @flags_out has none.
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
 * gtp_insn_decode() - decode the 64-bit instruction at @p
 * @insn: filled in; undefined on error
 * @p: the first byte of the instruction
 * @avail: the number of bytes that may be read
 *
 * Decodes the instructions that compilers and the kernel's assembler emit, and refuses all others.
 * A refusal makes one probe slower; a wrong length would crash the machine. Source: Intel SDM
 * volume 2, appendix A.
 *
 * Context: any. Return: 0; -EINVAL if the instruction is unknown, forbidden in 64-bit mode, or
 * longer than @avail.
 */
int gtp_insn_decode(struct gtp_insn *insn, const u8 *p, u32 avail);

/**
 * gtp_insn_halts() - true if the instruction waits for an interrupt
 * @p: the first byte of an instruction
 * @avail: the number of bytes that may be read
 *
 * True for hlt, mwait and mwaitx, and for a sti before one of them, which delays interrupts until
 * the CPU halts. A kprobe single-steps its instruction with interrupts off, so a CPU that halts
 * there does not wake up. If only the sti is single-stepped, the wakeup may come before the halt
 * and is lost. A jump displaces none of these instructions: they are GTP_INSN_FIXED, and mwaitx is
 * unknown to the decoder.
 *
 * Context: any.
 */
bool gtp_insn_halts(const u8 *p, u32 avail);

#endif /* _GTP_INSN_H */
