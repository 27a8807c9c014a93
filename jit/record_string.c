// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records a string in a frame that a pad writes: word by word, until a word has a NUL.
 *
 *	mov qword [record + n], type; mov [record + n + 8], address
 *	mov ones, 0x0101010101010101
 *	cmp base, limit; jge give up; mov v, [base]; mov [record + n + 16], v
 *	mov t, v; sub t, ones; not v; and t, v; mov v, ones; shl v, 7; and t, v
 *	jz next; mov v, 0; jmp end
 * next:
 *	nop give up; mov v, [base + 8]; mov [record + n + 24], v
 *	...
 *	jmp give up
 * end:
 *	bsf t, t; shr t, 3; add v, t; add v, 1
 *	mov word [record + n], v; add v, 7; and v, -8; add record, v
 *
 * The lowest set bit of t is in the first zero byte, because borrows propagate only upwards. After
 * the string, JIT_RECORD is moved by the string's length, so the later blocks have offsets as if
 * the string had no bytes. C handles the hit if the string does not end within these words, or if a
 * word cannot be read as a whole (even if the string ends before the unreadable bytes).
 */
#include "jit/address.h"
#include "jit/flow.h"
#include "jit/record.h"
#include "jit/slow.h"
#include "jit/values.h"

enum { WORDS_MAX = JIT_STRING_MAX / 8 };

/*
 * struct regs - @v: the word; later the number of bytes before it; @t: marks the word's zero bytes
 */
struct regs {
	enum x86_reg v, t, ones;
};

/* Emit a test for a zero byte, and a jump to the end with @before in v and the byte's bit in t. */
static void look_for_end(struct ax_jit *j, const struct regs *r, u32 before)
{
	struct x86_buf *b = &j->b;
	u32 next;

	x86_mov(b, r->t, r->v);
	x86_alu(b, X86_SUB, X86_64, r->t, r->ones);
	x86_unary(b, X86_NOT, X86_64, r->v);
	x86_alu(b, X86_AND, X86_64, r->t, r->v);
	x86_mov(b, r->v, r->ones);
	x86_shift(b, X86_SHL, X86_64, r->v, 7);
	x86_alu(b, X86_AND, X86_64, r->t, r->v);
	next = x86_skip_if(b, X86_CC_E);
	x86_mov_imm(b, r->v, before);
	x86_jmp(b, j->pad.string_end.pos);
	x86_land(b, next);
}

static void end_string(struct ax_jit *j, const struct regs *r, u32 head)
{
	struct x86_buf *b = &j->b;

	jit_mark(j, &j->pad.string_end);
	x86_bsf(b, X86_64, r->t, r->t);
	x86_shift(b, X86_SHR, X86_64, r->t, 3);
	x86_alu(b, X86_ADD, X86_64, r->v, r->t);
	x86_alu_imm(b, X86_ADD, X86_64, r->v, 1);
	x86_store(b, jit_record_at(head), r->v, 2);
	x86_alu_imm(b, X86_ADD, X86_64, r->v, 7);
	x86_alu_imm(b, X86_AND, X86_64, r->v, -8);
	x86_alu(b, X86_ADD, X86_64, JIT_RECORD, r->v);
}

static void copy_words(struct ax_jit *j, const struct jit_load *l, u32 words, u32 to)
{
	struct regs r = { .v = jit_alloc(j), .t = jit_alloc(j), .ones = jit_alloc(j) };
	u32 slow = jit_slow_add(j, (struct jit_slow){ 0 });

	jit_record_address(j, to - 8, l, r.v);
	x86_movabs(&j->b, r.ones, 0x0101010101010101);
	for (u32 i = 0; i < words; i++) {
		jit_align_load(j, i ? NULL : l, 8 * words, slow);
		x86_load(&j->b, r.v, x86_at(l->base, (s32)(l->disp + 8 * i)), 8, false);
		x86_store(&j->b, jit_record_at(to + 8 * i), r.v, 8);
		look_for_end(j, &r, 8 * i);
	}
	x86_jmp(&j->b, j->pad.tail[JIT_PUNT].pos);
	end_string(j, &r, to - 16);
	jit_unref_reg(j, r.ones);
	jit_unref_reg(j, r.t);
	jit_unref_reg(j, r.v);
}

void jit_record_string(struct ax_jit *j, struct jit_val *addr, u64 max)
{
	u32 words = max / 8 < WORDS_MAX ? (u32)(max / 8) : WORDS_MAX;
	struct jit_load l = { .bytes = 8 };
	u32 at;

	/* JIT_RECORD can be moved only for one string. */
	if (!j->pad.on || j->pad.has_string || !words) {
		j->unsuitable = true;
		return;
	}
	j->pad.has_string = true;
	jit_take_address(j, addr, &l, 8 * words);
	if (!jit_may_be_fast(j, &l, 8 * words)) {
		j->unsuitable = true;
		return;
	}
	at = jit_record_block(j, GTP_BLOCK_MEM, 0, 0, 8);
	copy_words(j, &l, words, at + 8);
}
