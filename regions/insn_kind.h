/* SPDX-License-Identifier: GPL-2.0-only */
/* Kinds of instructions and the arithmetic flags, for the decoder and its opcode maps. */
#ifndef _GTP_INSN_KIND_H
#define _GTP_INSN_KIND_H

#include "base/base.h"

enum gtp_insn_kind {
	GTP_INSN_PLAIN,	   /* has the same effect at any address */
	GTP_INSN_RIP,	   /* like PLAIN, but an operand is relative to %rip: disp_at */
	GTP_INSN_CALL,	   /* direct near call, rel */
	GTP_INSN_JMP,	   /* direct near jump, 8 or 32 bits, rel */
	GTP_INSN_JCC,	   /* conditional near jump, 8 or 32 bits, cond, rel */
	GTP_INSN_LOOP,	   /* loop, loope, loopne, jrcxz; rel */
	GTP_INSN_CALL_REG, /* indirect near call, its operand may be relative to %rip: disp_at */
	GTP_INSN_JMP_REG,  /* indirect near jump */
	GTP_INSN_RET,	   /* near return */
	GTP_INSN_INT3,	   /* padding or a breakpoint */
	GTP_INSN_TRAP,	   /* ud2 and the like: the kernel looks up BUG and WARN by address */
	GTP_INSN_FIXED,	   /* known, but must not be displaced by a jump: iret, sti */
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

#endif /* _GTP_INSN_KIND_H */
