// SPDX-License-Identifier: GPL-2.0-only
/*
 * The compiler's comparisons of memory with a constant, in one instruction.
 *
 * Only a pad can do so: whoever goes on after a fault needs the value in a register, and a pad does
 * not go on. Nor does it need a register then, or to save one.
 *
 *	ref32; ext 32; const16 1000; swap; less_signed	 cmp dword [base + disp], 1000; flags: g
 *	ref8; log_not					 cmp byte [base + disp], 0; flags: e
 */
#include "jit/compile.h"

/* struct fused - what is done with the value: compared with @imm, then @cc says the result */
struct fused {
	u32 next; /* pc behind it */
	bool sign;
	bool mirrored; /* the constant is on the left */
	u8 op;
	s64 imm;
};

/* The instruction at @f->next, unless others come to it by a jump. */
static bool peek(const struct ax_jit *j, const struct fused *f, struct ax_insn *insn)
{
	return f->next < j->v->len && !j->label[f->next].used &&
	       ax_decode(j->v->code, j->v->len, f->next, insn) == AX_OK;
}

/* The extension of a load to all 64 bits is told by the first "ext" of its width. */
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

/* const, perhaps extended, perhaps swap, comparison */
static bool parse_compare(const struct ax_jit *j, struct fused *f)
{
	struct ax_insn insn;

	if (!peek(j, f, &insn) || !is_const(insn.op))
		return false;
	f->imm = (s64)insn.operand;
	f->next = insn.next;
	if (peek(j, f, &insn) && (insn.op == AX_OP_ext || insn.op == AX_OP_zero_ext)) {
		f->imm = (s64)ax_extend(insn.op, (u64)f->imm, (u32)insn.operand);
		f->next = insn.next;
	}
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

/* What wants to know whether it is zero; only the first of them is part of it. */
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

/* A comparison of the low bits is the whole one when the constant is what they are extended to. */
static bool fits(const struct fused *f, u32 bytes)
{
	u32 bits = 8 * bytes;

	if (bytes == 8)
		return jit_fits32(f->imm);
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

/*
 * jit_fuse_compare - a ref and the comparison behind it
 *
 * Return: false when there is none; then nothing has been done.
 */
bool jit_fuse_compare(struct ax_jit *j, const struct jit_load *l)
{
	struct fused f = { .next = j->next }, test;
	u32 slow;

	if (!j->live.on || !jit_may_be_fast(j, l, l->bytes))
		return false;
	skip_extension(j, &f, l->bytes);
	test = f;
	if (!parse_compare(j, &f)) {
		f = test;
		if (!parse_test(j, &f))
			return false;
	}
	if (!fits(&f, l->bytes))
		return false;
	slow = jit_slow_add(j, (struct jit_slow){ .base = l->base, .disp = l->disp });
	jit_align_load(j, l, l->bytes, slow);
	x86_cmp_mem_imm(&j->b, x86_at(l->base, (s32)l->disp), (s32)f.imm, l->bytes);
	j->next = f.next;
	jit_set(j, jit_arg(j, 0), jit_flags(condition(&f, l->bytes)));
	return true;
}
