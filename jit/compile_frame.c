// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tracepoint's actions as one snippet: all blocks of a trace frame, in their places.
 *
 * The caller has made room for all of it, once; JIT_RECORD points there, and every block's place is
 * known now because nothing jumps. How far things have come is written down only where something
 * may fail: in the slow code. Of a block's memory the first piece is checked as a load is (see
 * compile_mem.c), for the block as a whole; what fails the check or faults, in any piece, is copied
 * carefully from its beginning.
 *
 *	mov qword [record + n], type and length; mov [record + n + 8], address
 *	cmp base, limit; jge slow; mov d, [base]; mov [record + n + 16], d
 *	nop slow; mov d, [base + 8]; mov [record + n + 24], d
 * back:
 *	...
 * slow: mov dword [env.progress], p
 *	mov d, address; push length; push place; push what it is about; call the common stub
 *	pop d; lea rsp, [rsp + 16]; jmp back
 */
#include "jit/compile.h"
#include "trace/frame.h"

enum {
	RECORD_BYTES_MAX = 1 << 16, /* more than this is not worth to be written in one go */
	UNROLL_MAX = 32,           /* bytes that are copied by loads of their own */
};

static struct x86_mem record_at(u32 offset)
{
	return x86_at(JIT_RECORD, (s32)offset);
}

/* This cannot be done as a whole; what is emitted from here on does not matter. */
static void give_up(struct ax_jit *j)
{
	j->unsuitable = true;
}

/* What an error that comes now finds: the action that is being done, and what it has left. */
static void note_progress(struct ax_jit *j)
{
	j->progress = j->item << AX_PROGRESS_ACTION | j->record_used;
}

/* jit_record_progress - in front of what may fail: what is recorded as @progress says is good */
void jit_record_progress(struct ax_jit *j, u32 progress)
{
	struct x86_mem to = x86_at(JIT_ENV, (s32)offsetof(struct ax_env, progress));

	if (j->req.nitems)
		x86_store_imm(&j->b, to, (s32)progress, 4);
}

/* Room for a block; returns where its body begins. */
static u32 begin_block(struct ax_jit *j, enum gtp_block_type type, u32 num, u32 len, u32 room)
{
	u32 at = j->record_used;

	if (room > RECORD_BYTES_MAX || at + 8 + room > RECORD_BYTES_MAX) {
		give_up(j);
		return 0;
	}
	if (num) {
		x86_store_imm(&j->b, record_at(at), (s32)(len | type << 16), 4);
		x86_store_imm(&j->b, record_at(at + 4), (s32)num, 4);
	} else {
		x86_store_imm(&j->b, record_at(at), (s32)(len | type << 16), 8);
	}
	j->record_used = at + 8 + room;
	return at + 8;
}

static void store_address(struct ax_jit *j, u32 at, const struct jit_load *l, enum x86_reg scratch)
{
	enum x86_reg from = scratch;

	if (l->base != X86_NO_REG && !l->disp)
		from = l->base;
	else
		jit_address(j, scratch, l);
	x86_store(&j->b, record_at(at), from, 8);
}

/* The careful copy of a whole block; its address goes to @s->dst, as the stub wants it. */
static void careful_copy(struct ax_jit *j, const struct jit_slow *s)
{
	struct jit_load l = { .base = s->base, .disp = s->disp };

	jit_record_progress(j, s->progress);
	jit_address(j, s->dst, &l);
	x86_push_imm(&j->b, (s32)s->len);
	x86_push_imm(&j->b, (s32)s->where);
	x86_push_imm(&j->b, (s32)(jit_desc(j, s->pc, s->op, s->dst, false) | 1 << JIT_DESC_BLOCK));
	jit_call(j, AX_JIT_SLOW);
	x86_pop(&j->b, s->dst);
	x86_lea(&j->b, X86_64, X86_RSP, x86_at(X86_RSP, 16));
	if (s->keep)
		x86_load(&j->b, s->dst, record_at(s->where), s->len, false);
}

void jit_slow_block(struct ax_jit *j, const struct jit_slow *s)
{
	careful_copy(j, s);
	jit_jump_back(j, s->back);
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
		/* The check of the first piece is for all: the others only keep the way back. */
		jit_align_load(j, at ? NULL : l, len, slow);
		x86_load(&j->b, l->dst, from, n, false);
		x86_store(&j->b, record_at(to + at), l->dst, n);
	}
}

/* @keep: what has been copied is one piece, and stays in the register too */
static void copy_memory(struct ax_jit *j, struct jit_load *l, u32 to, u32 len, bool keep)
{
	struct jit_slow s = {
		.block = true, .dst = l->dst, .base = l->base, .disp = l->disp,
		.len = len, .where = to, .keep = keep,
		.progress = j->progress,
	};
	u32 slow;

	if (len > UNROLL_MAX || !jit_may_be_fast(j, l, len)) {
		s.pc = j->insn.pc;
		s.op = j->insn.op;
		careful_copy(j, &s);
		return;
	}
	slow = jit_slow_add(j, s);
	copy_pieces(j, l, to, len, slow);
	j->slow[slow].back = j->b.len;
}

