// SPDX-License-Identifier: GPL-2.0-only
/* The x86-64 encoder: the only file that knows opcode bytes. */
#include "jit/x86_emit.h"

/* Append a byte; all bytes pass here. The length grows even after an error: callers use it. */
static void emit(struct x86_buf *b, u32 byte)
{
	if (b->p && b->len >= b->size)
		b->failed = true;
	if (b->p && !b->failed)
		b->p[b->len] = (u8)byte;
	b->len++;
}

static void emit_le(struct x86_buf *b, u64 value, u32 bytes)
{
	for (; bytes--; value >>= 8)
		emit(b, value & 0xff);
}

/* True if the value fits in 8 bits, which the processor sign-extends. */
static bool fits8(s64 v)
{
	return v == (s8)v;
}

/* The parts of a REX prefix that do not come from register numbers. */
enum {
	REX_NONE = 0x00,
	REX_BYTE = 0x40, /* spl, bpl, sil, dil instead of ah, ch, dh, bh */
	REX_W = 0x48,	 /* 64-bit operands */
};

static u32 rex_of(enum x86_width w)
{
	return w == X86_64 ? REX_W : REX_NONE;
}

/* The byte forms of registers 4 to 7 exist only under a REX prefix. */
static u32 rex_byte(enum x86_reg reg)
{
	return reg >= X86_RSP ? REX_BYTE : REX_NONE;
}

/*
 * A REX prefix is 0100WRXB (SDM 2A, 2.2.1) and must be the last prefix: the processor ignores one
 * that another prefix follows. So emit 65, 66 and f0 before a function that calls this one.
 */
static void rex(struct x86_buf *b, u32 want, u32 reg, u32 index, u32 base)
{
	u32 bits = (reg >> 3 & 1) << 2 | (index >> 3 & 1) << 1 | (base >> 3 & 1);

	if (want || bits)
		emit(b, 0x40 | want | bits);
}

/* Emit an opcode of one or more bytes, given as a number: 0x0fb6 for 0f b6. */
static void opcode(struct x86_buf *b, u32 op)
{
	if (op > 0xff)
		emit(b, op >> 8);
	emit(b, op & 0xff);
}

/* Emit op reg, rm with a register as rm; @reg is a register or the digit that extends @op. */
static void op_rr(struct x86_buf *b, u32 want, u32 op, u32 reg, u32 rm)
{
	rex(b, want, reg, 0, rm);
	opcode(b, op);
	emit(b, 0xc0 | (reg & 7) << 3 | (rm & 7));
}

static void sib(struct x86_buf *b, u32 scale, u32 index, u32 base)
{
	emit(b, scale << 6 | (index & 7) << 3 | (base & 7));
}

/*
 * Emit ModRM, SIB and displacement. rm 4 means that a SIB byte follows, so rsp and r12 as a base
 * need it (index 4: none). mod 0 with base 5 means no base, so rbp and r13 as a base need a
 * displacement.
 */
static void modrm_mem(struct x86_buf *b, u32 reg, const struct x86_mem *m)
{
	bool has_sib = m->index != X86_NO_REG || (m->base & 7) == X86_RSP;
	u32 mod = 2;

	if (m->base == X86_NO_REG) {
		emit(b, (reg & 7) << 3 | 4);
		sib(b, m->scale, m->index == X86_NO_REG ? X86_RSP : m->index, X86_RBP);
		emit_le(b, (u32)m->disp, 4);
		return;
	}
	if (!m->disp && (m->base & 7) != X86_RBP)
		mod = 0;
	else if (fits8(m->disp))
		mod = 1;
	emit(b, mod << 6 | (reg & 7) << 3 | (has_sib ? 4 : m->base & 7));
	if (has_sib)
		sib(b, m->scale, m->index == X86_NO_REG ? X86_RSP : m->index, m->base);
	if (mod)
		emit_le(b, (u32)m->disp, mod == 1 ? 1 : 4);
}

