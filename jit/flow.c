// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emits the jumps and returns of the compiled code, and looks ahead at the next instruction.
 *
 * All jumps of an expression go forward. The first pass emits long jumps, so it may overestimate a
 * distance, but never underestimates it. So a jump that is short enough in the first pass is short
 * enough in the end.
 */
#include "jit/flow.h"

void jit_mark(struct ax_jit *j, struct jit_place *place)
{
	if (j->pass == JIT_ESTIMATE)
		place->est = j->b.len;
	else
		place->pos = j->b.len;
}

/*
 * True if the offset @est is certain to be in reach of a short jump from the instruction being
 * compiled.
 */
static bool is_near(const struct ax_jit *j, u32 est)
{
	/* With actions there are several expressions, whose estimates overwrite each other. */
	if (j->req.nitems)
		return false;
	return j->pass != JIT_ESTIMATE && est - j->label[j->insn.pc].at.est <= 127;
}

void jit_jcc(struct ax_jit *j, enum x86_cc cc, const struct jit_place *to)
{
	if (is_near(j, to->est))
		x86_jcc_short(&j->b, cc, j->pass == JIT_WRITE ? to->pos : j->b.len + 2);
	else
		x86_jcc(&j->b, cc, to->pos);
}

void jit_jmp(struct ax_jit *j, const struct jit_place *to)
{
	if (is_near(j, to->est))
		x86_jmp_short(&j->b, j->pass == JIT_WRITE ? to->pos : j->b.len + 2);
	else
		x86_jmp(&j->b, to->pos);
}

void jit_jmp_back(struct ax_jit *j, u32 to)
{
	if (j->b.len + 2 - to <= 128)
		x86_jmp_short(&j->b, to);
	else
		x86_jmp(&j->b, to);
}

bool jit_peek_at(const struct ax_jit *j, u32 pc, struct ax_insn *insn)
{
	return pc < j->v->len && !j->label[pc].used &&
	       ax_decode(j->v->code, j->v->len, pc, insn) == AX_OK;
}

bool jit_peek(const struct ax_jit *j, struct ax_insn *insn)
{
	return jit_peek_at(j, j->next, insn);
}

bool jit_is_dropped(const struct ax_jit *j)
{
	struct ax_insn next;

	if (!jit_peek(j, &next))
		return false;
	/* Nothing reads the value of an action. */
	return next.op == AX_OP_pop || (next.op == AX_OP_end && j->req.nitems);
}

bool jit_low_is_enough(const struct ax_jit *j)
{
	struct ax_insn next;

	return jit_peek(j, &next) && (next.op == AX_OP_ext || next.op == AX_OP_zero_ext) &&
	       next.operand <= 32;
}

void jit_return(const struct ax_jit_target *w, struct x86_buf *b, u64 base)
{
	if (w->return_thunk)
		x86_jmp_far(b, base, w->return_thunk);
	else
		x86_ret(b);
	x86_int3s(b, 1); /* the processor may speculate past a jump or a ret */
}
