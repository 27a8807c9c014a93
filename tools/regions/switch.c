// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find and prove the targets of a program's jumps through registers.
 *
 * A function is executed symbolically, with the known values of its registers (value.c), along all
 * paths that decoding and all other evidence show, until no state changes any more. Then a jump is
 * proven to be one of these:
 *
 *  - A jump to an entry of a table. The address of the table is known, the index has a bound, and
 *    the program cannot write the table. Each entry leads to an instruction of the function or of
 *    its .cold part, or to the start of another function.
 *  - A tail call. The target is a value that comes unchanged from memory or from the caller, only
 *    the return address is on the stack, and no address inside the function is stored anywhere.
 *
 * The paths from a table's targets are walked, too. An unproven jump may lead anywhere in the
 * function, so it invalidates all other proofs: the whole function is refused.
 */
#include <stdlib.h>
#include "tools/regions/cfa.h"
#include "tools/regions/eh_frame.h"
#include "tools/regions/switch.h"
#include "tools/regions/value.h"

/* Limits: more entries than compilers emit, and more visits of blocks than a function needs. */
enum { ENTRIES_MAX = 1 << 14, VISITS_MAX = 4000 };

struct block {
	struct rgn_state state;
	u32 visits;
	bool queued;
};

/**
 * struct walk - the symbolic execution of one function
 * @fde: the function's FDE, or NULL
 * @blocks: for each byte of the function the block that starts at that byte, or NULL
 * @queue: the offsets of blocks whose state has changed, @queue_n of them
 * @final: true if no state changes any more, so that jumps are checked
 * @why: the first reason why the function has no proof
 * @seen: the number of jumps that were checked
 * @grown: true if a target was found that was not a leader before
 */
struct walk {
	struct rgn_text *text;
	struct rgn_span *span;
	struct rgn_function *f;
	const struct rgn_fde *fde;
	u32 start;
	u32 end;
	struct block **blocks;
	u32 *queue;
	u32 queue_n;
	bool final;
	enum rgn_unproven why;
	u32 seen;
	bool grown;
};

static void refuse(struct walk *w, enum rgn_unproven why)
{
	if (w->final && !w->why)
		w->why = why;
}

/* Record that control arrives at offset @at with state @s. */
static void arrive(struct walk *w, u32 at, const struct rgn_state *s)
{
	struct block *b;
	bool changed = true;

	if (w->final || at < w->start || at >= w->end)
		return;
	b = w->blocks[at - w->start];
	if (!b) {
		b = rgn_alloc(1, sizeof(*b));
		b->state = *s;
		w->blocks[at - w->start] = b;
	} else {
		changed = rgn_state_join(&b->state, s, w->span->addr + at);
	}
	if (!changed || b->queued)
		return;
	b->queued = true;
	w->queue[w->queue_n++] = at;
}

static bool read_only(const struct rgn_image *image, u64 addr, u64 n)
{
	const struct rgn_section *s = rgn_image_section_at(image, addr);

	if (!s || n > s->size - (addr - s->addr) || s->flags & SHF_EXECINSTR)
		return false;
	return !(s->flags & SHF_WRITE) && !rgn_image_writable(image, addr, n);
}

/*
 * True if the code of @g jumps into the middle of the walked function; then @g is a part of that
 * function.
 */
static bool part_of(const struct walk *w, const struct rgn_span *span, const struct rgn_function *g)
{
	u32 at = rgn_function_start(span, g), end = rgn_function_end(span, g);
	struct rgn_decoded insn;

	for (; at < end && span->len[at]; at += span->len[at]) {
		rgn_decode(&insn, span->bytes + at, end - at, span->addr + at);
		if ((insn.kind == RGN_DECODED_JMP || insn.kind == RGN_DECODED_JCC) &&
		    insn.target > w->f->addr && insn.target < w->f->addr + w->f->size)
			return true;
	}
	return false;
}

/* Handle an entry of a jump table: control may go to @target. */
static bool take_entry(struct walk *w, u64 target, const struct rgn_state *s)
{
	struct rgn_span *span = rgn_text_span(w->text, target);
	const struct rgn_function *g;
	u32 at;

	if (!span)
		return false;
	at = (u32)(target - span->addr);
	g = rgn_text_function(span, target);
	if (g == w->f) {
		w->grown |= !(span->leader[at] & RGN_LEADER_TABLE);
		span->leader[at] |= RGN_LEADER_TABLE;
		arrive(w, at, s);
		return span->len[at];
	}
	w->grown |= !(span->leader[at] & RGN_LEADER_OTHER);
	span->leader[at] |= RGN_LEADER_OTHER;
	return span->len[at] && g->flags & RGN_FN_BOUND &&
	       (g->addr == target || part_of(w, span, g));
}