/*
 * Emit op reg, [mem]. Index 4 without REX.X means no index, so rsp cannot be an index; r12 can. In
 * 64-bit mode rm 5 with mod 0 is relative to rip (SDM 2A, 2.2.1.6), so modrm_mem() uses a SIB byte
 * for an absolute address.
 */
static void op_rm(struct x86_buf *b, u32 want, u32 op, u32 reg, const struct x86_mem *m)
{
	if (m->index == X86_RSP)
		b->failed = true; /* cannot be encoded */
	rex(b, want, reg, m->index == X86_NO_REG ? 0 : m->index,
	    m->base == X86_NO_REG ? 0 : m->base);
	opcode(b, op);
	modrm_mem(b, reg, m);
}

void x86_mov(struct x86_buf *b, enum x86_reg dst, enum x86_reg src)
{
	op_rr(b, REX_W, 0x89, src, dst); /* mov dst, src */
}

void x86_movabs(struct x86_buf *b, enum x86_reg dst, u64 value)
{
	rex(b, REX_W, 0, 0, dst);
	emit(b, 0xb8 | (dst & 7)); /* movabs dst, imm64 */
	emit_le(b, value, 8);
}

/* Do not use xor for 0: it changes the flags, which may be needed. 32-bit writes zero-extend. */
void x86_mov_imm(struct x86_buf *b, enum x86_reg dst, u64 value)
{
	if (value <= U32_MAX) {
		rex(b, REX_NONE, 0, 0, dst);
		emit(b, 0xb8 | (dst & 7)); /* mov dst32, imm32 */
		emit_le(b, value, 4);
	} else if (x86_fits32((s64)value)) {
		op_rr(b, REX_W, 0xc7, 0, dst); /* mov dst, simm32 */
		emit_le(b, value, 4);
	} else {
		x86_movabs(b, dst, value);
	}
}

void x86_lea(struct x86_buf *b, enum x86_width w, enum x86_reg dst, struct x86_mem mem)
{
	op_rm(b, rex_of(w), 0x8d, dst, &mem); /* lea dst, [mem] */
}

void x86_cmov(struct x86_buf *b, enum x86_cc cc, enum x86_reg dst, enum x86_reg src)
{
	op_rr(b, REX_W, 0x0f40 | cc, dst, src); /* cmovcc dst, src */
}

void x86_setcc(struct x86_buf *b, enum x86_cc cc, enum x86_reg dst)
{
	op_rr(b, rex_byte(dst), 0x0f90 | cc, 0, dst); /* setcc dst8 */
}

/*
 * Each kind of load is one instruction, because a fault is looked up by one address. The
 * zero-extending forms need no REX.W: writing 32 bits clears the upper half.
 */
void x86_load(struct x86_buf *b, enum x86_reg dst, struct x86_mem mem, u32 bytes, bool sign)
{
	if (bytes == 1 && sign)
		op_rm(b, REX_W, 0x0fbe, dst, &mem); /* movsx dst, byte [mem] */
	else if (bytes == 1)
		op_rm(b, REX_NONE, 0x0fb6, dst, &mem); /* movzx dst32, byte [mem] */
	else if (bytes == 2 && sign)
		op_rm(b, REX_W, 0x0fbf, dst, &mem); /* movsx dst, word [mem] */
	else if (bytes == 2)
		op_rm(b, REX_NONE, 0x0fb7, dst, &mem); /* movzx dst32, word [mem] */
	else if (bytes == 4 && sign)
		op_rm(b, REX_W, 0x63, dst, &mem); /* movsxd dst, dword [mem] */
	else
		op_rm(b, bytes == 8 ? REX_W : REX_NONE, 0x8b, dst, &mem); /* mov dst, [mem] */
}

void x86_load_gs(struct x86_buf *b, enum x86_reg dst, s32 disp, u32 bytes)
{
	struct x86_mem mem = x86_at(X86_NO_REG, disp);

	emit(b, 0x65);					   /* segment gs */
	op_rm(b, bytes == 8 ? REX_W : 0, 0x8b, dst, &mem); /* mov dst, gs:[disp] */
}

