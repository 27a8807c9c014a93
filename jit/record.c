// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the blocks of a trace frame straight to their places, in snippets of actions.
 *
 * The caller has reserved room for the whole frame, to which JIT_RECORD points. Such actions have
 * no jumps, so the place of every block is known at compile time. Only slow code can fail, so only
 * slow code stores the progress in struct ax_env. The address of a block of memory is checked once,
 * before the first piece, as for a load (see jit/address.c). If the check fails, or a piece faults,
 * the slow code copies the whole block carefully (see jit/slow.c).
 *
 *	mov qword [record + n], type and length; mov [record + n + 8], address
 *	cmp base, limit; jge slow; mov d, [base]; mov [record + n + 16], d
 *	nop slow; mov d, [base + 8]; mov [record + n + 24], d
 * back:
 */
#include "jit/address.h"
#include "jit/flow.h"
#include "jit/record.h"
#include "jit/slow.h"
#include "jit/values.h"
#include "tracepoint/tracepoint.h"

enum {
	/*
	 * The most bytes that one snippet records. If actions collect more, there is no snippet,
	 * and C runs them one by one.
	 */
	RECORD_BYTES_MAX = 1 << 16,
	UNROLL_MAX = 32, /* most bytes that are copied by unrolled loads */
};

/* Mark the actions as unsuitable for one snippet. The code that is emitted will not be used. */
static void give_up(struct ax_jit *j)
{
	j->unsuitable = true;
}

void jit_record_note(struct ax_jit *j)
{
	static_assert(GTP_ACTIONS_MAX < 1U << (32 - AX_PROGRESS_ACTION), "an action's number fits");
	static_assert(RECORD_BYTES_MAX < 1U << AX_PROGRESS_ACTION, "and so do its bytes");
	j->progress = j->item << AX_PROGRESS_ACTION | j->record_used;
}

u32 jit_record_block(struct ax_jit *j, enum gtp_block_type type, u32 num, u32 len, u32 room)
{
	u32 at = j->record_used;

	if (room > RECORD_BYTES_MAX || at + 8 + room > RECORD_BYTES_MAX) {
		give_up(j);
		return 0;
	}
	if (num) {
		x86_store_imm(&j->b, jit_record_at(at), (s32)(len | type << 16), 4);
		x86_store_imm(&j->b, jit_record_at(at + 4), (s32)num, 4);
	} else {
		x86_store_imm(&j->b, jit_record_at(at), (s32)(len | type << 16), 8);
	}
	j->record_used = at + 8 + room;
	return at + 8;
}

void jit_record_address(struct ax_jit *j, u32 at, const struct jit_load *l, enum x86_reg scratch)
{
	enum x86_reg from = scratch;

	if (l->base != X86_NO_REG && !l->disp)
		from = l->base;
	else
		jit_address(j, scratch, l);
	x86_store(&j->b, jit_record_at(at), from, 8);
}