/* Handle all entries of a jump table; return false if the table cannot be trusted. */
static bool take_table(struct walk *w, const struct rgn_value *v, u32 size,
		       const struct rgn_state *s)
{
	const struct rgn_image *image = w->text->image;
	bool good = true;
	u64 i;

	if (v->last >= ENTRIES_MAX) {
		refuse(w, RGN_UNPROVEN_INDEX);
		return false;
	}
	if (!read_only(image, v->at, (v->last + 1) * size)) {
		refuse(w, RGN_UNPROVEN_WRITABLE);
		good = false;
	}
	for (i = 0; i <= v->last; i++) {
		const u8 *p = rgn_image_at(image, v->at + i * size, size);
		u64 target;

		if (!p)
			return false;
		target = size == 8 ? rgn_image_pointer(image, v->at + i * 8) :
				     v->base + (u64)(s64)(s32)gtp_get_le(p, 4);
		if (!take_entry(w, target, s)) {
			refuse(w, RGN_UNPROVEN_ENTRY);
			good = false;
		}
	}
	return good;
}

/*
 * True if an address inside the function is stored outside jump tables, so that a value from memory
 * or from the caller may be this address.
 */
static bool has_labels(const struct walk *w)
{
	u32 at;

	for (at = w->start + 1; at < w->end; at++) {
		u16 leader = w->span->leader[at];

		if (leader & (RGN_LEADER_RELOC | RGN_LEADER_REF | RGN_LEADER_CONST) &&
		    !(leader & RGN_LEADER_TABLE))
			return true;
	}
	return false;
}

/*
 * Let control arrive at all stored addresses inside the function, even at entries of proven jump
 * tables, because a value from memory may be any of these addresses.
 */
static void arrive_at_labels(struct walk *w)
{
	struct rgn_state s;
	u32 at;

	for (at = w->start + 1; at < w->end; at++) {
		if (!(w->span->leader[at] & (RGN_LEADER_RELOC | RGN_LEADER_CONST)))
			continue;
		rgn_state_unknown(&s, w->span->addr + at);
		arrive(w, at, &s);
	}
}

static void take_tail_call(struct walk *w, u64 addr)
{
	if (!w->final) {
		arrive_at_labels(w);
		return;
	}
	if (!w->fde || !rgn_cfa_is_entry(w->fde, addr))
		refuse(w, RGN_UNPROVEN_FRAME);
	else if (has_labels(w))
		refuse(w, RGN_UNPROVEN_LABELS);
}

static void take_jump(struct walk *w, const struct rgn_insn *insn, const struct rgn_state *s)
{
	const ZydisDecodedOperand *op = &insn->ops[0];
	struct rgn_value v = { 0 };
	u32 r;

	w->seen++;
	if (insn->z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
		refuse(w, RGN_UNPROVEN_VALUE);
		return;
	}
	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		v.kind = rgn_state_table(s, insn, op, 8, &v) ? RGN_VALUE_SLOT : RGN_VALUE_OUTSIDE;
		if (v.kind == RGN_VALUE_OUTSIDE && op->mem.index != ZYDIS_REGISTER_NONE &&
		    (!w->fde || !rgn_cfa_is_entry(w->fde, insn->addr)))
			refuse(w, RGN_UNPROVEN_INDEX);
	} else {
		r = rgn_reg(op->reg.value);
		if (r < RGN_REGS)
			v = s->reg[r];
	}
	switch (v.kind) {
	case RGN_VALUE_TARGET:
		take_table(w, &v, 4, s);
		break;
	case RGN_VALUE_SLOT:
		take_table(w, &v, 8, s);
		break;
	case RGN_VALUE_CONST:
		if (!take_entry(w, v.at, s))
			refuse(w, RGN_UNPROVEN_ENTRY);
		break;
	case RGN_VALUE_OUTSIDE:
		take_tail_call(w, insn->addr);
		break;
	default:
		refuse(w, RGN_UNPROVEN_VALUE);
		break;
	}
}

/*
 * True if a call leads to code that preserves registers as the ABI requires. Compilers emit such
 * code, with an FDE; assembly without an FDE may do anything. Calls through registers, memory and
 * stubs of the linker lead to functions that any code may call, so these follow the ABI.
 */