void x86_extend(struct x86_buf *b, enum x86_reg dst, enum x86_reg src, u32 bytes, bool sign)
{
	if (bytes == 1 && sign)
		op_rr(b, REX_W, 0x0fbe, dst, src); /* movsx dst, src8 */
	else if (bytes == 1)
		op_rr(b, rex_byte(src), 0x0fb6, dst, src); /* movzx dst32, src8 */
	else if (bytes == 2 && sign)
		op_rr(b, REX_W, 0x0fbf, dst, src); /* movsx dst, src16 */
	else if (bytes == 2)
		op_rr(b, REX_NONE, 0x0fb7, dst, src); /* movzx dst32, src16 */
	else if (bytes == 4 && sign)
		op_rr(b, REX_W, 0x63, dst, src); /* movsxd dst, src32 */
	else
		op_rr(b, bytes == 8 ? REX_W : REX_NONE, 0x89, src, dst); /* mov dst, src */
}

void x86_store(struct x86_buf *b, struct x86_mem mem, enum x86_reg src, u32 bytes)
{
	if (bytes == 1) {
		op_rm(b, rex_byte(src), 0x88, src, &mem); /* mov byte [mem], src8 */
		return;
	}
	if (bytes == 2)
		emit(b, 0x66);					  /* operand size 16 */
	op_rm(b, bytes == 8 ? REX_W : REX_NONE, 0x89, src, &mem); /* mov [mem], src */
}

void x86_store_imm(struct x86_buf *b, struct x86_mem mem, s32 value, u32 bytes)
{
	if (bytes == 2)
		emit(b, 0x66);					/* operand size 16 */
	op_rm(b, bytes == 8 ? REX_W : REX_NONE, 0xc7, 0, &mem); /* mov [mem], imm */
	emit_le(b, (u32)value, bytes == 2 ? 2 : 4);
}

void x86_zero(struct x86_buf *b, enum x86_reg dst)
{
	op_rr(b, REX_NONE, 0x31, dst, dst); /* xor dst32, dst32 */
}

void x86_alu(struct x86_buf *b, enum x86_alu op, enum x86_width w, enum x86_reg dst,
	     enum x86_reg src)
{
	op_rr(b, rex_of(w), op << 3 | 1, src, dst); /* op dst, src */
}

void x86_alu_mem(struct x86_buf *b, enum x86_alu op, enum x86_width w, enum x86_reg dst,
		 struct x86_mem src)
{
	op_rm(b, rex_of(w), op << 3 | 3, dst, &src); /* op dst, [src] */
}

void x86_alu_to_mem(struct x86_buf *b, enum x86_alu op, enum x86_width w, struct x86_mem dst,
		    enum x86_reg src)
{
	op_rm(b, rex_of(w), op << 3 | 1, src, &dst); /* op [dst], src */
}

static void alu_imm32(struct x86_buf *b, enum x86_alu op, enum x86_width w, enum x86_reg dst,
		      s32 imm)
{
	if (dst == X86_RAX) {
		rex(b, rex_of(w), 0, 0, 0);
		emit(b, op << 3 | 5); /* op rax, imm32 */
	} else {
		op_rr(b, rex_of(w), 0x81, op, dst); /* op dst, imm32 */
	}
	emit_le(b, (u32)imm, 4);
}

void x86_alu_imm(struct x86_buf *b, enum x86_alu op, enum x86_width w, enum x86_reg dst, s32 imm)
{
	if (fits8(imm)) {
		op_rr(b, rex_of(w), 0x83, op, dst); /* op dst, simm8 */
		emit_le(b, (u32)imm, 1);
	} else {
		alu_imm32(b, op, w, dst, imm);
	}
}

void x86_alu_mem_imm(struct x86_buf *b, enum x86_alu op, enum x86_width w, struct x86_mem dst,
		     s32 imm)
{
	op_rm(b, rex_of(w), fits8(imm) ? 0x83 : 0x81, op, &dst); /* op [dst], imm */
	emit_le(b, (u32)imm, fits8(imm) ? 1 : 4);
}

