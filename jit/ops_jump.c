// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compiles jumps and ends. A jump to a goto is compiled as a jump to that goto's target; a jump to
 * an end is compiled as a return.
 */
#include "agentexpr/meaning.h"
#include "jit/flow.h"
#include "jit/ops_alu.h"
#include "jit/ops_jump.h"
#include "jit/record.h"
#include "jit/values.h"

/*
 * Emit rax = the top of the stack, or 0 if it is empty; for actions, the size of the trace frame.
 */
static void put_result(struct ax_jit *j)
{
	const struct jit_val *top = j->depth ? jit_arg(j, 0) : NULL;

	if (j->req.nitems)
		x86_mov_imm(&j->b, X86_RAX, jit_record_size(j));
	else if (!top || (jit_is_const(top) && !top->imm))
		x86_zero(&j->b, X86_RAX);
	else
		jit_move(j, X86_RAX, top);
}

void jit_leave_snippet(struct ax_jit *j)
{
	put_result(j);
	x86_zero(&j->b, X86_RDX);
	if (j->stack_frame)
		x86_leave(&j->b);
	jit_return(j->req.target, &j->b, j->base);
}

/* Return the size of the code that jit_leave_snippet() would emit. */
static u32 return_size(struct ax_jit *j)
{
	struct x86_buf real = j->b;
	u32 n;

	j->b.p = NULL;
	jit_leave_snippet(j);
	n = j->b.len - real.len;
	j->b = real;
	return n;
}

/* Limits for following jumps, so that the compile time is linear; enough for GDB's bytecode. */
enum { FOLLOW_STEPS = 16, FALL_BYTES = 64 };

/*
 * Return where a jump to @pc finally leads: follow gotos, and tests of the value on top if that is
 * a constant.
 */
static u32 follow(struct ax_jit *j, u32 pc)
{
	struct ax_insn insn;

	for (u32 steps = 0; steps < FOLLOW_STEPS; steps++) {
		struct jit_val *top = j->depth ? jit_arg(j, 0) : NULL;

		ax_decode(j->v->code, j->v->len, pc, &insn);
		if (insn.op == AX_OP_goto) {
			pc = (u32)insn.operand;
		} else if (insn.op == AX_OP_if_goto && top && jit_is_const(top)) {
			pc = top->imm ? (u32)insn.operand : insn.next;
			jit_pop(j);
		} else if (insn.op == AX_OP_log_not && top && jit_is_const(top)) {
			jit_set_const(j, top, ax_not(AX_OP_log_not, (u64)top->imm));
			pc = insn.next;
		} else {
			break;
		}
	}
	return pc;
}

/* True if no jump leads to the code from here to @pc, so that it is dead and no jump is needed. */
static bool falls_to(const struct ax_jit *j, u32 pc)
{
	if (pc - j->next > FALL_BYTES)
		return false;
	for (u32 i = j->next; i < pc; i++)
		if (j->label[i].used)
			return false;
	return true;
}

/* Leave a pad's condition by the exit for the value on top: JIT_HELD or JIT_FALSE. */
static void leave_condition(struct ax_jit *j)
{
	struct jit_val *top = jit_arg(j, 0);
	bool last = j->next >= j->v->len; /* the code of JIT_FALSE follows */

	j->held = 1;
	if (jit_is_const(top) && top->imm) {
		jit_jmp(j, &j->pad.tail[JIT_HELD]);
		return;
	}
	if (!jit_is_const(top))
		jit_jcc(j, jit_test(j, top), &j->pad.tail[JIT_HELD]);
	if (!last)
		jit_jmp(j, &j->pad.tail[JIT_FALSE]);
}

static void leave(struct ax_jit *j)
{
	if (j->pad.on)
		leave_condition(j);
	else
		jit_leave_snippet(j);
}

/* End an action or an expression. The end of an action is not the end of the snippet. */
void jit_op_end(struct ax_jit *j)
{
	if (!j->req.nitems)
		leave(j);
	while (j->req.nitems && j->depth)
		jit_pop(j);
	j->alive = false;
}

/* Return the place of the instruction at @pc, as the target of a jump. */
static const struct jit_place *target(struct ax_jit *j, u32 pc)
{
	j->label[pc].used = true;
	return &j->label[pc].at;
}

static void go_to(struct ax_jit *j, u32 pc)
{
	j->held = 0;
	pc = follow(j, pc);
	if (falls_to(j, pc)) {
		j->next = pc;
		return;
	}
	if (j->v->code[pc] == AX_OP_end) {
		leave(j);
	} else {
		jit_settle_flags(j);
		jit_canonical(j);
		jit_jmp(j, target(j, pc));
	}
	j->alive = false;
}

void jit_op_goto(struct ax_jit *j)
{
	go_to(j, (u32)j->insn.operand);
}

/* Leave the expression if @cc holds, with the value that is now on top. */
static void return_if(struct ax_jit *j, enum x86_cc cc)
{
	u32 n = return_size(j);

	if (n <= 127)
		x86_jcc_short(&j->b, cc ^ 1, j->b.len + 2 + n);
	else
		x86_jcc(&j->b, cc ^ 1, j->b.len + 6 + n);
	jit_leave_snippet(j);
}

void jit_leave_if(struct ax_jit *j, enum x86_cc cc)
{
	return_if(j, cc);
}

/*
 * Emit code that leaves the expression if @cc holds. Return false in a pad if the value on top is
 * not a constant, because the pad would have to test it first.
 */
static bool leave_if(struct ax_jit *j, enum x86_cc cc)
{
	if (!j->pad.on) {
		return_if(j, cc);
		return true;
	}
	if (!jit_is_const(jit_arg(j, 0)))
		return false;
	jit_jcc(j, cc, &j->pad.tail[jit_arg(j, 0)->imm ? JIT_HELD : JIT_FALSE]);
	return true;
}

/* Follow gotos from the target of a conditional jump; they do not change the stack. */
static u32 follow_gotos(const struct ax_jit *j, u32 pc)
{
	struct ax_insn insn;

	for (u32 steps = 0; steps < FOLLOW_STEPS && j->v->code[pc] == AX_OP_goto; steps++) {
		ax_decode(j->v->code, j->v->len, pc, &insn);
		pc = (u32)insn.operand;
	}
	return pc;
}

static void branch(struct ax_jit *j, enum x86_cc cc, u32 pc)
{
	pc = follow_gotos(j, pc);
	if (j->v->code[pc] == AX_OP_end && leave_if(j, cc))
		return;
	/* Move the values before the jump, for both paths: moves do not change the flags. */
	jit_canonical(j);
	jit_jcc(j, cc, target(j, pc));
}

/*
 * GDB compiles && and || to "if_goto A; goto B; A:". Emit one jump, to B, on the opposite
 * condition.
 */
void jit_op_if_goto(struct ax_jit *j)
{
	struct jit_val *top = jit_arg(j, 0);
	u32 pc = (u32)j->insn.operand;
	struct ax_insn next;
	enum x86_cc cc;

	if (jit_is_const(top)) {
		bool taken = top->imm;

		jit_pop(j);
		if (taken)
			go_to(j, pc);
		return;
	}
	cc = jit_test(j, top);
	jit_pop(j);
	if (jit_peek(j, &next) && next.op == AX_OP_goto && next.next == pc) {
		j->next = pc;
		cc ^= 1;
		pc = (u32)next.operand;
	}
	branch(j, cc, pc);
}