static bool keeps_registers(const struct walk *w, const struct rgn_insn *insn)
{
	const struct rgn_span *span;
	u64 target = insn->addr + insn->z.length;

	if (insn->ops[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return true;
	target += (u64)insn->ops[0].imm.value.s;
	span = rgn_text_span(w->text, target);
	return span && (span->kind == RGN_SPAN_PLT || rgn_eh_frame_find(w->text, target));
}

static void step(const struct walk *w, const struct rgn_insn *insn, struct rgn_state *s)
{
	if (insn->z.meta.category == ZYDIS_CATEGORY_CALL)
		rgn_state_call(s, insn->addr, keeps_registers(w, insn));
	else
		rgn_state_step(s, insn);
}

/*
 * Execute from an offset up to the next block, or up to an instruction after which control does not
 * continue.
 */
static void run_block(struct walk *w, u32 at)
{
	struct rgn_state s = w->blocks[at - w->start]->state;
	struct rgn_insn insn;

	for (;;) {
		u32 next;

		insn.addr = w->span->addr + at;
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(rgn_decoder(), w->span->bytes + at,
							 w->end - at, &insn.z, insn.ops)))
			return;
		next = at + insn.z.length;
		switch (w->span->insn[at] & RGN_DECODED_KIND) {
		case RGN_DECODED_JCC: {
			struct rgn_state taken = s;

			rgn_state_branch(&taken, &insn, true);
			rgn_state_branch(&s, &insn, false);
			arrive(w, next + (u32)insn.z.raw.imm[0].value.s, &taken);
			break;
		}
		case RGN_DECODED_JMP:
			arrive(w, next + (u32)insn.z.raw.imm[0].value.s, &s);
			return;
		case RGN_DECODED_IJMP:
			take_jump(w, &insn, &s);
			return;
		case RGN_DECODED_RET:
		case RGN_DECODED_UD:
		case RGN_DECODED_INT3:
		case RGN_DECODED_BAD:
			return;
		default:
			step(w, &insn, &s);
			break;
		}
		at = next;
		if (at >= w->end)
			return;
		if (w->blocks[at - w->start] || w->span->leader[at]) {
			arrive(w, at, &s);
			return;
		}
	}
}

/*
 * Start the walk at every address where control may arrive from other code, from an exception, or
 * by a stored address. The value of no register is known there.
 */
static void start_walk(struct walk *w)
{
	u16 inside = RGN_LEADER_JUMP | RGN_LEADER_TABLE;
	u16 stored = RGN_LEADER_RELOC | RGN_LEADER_CONST;
	u16 at_start = stored | RGN_LEADER_ENTRY | RGN_LEADER_OTHER | RGN_LEADER_CALL |
		       RGN_LEADER_REF;
	struct rgn_state s;
	u32 at;

	rgn_state_entry(&s);
	arrive(w, w->start, &s);
	for (at = w->start; at < w->end; at++) {
		u16 leader = w->span->leader[at];

		/*
		 * The entries of a jump table are stored addresses, too, but control reaches them
		 * from the jump that uses the table, and the state at that jump is known.
		 */
		if (leader & RGN_LEADER_TABLE)
			leader &= (u16)~stored;
		if (at == w->start)
			leader &= (u16)~at_start;
		if (!(leader & ~inside) || !w->span->len[at])
			continue;
		rgn_state_unknown(&s, w->span->addr + at);
		arrive(w, at, &s);
	}
}

static u32 jumps_of(const struct walk *w)
{
	u32 at, n = 0;

	for (at = w->start; at < w->end; at++)
		n += w->span->len[at] && (w->span->insn[at] & RGN_DECODED_KIND) == RGN_DECODED_IJMP;
	return n;
}

static void settle(struct walk *w)
{
	while (w->queue_n) {
		u32 at = w->queue[--w->queue_n];
		struct block *b = w->blocks[at - w->start];

		b->queued = false;
		if (b->visits++ == VISITS_MAX) {
			w->why = RGN_UNPROVEN_LONG;
			return;
		}
		run_block(w, at);
	}
}

/* Execute one function; return true if a new target of jumps was found. */
static bool walk_function(struct rgn_text *text, struct rgn_span *span, struct rgn_function *f,
			  const struct rgn_fde *fde)
{
	struct walk w = { .text = text, .span = span, .f = f, .fde = fde };
	u32 i;

	w.start = rgn_function_start(span, f);
	w.end = w.start + f->body;
	w.blocks = rgn_alloc(f->body, sizeof(struct block *));
	w.queue = rgn_alloc(f->body, sizeof(u32));
	start_walk(&w);
	settle(&w);
	w.final = true;
	w.seen = 0;
	for (i = 0; i < f->body; i++) {
		if (w.blocks[i])
			run_block(&w, w.start + i);
	}
	if (w.seen < jumps_of(&w))
		refuse(&w, RGN_UNPROVEN_UNREACHED);
	f->unproven = (u8)w.why;
	f->flags &= (u16)~RGN_FN_PROVEN;
	if (!w.why)
		f->flags |= RGN_FN_PROVEN;
	for (i = 0; i < f->body; i++)
		free(w.blocks[i]);
	free(w.blocks);
	free(w.queue);
	return w.grown;
}

/* Execute all functions that jump through registers; return true if a new target was found. */
static bool round_over(struct rgn_text *text)
{
	bool grown = false;
	u32 i, j;

	for (i = 0; i < text->spans_n; i++) {
		struct rgn_span *span = &text->spans[i];

		for (j = 0; span->kind == RGN_SPAN_TEXT && j < span->functions_n; j++) {
			struct rgn_function *f = &span->functions[j];

			if (!(f->flags & RGN_FN_IJMP) || !rgn_function_trusted(f))
				continue;
			grown |= walk_function(text, span, f, rgn_eh_frame_find(text, f->addr));
		}
	}
	return grown;
}

void rgn_switch_find(struct rgn_text *text)
{
	/*
	 * A jump table may lead into another function, and an earlier proof for that function did
	 * not consider this. So repeat everything until no new target is found.
	 */
	while (round_over(text))
		;
}