/* Emit the lock prefix, for operands of 8 bytes. */
static void lock(struct x86_buf *b)
{
	emit(b, 0xf0);
}

void x86_lock_add_mem_imm(struct x86_buf *b, struct x86_mem dst, s32 imm)
{
	lock(b);
	x86_alu_mem_imm(b, X86_ADD, X86_64, dst, imm); /* lock add [dst], imm */
}

void x86_lock_add_mem(struct x86_buf *b, struct x86_mem dst, enum x86_reg src)
{
	lock(b);
	op_rm(b, REX_W, X86_ADD << 3 | 1, src, &dst); /* lock add [dst], src */
}

/* If rax equals dst, stores src and sets the zero flag; otherwise loads dst into rax. */
void x86_lock_cmpxchg(struct x86_buf *b, struct x86_mem dst, enum x86_reg src)
{
	lock(b);
	op_rm(b, REX_W, 0x0fb1, src, &dst); /* lock cmpxchg [dst], src */
}

void x86_lock_xadd(struct x86_buf *b, struct x86_mem dst, enum x86_reg src)
{
	lock(b);
	op_rm(b, REX_W, 0x0fc1, src, &dst); /* lock xadd [dst], src */
}

void x86_cmp_mem_imm(struct x86_buf *b, struct x86_mem mem, s32 imm, u32 bytes)
{
	u32 n = bytes == 1 || fits8(imm) ? 1 : bytes == 2 ? 2 : 4;

	if (bytes == 2)
		emit(b, 0x66); /* operand size 16 */
	op_rm(b, bytes == 8 ? REX_W : REX_NONE,
	      bytes == 1 ? 0x80 :
	      n == 1	 ? 0x83 :
			   0x81,
	      X86_CMP, &mem); /* cmp [mem], imm */
	emit_le(b, (u32)imm, n);
}

void x86_test_mem_imm(struct x86_buf *b, struct x86_mem mem, s32 imm, u32 bytes)
{
	if (bytes == 2)
		emit(b, 0x66); /* operand size 16 */
	op_rm(b, bytes == 8 ? REX_W : REX_NONE, bytes == 1 ? 0xf6 : 0xf7, 0,
	      &mem); /* test [mem], imm */
	emit_le(b, (u32)imm, bytes == 8 ? 4 : bytes);
}

void x86_test(struct x86_buf *b, enum x86_width w, enum x86_reg x, enum x86_reg y)
{
	op_rr(b, rex_of(w), 0x85, y, x); /* test x, y */
}

/* For src = 0 dst is undefined (SDM 2A, BSF): the caller makes sure that a bit is set. */
void x86_bsf(struct x86_buf *b, enum x86_width w, enum x86_reg dst, enum x86_reg src)
{
	op_rr(b, rex_of(w), 0x0fbc, dst, src); /* bsf dst, src */
}

void x86_imul(struct x86_buf *b, enum x86_width w, enum x86_reg dst, enum x86_reg src)
{
	op_rr(b, rex_of(w), 0x0faf, dst, src); /* imul dst, src */
}

void x86_imul_mem(struct x86_buf *b, enum x86_width w, enum x86_reg dst, struct x86_mem src)
{
	op_rm(b, rex_of(w), 0x0faf, dst, &src); /* imul dst, [src] */
}

void x86_imul_imm(struct x86_buf *b, enum x86_width w, enum x86_reg dst, enum x86_reg src, s32 imm)
{
	op_rr(b, rex_of(w), fits8(imm) ? 0x6b : 0x69, dst, src); /* imul dst, src, imm */
	emit_le(b, (u32)imm, fits8(imm) ? 1 : 4);
}

/* div and idiv trap on 0 and on a quotient that is too large: jit/ops_div.c excludes both. */
void x86_unary(struct x86_buf *b, enum x86_unary op, enum x86_width w, enum x86_reg reg)
{
	op_rr(b, rex_of(w), 0xf7, op, reg); /* not, neg, mul, imul, div, idiv reg */
}