static u32 piece(u32 left)
{
	return left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

static void copy_pieces(struct ax_jit *j, struct jit_load *l, u32 to, u32 len, u32 slow)
{
	u32 at, n;

	for (at = 0; at < len; at += n) {
		struct x86_mem from = x86_at(l->base, (s32)(l->disp + at));

		n = piece(len - at);
		/* One check, before the first piece, covers all pieces. */
		jit_align_load(j, at ? NULL : l, len, slow);
		x86_load(&j->b, l->dst, from, n, false);
		x86_store(&j->b, jit_record_at(to + at), l->dst, n);
	}
}

/*
 * Copy a block of memory. If @keep, the block is copied by one load, and its value stays in the
 * register.
 */
static void copy_memory(struct ax_jit *j, struct jit_load *l, u32 to, u32 len, bool keep)
{
	struct jit_slow s = {
		.block = true,
		.dst = l->dst,
		.base = l->base,
		.disp = l->disp,
		.len = len,
		.where = to,
		.keep = keep,
		.progress = j->progress,
	};
	u32 slow;

	if (len > UNROLL_MAX || !jit_may_be_fast(j, l, len)) {
		if (j->pad.on)
			give_up(j); /* C handles the hit */
		s.pc = j->insn.pc;
		s.op = j->insn.op;
		jit_slow_copy(j, &s);
		return;
	}
	slow = jit_slow_add(j, s);
	copy_pieces(j, l, to, len, slow);
	j->slow[slow].back = j->b.len;
}

/*
 * True if the next instruction reads the memory of the block: GDB collects memory right before an
 * expression reads it. Then one load does both, and the next instruction is compiled as well.
 */
static bool is_read_next(struct ax_jit *j, u64 len)
{
	struct ax_insn next;

	return (j->insn.op == AX_OP_trace_quick || j->insn.op == AX_OP_trace16) &&
	       jit_peek(j, &next) && next.op >= AX_OP_ref8 && next.op <= AX_OP_ref64 &&
	       len == 1U << (next.op - AX_OP_ref8);
}

static void skip_insn(struct ax_jit *j)
{
	struct ax_insn next;

	if (jit_peek(j, &next))
		j->next = next.next;
}

void jit_record_mem(struct ax_jit *j, struct jit_val *addr, u64 len)
{
	struct jit_load l = { .bytes = 8 };
	bool keep = is_read_next(j, len);
	u32 at;

	if (!len)
		return;
	if (len > GTP_BLOCK_MEM_MAX) {
		give_up(j);
		return;
	}
	jit_take_address(j, addr, &l, (u32)len);
	at = jit_record_block(j, GTP_BLOCK_MEM, 0, (u32)len, 8 + gtp_round8((u32)len));
	l.dst = jit_alloc(j);
	jit_record_address(j, at, &l, l.dst);
	copy_memory(j, &l, at + 8, (u32)len, keep);
	jit_record_note(j); /* keep the block if later code fails */
	if (!keep) {
		jit_unref_reg(j, l.dst);
		return;
	}
	jit_set(j, addr, jit_in_reg(l.dst));
	jit_know(addr, 8 * (u32)len, 64);
	skip_insn(j);
}

void jit_record_var(struct ax_jit *j, u32 tsv, enum x86_reg value)
{
	u32 at = jit_record_block(j, GTP_BLOCK_VAR, tsv, 8, 8);

	x86_store(&j->b, jit_record_at(at), value, 8);
	jit_record_note(j); /* keep the block if later code fails */
}

/*
 * Record a register of the hit in a pad, where most registers still hold the hit's values. The
 * flags are the first word that the pad pushed.
 */
static void put_live_reg(struct ax_jit *j, u32 at, u32 n)
{
	struct x86_mem to = x86_at(JIT_RECORD, (s32)at);
	enum x86_reg scratch;
	struct jit_val v;

	if (n == GTP_REG_CS || n == GTP_REG_SS) {
		x86_store_imm(&j->b, to, (s32)(n == GTP_REG_CS ? j->pad.cs : j->pad.ss), 8);
		return;
	}
	scratch = jit_alloc(j);
	if (n == GTP_REG_FLAGS) {
		x86_load(&j->b, scratch, x86_at(X86_RSP, 8 * (s32)(j->pad.words - 1)), 4, false);
		x86_store(&j->b, to, scratch, 8);
		jit_unref_reg(j, scratch);
		return;
	}
	v = jit_hit_val(j, n);
	if (v.where == JIT_CONST && x86_fits32(v.imm)) {
		x86_store_imm(&j->b, to, (s32)v.imm, 8);
	} else if (v.where == JIT_REG && !v.imm) {
		x86_store(&j->b, to, v.loc, 8);
	} else {
		jit_move(j, scratch, &v);
		x86_store(&j->b, to, scratch, 8);
	}
	if (v.where == JIT_REG)
		jit_unref_reg(j, v.loc);
	jit_unref_reg(j, scratch);
}

static void put_reg(struct ax_jit *j, u32 at, u32 n)
{
	struct jit_val v;

	if (j->pad.on) {
		put_live_reg(j, at, n);
		return;
	}
	v = jit_hit_val(j, n);
	jit_force(j, &v); /* so that expressions find the register loaded */
	x86_store(&j->b, jit_record_at(at), v.loc, 8);
	jit_unref_reg(j, v.loc);
}

void jit_record_regs(struct ax_jit *j, u64 mask)
{
	u32 bytes = 8, at, n;

	for (n = 0; n < GTP_NR_SAVED_REGS; n++)
		bytes += mask >> n & 1 ? 8 : 0;
	if (bytes == 8)
		return;
	at = jit_record_block(j, GTP_BLOCK_REGS, 0, bytes, bytes);
	x86_store_imm(&j->b, jit_record_at(at), (s32)(mask & GTP_REGS_KNOWN), 8);
	for (n = 0; n < GTP_NR_SAVED_REGS; n++) {
		if (!(mask >> n & 1))
			continue;
		at += 8;
		put_reg(j, at, n);
	}
}

/* Load JIT_RECORD, unless the code records nothing (it only updates aggregations). */
static void load_record(struct ax_jit *j)
{
	struct x86_mem from = x86_at(JIT_ENV, (s32)offsetof(struct ax_env, frame));

	if (j->pass == JIT_ESTIMATE || j->records)
		x86_load(&j->b, JIT_RECORD, from, 8, false);
}

void jit_record_begin(struct ax_jit *j)
{
	/* A pad has loaded JIT_RECORD and written the frame's head before. */
	j->record_used = j->pad.on ? (u32)sizeof(struct gtp_frame) : 0;
	if (!j->pad.on)
		load_record(j);
}

void jit_record_after_call(struct ax_jit *j)
{
	if (j->req.nitems)
		load_record(j);
}

u32 jit_record_size(const struct ax_jit *j)
{
	return (u32)sizeof(struct gtp_frame) + j->record_used;
}
