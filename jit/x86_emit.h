/* SPDX-License-Identifier: GPL-2.0-only */
/* The x86-64 encoder: a function for each form of an instruction, and the buffer that it fills. */
#ifndef _GTP_X86_EMIT_H
#define _GTP_X86_EMIT_H

#include "base/base.h"

/* clang-format off */
enum x86_reg {
	X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP, X86_RSI, X86_RDI,
	X86_R8, X86_R9, X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
	X86_NR_REGS,
	X86_NO_REG = 0xff, /* no base or no index in a struct x86_mem */
};

/* clang-format on */

/* Condition codes; the opposite of a condition is the condition ^ 1. */
enum x86_cc {
	X86_CC_O = 0,
	X86_CC_B = 2, /* unsigned < */
	X86_CC_AE,
	X86_CC_E,
	X86_CC_NE,
	X86_CC_BE,
	X86_CC_A,
	X86_CC_S,
	X86_CC_NS,
	X86_CC_P,
	X86_CC_L = 12, /* signed < */
	X86_CC_GE,
	X86_CC_LE,
	X86_CC_G,
};

/* Operations on two operands. They share one encoding, which contains the operation's number. */
enum x86_alu {
	X86_ADD,
	X86_OR,
	X86_SBB = 3,
	X86_AND,
	X86_SUB,
	X86_XOR,
	X86_CMP,
};

enum x86_shift {
	X86_SHL = 4,
	X86_SHR,
	X86_SAR = 7,
};

/* One-operand operations on a register. */
enum x86_unary {
	X86_NOT = 2,
	X86_NEG,
	X86_MUL,  /* rdx:rax = rax * reg, unsigned */
	X86_IMUL, /* rdx:rax = rax * reg, signed */
	X86_DIV,  /* rax = rdx:rax / reg, rdx = rdx:rax % reg; unsigned */
	X86_IDIV, /* rax = rdx:rax / reg, rdx = rdx:rax % reg; signed */
};

enum x86_width {
	X86_32, /* writes zero-extend to 64 bits */
	X86_64,
};

/*
 * struct x86_mem - the operand [base + index << scale + disp]; without a base the address is disp
 */
struct x86_mem {
	u8 base;
	u8 index;
	u8 scale;
	s32 disp;
};

/**
 * struct x86_buf - a buffer for code
 * @p: the bytes; NULL: only count them
 * @size: room at @p; unused if @p is NULL
 * @len: bytes so far
 * @failed: true if something did not fit or could not be encoded; nothing more is written
 *
 * Errors are sticky: callers test @failed once, at the end.
 */
struct x86_buf {
	u8 *p;
	u32 size;
	u32 len;
	bool failed;
};

/* x86_fits32 - true if @v equals its low 32 bits, sign-extended */
static inline bool x86_fits32(s64 v)
{
	return v == (s32)v;
}

static inline struct x86_mem x86_at(enum x86_reg base, s32 disp)
{
	return (struct x86_mem){ .base = base, .index = X86_NO_REG, .disp = disp };
}

/* Moves. None of them changes the flags. */
void x86_mov(struct x86_buf *b, enum x86_reg dst, enum x86_reg src);
void x86_mov_imm(struct x86_buf *b, enum x86_reg dst, u64 value); /* the shortest form */
void x86_movabs(struct x86_buf *b, enum x86_reg dst, u64 value);  /* always 10 bytes */
void x86_lea(struct x86_buf *b, enum x86_width w, enum x86_reg dst, struct x86_mem mem);
void x86_cmov(struct x86_buf *b, enum x86_cc cc, enum x86_reg dst, enum x86_reg src);
void x86_setcc(struct x86_buf *b, enum x86_cc cc, enum x86_reg dst); /* the low byte only */

/**
 * x86_load() - dst = *mem, of 1, 2, 4 or 8 bytes, extended to 64 bits
 * @sign: sign-extend; zero-extend otherwise
 */
void x86_load(struct x86_buf *b, enum x86_reg dst, struct x86_mem mem, u32 bytes, bool sign);

/* x86_load_gs - dst = 4 or 8 bytes at @disp in the GS segment, zero-extended; changes no flags */
void x86_load_gs(struct x86_buf *b, enum x86_reg dst, s32 disp, u32 bytes);

/* x86_extend - dst = the low @bytes of src, extended to 64 bits */
void x86_extend(struct x86_buf *b, enum x86_reg dst, enum x86_reg src, u32 bytes, bool sign);

/* x86_store - *mem = the low @bytes of src */
void x86_store(struct x86_buf *b, struct x86_mem mem, enum x86_reg src, u32 bytes);

/* x86_store_imm - *mem = value: 2 or 4 bytes, or 8 sign-extended from 32 bits */
void x86_store_imm(struct x86_buf *b, struct x86_mem mem, s32 value, u32 bytes);

/* Arithmetic. All of it changes the flags. */
void x86_zero(struct x86_buf *b, enum x86_reg dst);
void x86_alu(struct x86_buf *b, enum x86_alu op, enum x86_width w, enum x86_reg dst,
	     enum x86_reg src);
void x86_alu_mem(struct x86_buf *b, enum x86_alu op, enum x86_width w, enum x86_reg dst,
		 struct x86_mem src);
void x86_alu_to_mem(struct x86_buf *b, enum x86_alu op, enum x86_width w, struct x86_mem dst,
		    enum x86_reg src);