/* The processor masks the count to 5 or 6 bits: jit/ops_shift.c handles larger ones. */
void x86_shift(struct x86_buf *b, enum x86_shift op, enum x86_width w, enum x86_reg dst, u8 count)
{
	if (count == 1) {
		op_rr(b, rex_of(w), 0xd1, op, dst); /* op dst, 1 */
		return;
	}
	op_rr(b, rex_of(w), 0xc1, op, dst); /* op dst, imm8 */
	emit(b, count);
}

void x86_shift_cl(struct x86_buf *b, enum x86_shift op, enum x86_width w, enum x86_reg dst)
{
	op_rr(b, rex_of(w), 0xd3, op, dst); /* op dst, cl */
}

void x86_sign_to_rdx(struct x86_buf *b, enum x86_width w)
{
	rex(b, rex_of(w), 0, 0, 0);
	emit(b, 0x99); /* cdq, cqo */
}

/* Emit a displacement of @bytes, which counts from the end of its instruction. */
static void displacement(struct x86_buf *b, s64 to, u32 bytes)
{
	s64 disp = to - ((s64)b->len + bytes);

	if (bytes == 1 ? !fits8(disp) : !x86_fits32(disp))
		b->failed = true;
	emit_le(b, (u64)disp, bytes);
}

u32 x86_skip_if(struct x86_buf *b, enum x86_cc cc)
{
	emit(b, 0x70 | cc); /* jcc rel8 */
	emit(b, 0);
	return b->len;
}

u32 x86_skip(struct x86_buf *b)
{
	emit(b, 0xeb); /* jmp rel8 */
	emit(b, 0);
	return b->len;
}

void x86_land(struct x86_buf *b, u32 from)
{
	u32 disp = b->len - from;

	if (disp > 127)
		b->failed = true;
	else if (b->p && !b->failed)
		b->p[from - 1] = (u8)disp;
}

void x86_jcc_short(struct x86_buf *b, enum x86_cc cc, u32 to)
{
	emit(b, 0x70 | cc); /* jcc rel8 */
	displacement(b, to, 1);
}

void x86_jcc(struct x86_buf *b, enum x86_cc cc, u32 to)
{
	opcode(b, 0x0f80 | cc); /* jcc rel32 */
	displacement(b, to, 4);
}

void x86_jmp_short(struct x86_buf *b, u32 to)
{
	emit(b, 0xeb); /* jmp rel8 */
	displacement(b, to, 1);
}

void x86_jmp(struct x86_buf *b, u32 to)
{
	emit(b, 0xe9); /* jmp rel32 */
	displacement(b, to, 4);
}

/* Emit this before an unchecked load: a fault uses the 4 bytes before the load as displacement. */
void x86_nop_to(struct x86_buf *b, u32 to)
{
	emit_le(b, 0x801f0f, 3); /* nop [rax + disp32] */
	displacement(b, to, 4);
}

void x86_call_far(struct x86_buf *b, u64 base, u64 addr)
{
	emit(b, 0xe8); /* call rel32 */
	displacement(b, (s64)(addr - base), 4);
}

void x86_jmp_far(struct x86_buf *b, u64 base, u64 addr)
{
	emit(b, 0xe9); /* jmp rel32 */
	displacement(b, (s64)(addr - base), 4);
}

void x86_jcc_far(struct x86_buf *b, u64 base, enum x86_cc cc, u64 addr)
{
	opcode(b, 0x0f80 | cc); /* jcc rel32 */
	displacement(b, (s64)(addr - base), 4);
}

void x86_disp_far(struct x86_buf *b, u64 base, u64 addr, u32 behind)
{
	displacement(b, (s64)(addr - base) - behind, 4);
}

void x86_bytes(struct x86_buf *b, const u8 *p, u32 n)
{
	while (n--)
		emit(b, *p++);
}

/* A call without a retpoline: only for userspace's stubs that are far from C, see call_c(). */
void x86_call_reg(struct x86_buf *b, enum x86_reg reg)
{
	op_rr(b, REX_NONE, 0xff, 2, reg); /* call reg */
}