/*
 * GDB collects what it reads in front of each reading of it: it is read once. Then the instruction
 * behind this one is done as well.
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

/*
 * jit_record_mem - a MEM block of what @addr points to; if that is what the instruction behind wants
 * to read, @addr becomes it
 */
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
	at = begin_block(j, GTP_BLOCK_MEM, 0, (u32)len, 8 + gtp_round8((u32)len));
	l.dst = jit_alloc(j);
	store_address(j, at, &l, l.dst);
	copy_memory(j, &l, at + 8, (u32)len, keep);
	note_progress(j); /* what follows may fail; then the block stays */
	if (!keep) {
		jit_unref_reg(j, l.dst);
		return;
	}
	jit_set(j, addr, jit_in_reg(l.dst));
	jit_know(addr, 8 * (u32)len, 64);
	skip_insn(j);
}

/* jit_record_var - a VAR block with what is in rax */
void jit_record_var(struct ax_jit *j, u32 tsv)
{
	u32 at = begin_block(j, GTP_BLOCK_VAR, tsv, 8, 8);

	x86_store(&j->b, record_at(at), X86_RAX, 8);
	note_progress(j); /* what follows may fail; then the block stays */
}

static void put_reg(struct ax_jit *j, u32 at, u32 n)
{
	struct jit_val v = jit_hit_val(j, n);

	jit_force(j, &v); /* and expressions find it there */
	x86_store(&j->b, record_at(at), v.loc, 8);
	jit_unref_reg(j, v.loc);
}

static void record_regs(struct ax_jit *j, u64 mask)
{
	u32 bytes = 8, at, n;

	for (n = 0; n < GTP_NR_SAVED_REGS; n++)
		bytes += mask >> n & 1 ? 8 : 0;
	if (bytes == 8)
		return;
	at = begin_block(j, GTP_BLOCK_REGS, 0, bytes, bytes);
	x86_store_imm(&j->b, record_at(at), (s32)(mask & GTP_REGS_KNOWN), 8);
	for (n = 0; n < GTP_NR_SAVED_REGS; n++) {
		if (!(mask >> n & 1))
			continue;
		at += 8;
		put_reg(j, at, n);
	}
}

static void record_mem_item(struct ax_jit *j, const struct ax_jit_item *item)
{
	struct jit_val addr = jit_const(item->offset);

	if (item->base >= 0 && item->base != GTP_REG_RIP) {
		addr = jit_hit_val(j, (u32)item->base);
		if (addr.bits < 64 || !jit_fits32((s64)item->offset))
			give_up(j); /* nothing that GDB asks for */
		addr.imm = (s32)item->offset;
		jit_know(&addr, 64, 64);
	} else if (item->base == GTP_REG_RIP) {
		addr = jit_const(j->req.pc + item->offset);
	}
	jit_push(j, addr);
	j->held = 1;
	jit_record_mem(j, jit_arg(j, 0), item->len);
	jit_pop(j);
}

/* Is it straight ahead, without what needs a lock around it? */
static bool is_simple(const struct ax_verified *v)
{
	u32 pc;

	if (v->flags & AX_F_SETS_TSV)
		return false;
	for (pc = 0; pc < v->len; pc++)
		if (v->points[pc].flags & AX_P_TARGET)
			return false;
	return true;
}

static void record_item(struct ax_jit *j, const struct ax_jit_item *item)
{
	j->insn = (struct ax_insn){ 0 }; /* errors outside of an expression have pc and opcode 0 */
	note_progress(j);
	switch (item->kind) {
	case AX_JIT_REGS:
		record_regs(j, item->mask);
		break;
	case AX_JIT_MEM:
		record_mem_item(j, item);
		break;
	case AX_JIT_EXPR:
		if (is_simple(item->v))
			jit_expr(j, item->v);
		else
			give_up(j);
		break;
	case AX_JIT_ELSEWHERE:
		break;
	}
}

static void load_record(struct ax_jit *j)
{
	struct x86_mem from = x86_at(JIT_ENV, (s32)offsetof(struct ax_env, frame));

	x86_load(&j->b, JIT_RECORD, from, 8, false);
}

/* jit_record_after_call - the stubs for calls keep only the two pointers that every snippet has */
void jit_record_after_call(struct ax_jit *j)
{
	if (j->req.nitems)
		load_record(j);
}

/* jit_record_size - of all that has been collected, with the trace frame's head */
u32 jit_record_size(const struct ax_jit *j)
{
	return (u32)sizeof(struct gtp_frame) + j->record_used;
}

/* jit_actions - all actions, one after the other */
void jit_actions(struct ax_jit *j)
{
	j->record_used = 0;
	load_record(j);
	for (u32 i = 0; i < j->req.nitems && !j->unsuitable; i++) {
		j->item = i + 1;
		record_item(j, &j->req.items[i]);
	}
}
