/* SPDX-License-Identifier: GPL-2.0-only */
/* Decode the properties of an instruction that the analysis of regions needs. */
#ifndef _RGN_DECODE_H
#define _RGN_DECODE_H

#include "base/base.h"

enum rgn_decoded_kind {
	RGN_DECODED_BAD, /* the bytes are not an instruction */
	RGN_DECODED_OTHER,
	RGN_DECODED_NOP,
	RGN_DECODED_CALL,  /* a direct call */
	RGN_DECODED_ICALL, /* a call through a register or memory */
	RGN_DECODED_JCC,   /* a conditional jump, loop and jcxz included */
	RGN_DECODED_JMP,   /* a direct jump */
	RGN_DECODED_IJMP,  /* a jump through a register or memory, far jumps included */
	RGN_DECODED_RET,
	RGN_DECODED_INT3,
	RGN_DECODED_UD,
	RGN_DECODED_ENDBR,
};

/**
 * struct rgn_decoded - a decoded instruction
 * @target: the target of a direct call or jump
 * @ref: the @refs_n operands that may be addresses: a displacement, a constant
 * @rip: true if @ref[0] comes from an operand relative to %rip, so that it is an address
 * @boost: true if the kernel's kprobes can run a plain copy of the instruction elsewhere
 *	(boostable)
 * @copy: true if code that adjusts calls, jumps and rip-relative operands can move the instruction
 */
struct rgn_decoded {
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
 * rgn_decode() - decode one instruction
 * @insn: receives the instruction; of kind RGN_DECODED_BAD and length 1 if the bytes are not an
 *	instruction
 * @bytes: the first byte of the instruction
 * @n: the number of bytes that may be read
 * @addr: the address of the first byte
 */
void rgn_decode(struct rgn_decoded *insn, const u8 *bytes, u64 n, u64 addr);

/*
 * rgn_decoder - return Zydis' decoder for 64-bit code, for callers that need an instruction's
 * operands
 */
const struct ZydisDecoder_ *rgn_decoder(void);

/*
 * rgn_decode_text - write the instruction in AT&T syntax; return its length, or 0 if the bytes are
 * not an instruction
 */
u32 rgn_decode_text(char *text, size_t size, const u8 *bytes, u64 n, u64 addr);

#endif /* _RGN_DECODE_H */
