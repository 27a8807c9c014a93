// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compiles the comparison of memory with a constant to one instruction, in a pad.
 *
 * That is possible only in a pad. After a fault of a load, a snippet reads the value carefully and
 * continues with the value in a register. A pad leaves the hit to C instead, so it needs no
 * register for the value and saves none.
 *
 *	ref32; ext 32; const16 1000; swap; less_signed	 cmp dword [base + disp], 1000; flags: g
 *	ref8; log_not					 cmp byte [base + disp], 0; flags: e
 *	ref32; ext 32; const8 4; bit_and; end		 test dword [base + disp], 4; flags: ne
 */
#include "agentexpr/meaning.h"
#include "jit/address.h"
#include "jit/flow.h"
#include "jit/ops_fuse.h"
#include "jit/slow.h"
#include "jit/values.h"

/* struct fused - the test of a loaded value: value OP @imm, or, if @masked, value & @mask OP 0 */
struct fused {
	u32 next; /* pc after the test */
	bool sign;
	bool masked;
	bool mirrored; /* the constant is on the left */
	u8 op;	       /* a comparison, or an opcode that tests for 0 */
	s64 imm;
	s64 mask;
};

/* Decode the instruction at @f->next; return false if a jump can reach it. */
static bool peek(const struct ax_jit *j, const struct fused *f, struct ax_insn *insn)
{
	return jit_peek_at(j, f->next, insn);
}

/* Skip an extension from the width of the load; record whether it is a sign extension. */
static void skip_extension(const struct ax_jit *j, struct fused *f, u32 bytes)
{
	struct ax_insn insn;

	if (!peek(j, f, &insn) || insn.operand != 8 * bytes)
		return;
	if (insn.op != AX_OP_ext && insn.op != AX_OP_zero_ext)
		return;
	f->sign = insn.op == AX_OP_ext && bytes < 8;
	f->next = insn.next;
}

static bool is_const(u32 op)
{
	return op >= AX_OP_const8 && op <= AX_OP_const64;
}

static bool is_compare(u32 op)
{
	return op == AX_OP_equal || op == AX_OP_less_signed || op == AX_OP_less_unsigned;
}

/* Parse a constant, perhaps with an extension, which GDB emits for a negative constant. */
static bool parse_const(const struct ax_jit *j, struct fused *f, s64 *imm)
{
	struct ax_insn insn;

	if (!peek(j, f, &insn) || !is_const(insn.op))
		return false;
	*imm = (s64)insn.operand;
	f->next = insn.next;
	if (peek(j, f, &insn) && (insn.op == AX_OP_ext || insn.op == AX_OP_zero_ext)) {
		*imm = (s64)ax_extend(insn.op, (u64)*imm, (u32)insn.operand);
		f->next = insn.next;
	}
	return true;
}

/* Parse: const, perhaps swap, comparison. */
static bool parse_compare(const struct ax_jit *j, struct fused *f)
{
	struct ax_insn insn;

	if (!parse_const(j, f, &f->imm))
		return false;
	if (peek(j, f, &insn) && insn.op == AX_OP_swap) {
		f->mirrored = true;
		f->next = insn.next;
	}
	if (!peek(j, f, &insn) || !is_compare(insn.op))
		return false;
	f->op = insn.op;
	f->next = insn.next;
	return true;
}

/* Parse an opcode that tests for zero. Consume only log_not; the others then use the flags. */
static bool parse_test(const struct ax_jit *j, struct fused *f)
{
	struct ax_insn insn;

	if (!peek(j, f, &insn))
		return false;
	f->op = insn.op;
	f->imm = 0;
	if (insn.op == AX_OP_log_not)
		f->next = insn.next;
	return insn.op == AX_OP_log_not || insn.op == AX_OP_if_goto || insn.op == AX_OP_end;
}

/* Parse: const, bit_and, and an opcode that tests for zero. */
static bool parse_mask(const struct ax_jit *j, struct fused *f)
{
	struct ax_insn insn;
	struct fused zero;

	if (!parse_const(j, f, &f->mask) || !peek(j, f, &insn) || insn.op != AX_OP_bit_and)
		return false;
	f->masked = true;
	f->next = insn.next;
	zero = *f;
	if (parse_compare(j, &zero) && zero.op == AX_OP_equal && !zero.imm) {
		*f = zero;
		return true;
	}
	return parse_test(j, f);
}

static bool parse(const struct ax_jit *j, struct fused *f)
{
	const struct fused value = *f;

	if (parse_compare(j, f))
		return true;
	*f = value;
	if (parse_mask(j, f))
		return true;
	*f = value;
	return parse_test(j, f);
}

/* True if comparing the low @bytes is enough: the constant equals its extended low bytes. */
static bool fits(const struct fused *f, u32 bytes)
{
	u32 bits = 8 * bytes;

	if (bytes == 8)
		return x86_fits32(f->masked ? f->mask : f->imm);
	if (f->masked)
		return !((u64)f->mask >> bits); /* the mask has no bits above the loaded ones */
	return (u64)f->imm == ax_extend(f->sign ? AX_OP_ext : AX_OP_zero_ext, (u64)f->imm, bits);
}

static enum x86_cc condition(const struct fused *f, u32 bytes)
{
	bool sign = f->op == AX_OP_less_signed && (f->sign || bytes == 8);

	if (f->op == AX_OP_equal || f->op == AX_OP_log_not)
		return X86_CC_E;
	if (!is_compare(f->op))
		return X86_CC_NE;
	if (f->mirrored)
		return sign ? X86_CC_G : X86_CC_A;
	return sign ? X86_CC_L : X86_CC_B;
}

static void emit(struct ax_jit *j, const struct fused *f, const struct jit_load *l)
{
	struct x86_mem mem = x86_at(l->base, (s32)l->disp);
	u32 slow = jit_slow_add(j, (struct jit_slow){ .base = l->base, .disp = l->disp });

	jit_align_load(j, l, l->bytes, slow);
	if (f->masked)
		x86_test_mem_imm(&j->b, mem, (s32)f->mask, l->bytes);
	else
		x86_cmp_mem_imm(&j->b, mem, (s32)f->imm, l->bytes);
}

bool jit_fuse_compare(struct ax_jit *j, const struct jit_load *l)
{
	struct fused f = { .next = j->next };

	if (!j->pad.on || !jit_may_be_fast(j, l, l->bytes))
		return false;
	skip_extension(j, &f, l->bytes);
	if (!parse(j, &f) || !fits(&f, l->bytes))
		return false;
	emit(j, &f, l);
	j->next = f.next;
	jit_set(j, jit_arg(j, 0), jit_flags(condition(&f, l->bytes)));
	return true;
}