void x86_alu_imm(struct x86_buf *b, enum x86_alu op, enum x86_width w, enum x86_reg dst, s32 imm);
void x86_alu_mem_imm(struct x86_buf *b, enum x86_alu op, enum x86_width w, struct x86_mem dst,
		     s32 imm);
void x86_lock_add_mem_imm(struct x86_buf *b, struct x86_mem dst, s32 imm);
void x86_lock_add_mem(struct x86_buf *b, struct x86_mem dst, enum x86_reg src);
void x86_lock_cmpxchg(struct x86_buf *b, struct x86_mem dst, enum x86_reg src); /* with rax */
void x86_lock_xadd(struct x86_buf *b, struct x86_mem dst, enum x86_reg src);	/* src = old dst */
void x86_cmp_mem_imm(struct x86_buf *b, struct x86_mem mem, s32 imm, u32 bytes);
void x86_test_mem_imm(struct x86_buf *b, struct x86_mem mem, s32 imm, u32 bytes);
void x86_test(struct x86_buf *b, enum x86_width w, enum x86_reg x, enum x86_reg y);
void x86_bsf(struct x86_buf *b, enum x86_width w, enum x86_reg dst, enum x86_reg src);
void x86_imul(struct x86_buf *b, enum x86_width w, enum x86_reg dst, enum x86_reg src);
void x86_imul_mem(struct x86_buf *b, enum x86_width w, enum x86_reg dst, struct x86_mem src);
void x86_imul_imm(struct x86_buf *b, enum x86_width w, enum x86_reg dst, enum x86_reg src, s32 imm);
void x86_unary(struct x86_buf *b, enum x86_unary op, enum x86_width w, enum x86_reg reg);
void x86_shift(struct x86_buf *b, enum x86_shift op, enum x86_width w, enum x86_reg dst, u8 count);
void x86_shift_cl(struct x86_buf *b, enum x86_shift op, enum x86_width w, enum x86_reg dst);
void x86_sign_to_rdx(struct x86_buf *b, enum x86_width w); /* cdq, cqo */

/*
 * Emit short forward jumps over code of unknown length. x86_land() makes the jump whose function
 * returned @from lead to the present end of the buffer.
 */
u32 x86_skip_if(struct x86_buf *b, enum x86_cc cc);
u32 x86_skip(struct x86_buf *b);
void x86_land(struct x86_buf *b, u32 from);

/*
 * Jumps. @to is an offset in the buffer and may be ahead. The short jumps fail if @to is out of
 * reach.
 */
void x86_jcc_short(struct x86_buf *b, enum x86_cc cc, u32 to);
void x86_jcc(struct x86_buf *b, enum x86_cc cc, u32 to);
void x86_jmp_short(struct x86_buf *b, u32 to);
void x86_jmp(struct x86_buf *b, u32 to);

/* Branch to an address outside the buffer, whose byte 0 will run at @base; fails beyond 2 GiB. */
void x86_call_far(struct x86_buf *b, u64 base, u64 addr);
void x86_jmp_far(struct x86_buf *b, u64 base, u64 addr);
void x86_jcc_far(struct x86_buf *b, u64 base, enum x86_cc cc, u64 addr);
void x86_call_reg(struct x86_buf *b, enum x86_reg reg);

void x86_push(struct x86_buf *b, enum x86_reg reg);
void x86_push_imm(struct x86_buf *b, s32 imm); /* always 5 bytes */
void x86_pop(struct x86_buf *b, enum x86_reg reg);
void x86_push_mem(struct x86_buf *b, struct x86_mem mem);
void x86_pop_mem(struct x86_buf *b, struct x86_mem mem);
void x86_pushfq(struct x86_buf *b);
void x86_popfq(struct x86_buf *b);

/*
 * Save the arithmetic flags in rax and restore them; faster than pushfq and popfq. Other code must
 * not use rax in between. Old processors lack lahf and sahf in 64-bit mode.
 */
void x86_flags_to_rax(struct x86_buf *b);
void x86_flags_from_rax(struct x86_buf *b);

void x86_leave(struct x86_buf *b);
void x86_ret(struct x86_buf *b);
void x86_lfence(struct x86_buf *b);
void x86_rdtsc(struct x86_buf *b); /* edx, eax: the halves of the counter */
void x86_cli(struct x86_buf *b);
void x86_endbr64(struct x86_buf *b);
void x86_nop_to(struct x86_buf *b, u32 to);	  /* a nop with x86_jcc()'s displacement */
void x86_fill_nops(struct x86_buf *b, u32 bytes); /* as few instructions as possible */
void x86_int3s(struct x86_buf *b, u32 bytes);

/*
 * Emit pieces of copied instructions: unchanged bytes; and a 32-bit displacement to an address
 * outside the buffer, which @behind more bytes of the instruction follow.
 */
void x86_bytes(struct x86_buf *b, const u8 *p, u32 n);
void x86_disp_far(struct x86_buf *b, u64 base, u64 addr, u32 behind);

/* x86_load_fs - dst = 8 bytes at @disp in the FS segment; changes no flags */
static inline void x86_load_fs(struct x86_buf *b, enum x86_reg dst, s32 disp)
{
	const u8 fs = 0x64; /* a prefix */

	x86_bytes(b, &fs, sizeof(fs));
	x86_load(b, dst, x86_at(X86_NO_REG, disp), 8, false);
}

#endif /* _GTP_X86_EMIT_H */
