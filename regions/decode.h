/* SPDX-License-Identifier: GPL-2.0-only */
/* One instruction, reduced to what the analysis asks of it. */
#ifndef _GTP_DECODE_H
#define _GTP_DECODE_H

#include "base/base.h"

enum gtp_decoded_kind {
	GTP_DECODED_BAD,     /* no instruction */
	GTP_DECODED_OTHER,
	GTP_DECODED_NOP,
	GTP_DECODED_CALL,    /* direct */
	GTP_DECODED_ICALL,   /* through a register or memory */
	GTP_DECODED_JCC,     /* conditional, loop and jcxz included */
	GTP_DECODED_JMP,     /* direct */
	GTP_DECODED_IJMP,    /* through a register or memory, far ones included */
	GTP_DECODED_RET,
	GTP_DECODED_INT3,
	GTP_DECODED_UD,
	GTP_DECODED_ENDBR,
};

/**
 * struct gtp_decoded - an instruction
 * @target: where a direct call or jump goes
 * @ref: @refs_n addresses that it may name: a constant, a displacement
 * @rip: the first of them is relative to the instruction, so surely an address
 * @boost: the kernel's own copier takes it (what it calls boostable)
 * @copy: a copier that relocates calls, jumps and rip-relative operands can take it
 */
struct gtp_decoded {
	u64 target;
	u64 ref[2];
	u8 refs_n;
	u8 len;
	u8 kind;
	bool rip;
	bool boost;
	bool copy;
};

/**
 * gtp_decode() - decode one instruction
 * @insn: receives it; of kind GTP_DECODED_BAD and length 1 when there is none
 * @bytes: where it starts
 * @n: how many bytes may be looked at
 * @addr: its address
 */
void gtp_decode(struct gtp_decoded *insn, const u8 *bytes, u64 n, u64 addr);

/* gtp_decode_text - the instruction as AT&T assembler; returns its length, 0 when there is none */
u32 gtp_decode_text(char *text, size_t size, const u8 *bytes, u64 n, u64 addr);

#endif /* _GTP_DECODE_H */
