// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compiles one expression, instruction by instruction, by a table of emitters, and handles joins of
 * paths.
 */
#include "jit/expr.h"
#include "jit/flow.h"
#include "jit/ops_alu.h"
#include "jit/ops_call.h"
#include "jit/ops_div.h"
#include "jit/ops_jump.h"
#include "jit/ops_mem.h"
#include "jit/ops_shift.h"
#include "jit/values.h"

static void op_const(struct ax_jit *j)
{
	jit_push(j, jit_const(j->insn.operand));
}

static void op_reg(struct ax_jit *j)
{
	jit_push(j, jit_hit_val(j, (u32)j->insn.operand));
}

static void op_pick(struct ax_jit *j)
{
	const struct jit_val *v = jit_arg(j, j->insn.op == AX_OP_dup ? 0 : (u32)j->insn.operand);

	jit_ref(j, v);
	jit_push(j, *v);
}

static void op_pop(struct ax_jit *j)
{
	jit_pop(j);
}

static void exchange(struct jit_val *a, struct jit_val *b)
{
	struct jit_val t = *a;

	*a = *b;
	*b = t;
}

static void op_swap(struct ax_jit *j)
{
	exchange(jit_arg(j, 1), jit_arg(j, 0));
}

/* a b c -> c a b */
static void op_rot(struct ax_jit *j)
{
	exchange(jit_arg(j, 1), jit_arg(j, 0));
	exchange(jit_arg(j, 2), jit_arg(j, 1));
}

/*
 * struct emitter - @flags: @emit accepts a comparison on top of the stack that is only in the flags
 */
struct emitter {
	void (*emit)(struct ax_jit *j);
	bool flags;
};

static const struct emitter emitter[256] = {
	[AX_OP_add] = { jit_op_arithmetic },
	[AX_OP_sub] = { jit_op_arithmetic },
	[AX_OP_mul] = { jit_op_arithmetic },
	[AX_OP_bit_and] = { jit_op_arithmetic },
	[AX_OP_bit_or] = { jit_op_arithmetic },
	[AX_OP_bit_xor] = { jit_op_arithmetic },
	[AX_OP_equal] = { jit_op_compare },
	[AX_OP_less_signed] = { jit_op_compare },
	[AX_OP_less_unsigned] = { jit_op_compare },
	[AX_OP_div_signed] = { jit_op_divide },
	[AX_OP_div_unsigned] = { jit_op_divide },
	[AX_OP_rem_signed] = { jit_op_divide },
	[AX_OP_rem_unsigned] = { jit_op_divide },
	[AX_OP_lsh] = { jit_op_shift },
	[AX_OP_rsh_signed] = { jit_op_shift },
	[AX_OP_rsh_unsigned] = { jit_op_shift },
	[AX_OP_log_not] = { jit_op_log_not, .flags = true },
	[AX_OP_bit_not] = { jit_op_bit_not },
	[AX_OP_ext] = { jit_op_extend, .flags = true },
	[AX_OP_zero_ext] = { jit_op_extend, .flags = true },
	[AX_OP_const8] = { op_const },
	[AX_OP_const16] = { op_const },
	[AX_OP_const32] = { op_const },
	[AX_OP_const64] = { op_const },
	[AX_OP_reg] = { op_reg },
	[AX_OP_ref8] = { jit_op_ref },
	[AX_OP_ref16] = { jit_op_ref },
	[AX_OP_ref32] = { jit_op_ref },
	[AX_OP_ref64] = { jit_op_ref },
	[AX_OP_if_goto] = { jit_op_if_goto, .flags = true },
	[AX_OP_goto] = { jit_op_goto, .flags = true },
	[AX_OP_end] = { jit_op_end, .flags = true },
	[AX_OP_dup] = { op_pick },
	[AX_OP_pop] = { op_pop, .flags = true },
	[AX_OP_swap] = { op_swap },
	[AX_OP_pick] = { op_pick },
	[AX_OP_rot] = { op_rot },
	[AX_OP_getv] = { jit_op_getv },
	[AX_OP_setv] = { jit_op_setv },
	[AX_OP_trace] = { jit_op_trace },
	[AX_OP_tracenz] = { jit_op_trace },
	[AX_OP_trace_quick] = { jit_op_trace_short },
	[AX_OP_trace16] = { jit_op_trace_short },
	[AX_OP_tracev] = { jit_op_tracev },
	[AX_OP_printf] = { jit_op_printf },
};

/* Begin an instruction to which jumps lead: put the values where those jumps have put them. */
static void join(struct ax_jit *j)
{
	j->held = 0;
	if (j->alive) {
		jit_settle_flags(j);
		jit_canonical(j);
	}
	jit_after_join(j, j->v->points[j->insn.pc].depth);
	j->alive = true;
}

static void compile_insn(struct ax_jit *j)
{
	const struct emitter *e = &emitter[j->insn.op];
	struct jit_label *l = &j->label[j->insn.pc];

	if (l->used)
		join(j);
	if (!j->alive)
		return;
	jit_mark(j, &l->at);
	j->held = 0;
	if (!e->flags)
		jit_settle_flags(j);
	j->held = ax_op_info[j->insn.op].pops;
	e->emit(j);
}

void jit_expr(struct ax_jit *j, const struct ax_verified *v)
{
	j->v = v;
	j->alive = true;
	for (u32 pc = 0; pc < v->len; pc++)
		j->label[pc].used = false;
	for (u32 pc = 0; pc < v->len; pc = j->next) {
		ax_decode(v->code, v->len, pc, &j->insn);
		j->next = j->insn.next;
		compile_insn(j);
	}
}