void x86_push(struct x86_buf *b, enum x86_reg reg)
{
	rex(b, REX_NONE, 0, 0, reg);
	emit(b, 0x50 | (reg & 7)); /* push reg */
}

void x86_push_imm(struct x86_buf *b, s32 imm)
{
	emit(b, 0x68); /* push simm32 */
	emit_le(b, (u32)imm, 4);
}

void x86_pop(struct x86_buf *b, enum x86_reg reg)
{
	rex(b, REX_NONE, 0, 0, reg);
	emit(b, 0x58 | (reg & 7)); /* pop reg */
}

void x86_push_mem(struct x86_buf *b, struct x86_mem mem)
{
	op_rm(b, REX_NONE, 0xff, 6, &mem); /* push qword [mem] */
}

void x86_pop_mem(struct x86_buf *b, struct x86_mem mem)
{
	op_rm(b, REX_NONE, 0x8f, 0, &mem); /* pop qword [mem] */
}

void x86_pushfq(struct x86_buf *b)
{
	emit(b, 0x9c); /* pushfq */
}

/* Also restores the interrupt flag in the kernel, and never in userspace (SDM 2B, POPF). */
void x86_popfq(struct x86_buf *b)
{
	emit(b, 0x9d); /* popfq */
}

/* ah receives sign, zero, adjust, parity and carry; al the overflow flag, which lahf leaves out. */
void x86_flags_to_rax(struct x86_buf *b)
{
	emit(b, 0x9f); /* lahf */
	x86_setcc(b, X86_CC_O, X86_RAX);
}

/* al is 0 or 1: adding 127 sets the overflow flag only for 1. The sahf after it keeps that flag. */
void x86_flags_from_rax(struct x86_buf *b)
{
	emit_le(b, 0x7f04, 2); /* add al, 127 */
	emit(b, 0x9e);	       /* sahf */
}

void x86_leave(struct x86_buf *b)
{
	emit(b, 0xc9); /* leave */
}

/* A plain return; only jit_return() may emit it, if the kernel's mitigations allow it. */
void x86_ret(struct x86_buf *b)
{
	emit(b, 0xc3); /* ret */
}

/* rdtsc alone may run before earlier instructions; lfence waits for them (SDM 2B, RDTSC). */
void x86_lfence(struct x86_buf *b)
{
	emit_le(b, 0xe8ae0f, 3); /* lfence */
}

void x86_rdtsc(struct x86_buf *b)
{
	emit_le(b, 0x310f, 2); /* rdtsc */
}

/* The instruction is privileged: pads in userspace must not contain it. */
void x86_cli(struct x86_buf *b)
{
	emit(b, 0xfa); /* cli */
}

void x86_endbr64(struct x86_buf *b)
{
	emit_le(b, 0xfa1e0ff3, 4); /* endbr64 */
}

void x86_fill_nops(struct x86_buf *b, u32 bytes)
{
	/* The forms that processors decode as one instruction. */
	static const u64 form[] = {
		0,
		0x90,		    /* nop */
		0x9066,		    /* 66 nop */
		0x001f0f,	    /* nop [rax] */
		0x00401f0f,	    /* nop [rax + 0] */
		0x0000441f0f,	    /* nop [rax + rax + 0] */
		0x0000441f0f66,	    /* 66 nop [rax + rax + 0] */
		0x00000000801f0f,   /* nop [rax + dword 0] */
		0x0000000000841f0f, /* nop [rax + rax + dword 0] */
	};

	while (bytes) {
		u32 n = bytes < ARRAY_SIZE(form) ? bytes : ARRAY_SIZE(form) - 1;

		emit_le(b, form[n], n);
		bytes -= n;
	}
}

/* For padding, and to stop straight-line speculation past a return or a jump. */
void x86_int3s(struct x86_buf *b, u32 bytes)
{
	while (bytes--)
		emit(b, 0xcc); /* int3 */
}
