// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compiles opcodes that may call a stub: those that collect, those of trace state variables, and
 * printf.
 *
 * The common stubs take up to two values in rax and rdx and a description in ecx. They preserve
 * only JIT_REGS and JIT_ENV, so values that are needed later are spilled to the stack. The stub for
 * aggregations takes the table in rax, the value in rdx, and the address of the CPU's own
 * variables, with the keys, in rcx. The stub for pairs takes no description.
 */
#include "agentexpr/meaning.h"
#include "aggregate/tasks.h"
#include "jit/flow.h"
#include "jit/ops_call.h"
#include "jit/ops_table.h"
#include "jit/record.h"
#include "jit/slow.h"
#include "jit/values.h"
#include "tracepoint/tsv.h"

/* Copy a value to an argument register of a stub; the stack entry @v does not change. */
static void put(struct ax_jit *j, enum x86_reg reg, struct jit_val *v)
{
	jit_claim(j, reg);
	jit_move(j, reg, v);
}

static void call(struct ax_jit *j, enum ax_jit_stub stub)
{
	j->calls = true;
	jit_progress(j, j->progress);
	x86_mov_imm(&j->b, X86_RCX, jit_desc(j, j->insn.pc, j->insn.op, 0, false));
	jit_call_stub(j, stub);
	jit_forget_cached(j);
	jit_record_after_call(j);
}

/* Before a call, spill all values from registers, except the topmost @operands values. */
static void prepare(struct ax_jit *j, u32 operands)
{
	j->held = operands;
	jit_spill_all(j);
}

static void release(struct ax_jit *j)
{
	jit_unref_reg(j, X86_RAX);
	jit_unref_reg(j, X86_RDX);
}

const struct ax_jit_var *jit_var(const struct ax_jit_target *target, u64 tsv)
{
	return tsv < target->nvars && target->var[tsv].bytes ? &target->var[tsv] : NULL;
}

bool ax_jit_can_early(const struct ax_verified *cond, const struct ax_jit_target *target)
{
	struct ax_insn insn;

	if (cond->flags & ~(AX_F_READS_MEM | AX_F_GETS_TSV))
		return false;
	for (u32 pc = 0; pc < cond->len; pc = insn.next) {
		const struct ax_jit_var *var;

		ax_decode(cond->code, cond->len, pc, &insn);
		if (insn.op != AX_OP_getv)
			continue;
		var = jit_var(target, insn.operand);
		if (!var || var->less_entered)
			return false;
	}
	return true;
}

/*
 * Emit the loads of a variable. The pointers that lead to a variable are always valid, so no check
 * is needed.
 */
static void fetch_var(struct ax_jit *j, const struct ax_jit_var *var, enum x86_reg dst)
{
	x86_load_gs(&j->b, dst, var->gs, var->follow ? 8 : var->bytes);
	if (var->follow > 1)
		x86_load(&j->b, dst, x86_at(dst, var->offset), 8, false);
	if (var->follow)
		x86_load(&j->b, dst, x86_at(dst, var->follow > 1 ? var->then : var->offset),
			 var->bytes, var->sign);
	else if (var->sign && var->bytes == 4)
		x86_extend(&j->b, dst, dst, 4, true);
}

static struct x86_mem entered_at(void)
{
	return x86_at(JIT_ENV, (s32)offsetof(struct ax_env, entered));
}

static void load_var(struct ax_jit *j, const struct ax_jit_var *var, enum x86_reg dst)
{
	fetch_var(j, var, dst);
	if (var->less_entered && !j->pad.on)
		x86_alu_mem(&j->b, X86_SUB, X86_32, dst, entered_at());
	if (var->mask)
		x86_alu_imm(&j->b, X86_AND, X86_32, dst, (s32)var->mask);
	if (var->add)
		x86_lea(&j->b, X86_64, dst, x86_at(dst, var->add));
}

static void push_var(struct ax_jit *j, const struct ax_jit_var *var)
{
	enum x86_reg dst;

	jit_settle_flags(j);
	dst = jit_alloc(j);
	load_var(j, var, dst);
	jit_push(j, jit_in_reg(dst));
	if (var->bytes == 4)
		jit_know(jit_arg(j, 0), var->sign ? 64 : 32, var->sign ? 32 : 64);
}

static enum ax_tsv_way way(const struct ax_jit *j)
{
	return j->req.ways ? j->req.ways[j->insn.operand] : AX_TSV_CALL;
}

/* Load the address of this CPU's own variables into a register that the caller then holds. */
static enum x86_reg load_locals(struct ax_jit *j)
{
	enum x86_reg reg = jit_alloc(j);

	x86_load(&j->b, reg, x86_at(JIT_ENV, (s32)offsetof(struct ax_env, local)), 8, false);
	return reg;
}

static struct x86_mem local_at(const struct ax_jit *j, enum x86_reg locals)
{
	return x86_at(locals, (s32)(8 * j->insn.operand));
}

/*
 * Emit a getv of one of this CPU's own variables. If a tracev of the same variable follows, one
 * load is enough for both.
 */
static void get_local(struct ax_jit *j)
{
	enum x86_reg reg = load_locals(j);
	struct ax_insn next;

	x86_load(&j->b, reg, local_at(j, reg), 8, false);
	jit_push(j, jit_in_reg(reg));
	if (j->req.nitems && jit_peek(j, &next) && next.op == AX_OP_tracev &&
	    next.operand == j->insn.operand) {
		jit_record_var(j, (u32)j->insn.operand, reg);
		j->next = next.next;
	}
}

/* Emit a setv of one of this CPU's own variables. The value stays on the stack. */
static void set_local(struct ax_jit *j)
{
	struct jit_val *v = jit_arg(j, 0);
	enum x86_reg locals = load_locals(j);

	if (jit_is_const(v) && x86_fits32(v->imm)) {
		x86_store_imm(&j->b, local_at(j, locals), (s32)v->imm, 8);
	} else {
		jit_force(j, v);
		x86_store(&j->b, local_at(j, locals), v->loc, 8);
	}
	jit_unref_reg(j, locals);
}

/* Load the address of the variable's value into a register that the caller then holds. */
static enum x86_reg load_slot(struct ax_jit *j)
{
	enum x86_reg reg = jit_alloc(j);

	x86_mov_imm(&j->b, reg, (u64)(unsigned long)&j->req.slots[j->insn.operand]->value);
	return reg;
}

static void add(struct ax_jit *j)
{
	struct jit_val *v = jit_arg(j, 0);
	enum x86_reg slot = load_slot(j);

	if (jit_is_const(v) && x86_fits32(v->imm)) {
		x86_lock_add_mem_imm(&j->b, x86_at(slot, 0), (s32)v->imm);
	} else {
		jit_force(j, v);
		x86_lock_add_mem(&j->b, x86_at(slot, 0), v->loc);
	}
	jit_unref_reg(j, slot);
}

/* Emit an addition whose sum is used: the sum replaces the addend on the stack. */
static void add_and_get(struct ax_jit *j)
{
	struct jit_val *v = jit_arg(j, 0);
	enum x86_reg sum = jit_own(j, v), slot = load_slot(j), was = jit_alloc(j);

	x86_mov(&j->b, was, sum);
	x86_lock_xadd(&j->b, x86_at(slot, 0), was);
	x86_alu(&j->b, X86_ADD, X86_64, sum, was);
	jit_know(v, 64, 64);
	jit_unref_reg(j, was);
	jit_unref_reg(j, slot);
}

/*
 * Emit a getv of a variable of tasks into a pad. If no task of the current task's bucket has a
 * value, this value is 0, and everything that follows is compiled for a constant 0. Otherwise C
 * evaluates the condition.
 */
static void get_task(struct ax_jit *j)
{
	u64 used = j->req.target->tasks_used;
	enum x86_reg task = jit_alloc(j);
	struct x86_mem m = { .base = X86_NO_REG, .index = task, .scale = 2, .disp = (s32)used };

	x86_load_gs(&j->b, task, j->req.target->task, 4);
	x86_imul_imm(&j->b, X86_32, task, task, GTP_TASKS_FACTOR);
	x86_shift(&j->b, X86_SHR, X86_32, task, 32 - GTP_TASKS_BITS);
	if (!x86_fits32((s64)used)) {
		m.base = jit_alloc(j);
		m.disp = 0;
		x86_mov_imm(&j->b, m.base, used);
	}
	x86_cmp_mem_imm(&j->b, m, 0, sizeof(u32));
	if (m.base != X86_NO_REG)
		jit_unref_reg(j, m.base);
	jit_unref_reg(j, task);
	jit_slow_add(j, (struct jit_slow){ 0 });
	jit_jcc(j, X86_CC_NE, &j->pad.tail[JIT_PUNT]);
	jit_push(j, jit_const(0));
}

/*
 * Emit a setv of a variable of tasks into a pad: C evaluates the condition. Nothing before it has
 * had an effect, so C begins again.
 */
static void set_task(struct ax_jit *j)
{
	jit_slow_add(j, (struct jit_slow){ 0 });
	jit_jmp(j, &j->pad.tail[JIT_PUNT]);
	j->alive = false;
}

void jit_op_getv(struct ax_jit *j)
{
	const struct ax_jit_var *var = jit_var(j->req.target, j->insn.operand);

	if (ax_is_added(j->v, &j->insn)) {
		jit_push(j, jit_const(0));
		return;
	}
	if (var) {
		push_var(j, var);
		return;
	}
	if (way(j) == AX_TSV_LOCAL) {
		get_local(j);
		return;
	}
	if (way(j) == AX_TSV_TASK && j->pad.on) {
		get_task(j);
		return;
	}
	prepare(j, 0);
	x86_mov_imm(&j->b, X86_RAX, j->insn.operand);
	call(j, AX_JIT_GETV);
	j->regs[X86_RAX]++;
	jit_push(j, jit_in_reg(X86_RAX));
}

/* Emit setv. The value stays on the stack, so spill it with the others. */
void jit_op_setv(struct ax_jit *j)
{
	struct jit_val tsv = jit_const(j->insn.operand);

	if (ax_is_added(j->v, &j->insn)) {
		if (jit_is_dropped(j))
			add(j);
		else
			add_and_get(j);
		return;
	}
	switch (way(j)) {
	case AX_TSV_LOCAL:
		set_local(j);
		return;
	case AX_TSV_TASK:
		if (!j->pad.on)
			break;
		set_task(j);
		return;
	case AX_TSV_UPDATE:
		jit_update(j);
		return;
	case AX_TSV_COUNT:
		jit_count(j);
		return;
	case AX_TSV_START:
		jit_pair_start(j);
		return;
	case AX_TSV_END:
		jit_pair_end(j);
		return;
	default:
		break;
	}
	prepare(j, 0);
	put(j, X86_RDX, jit_arg(j, 0));
	put(j, X86_RAX, &tsv);
	call(j, AX_JIT_SETV);
	release(j);
}

static void record_var(struct ax_jit *j, const struct ax_jit_var *var)
{
	enum x86_reg dst = jit_alloc(j);

	load_var(j, var, dst);
	jit_record_var(j, (u32)j->insn.operand, dst);
	jit_unref_reg(j, dst);
}

static void record_local(struct ax_jit *j)
{
	enum x86_reg reg = load_locals(j);

	x86_load(&j->b, reg, local_at(j, reg), 8, false);
	jit_record_var(j, (u32)j->insn.operand, reg);
	jit_unref_reg(j, reg);
}

void jit_op_tracev(struct ax_jit *j)
{
	const struct ax_jit_var *var = jit_var(j->req.target, j->insn.operand);

	if (var && j->req.nitems) {
		record_var(j, var);
		return;
	}
	if (j->req.nitems && way(j) == AX_TSV_LOCAL) {
		record_local(j);
		return;
	}
	if (j->req.nitems && way(j) == AX_TSV_BLOCKS)
		j->unsuitable = true; /* the size of the blocks is known only at the hit */
	prepare(j, 0);
	x86_mov_imm(&j->b, X86_RAX, j->insn.operand);
	if (j->req.nitems) {
		call(j, AX_JIT_GETV);
		jit_record_var(j, (u32)j->insn.operand, X86_RAX);
		return;
	}
	call(j, AX_JIT_TRACEV);
}

/* Collect straight into the trace frame, if the length or the limit of a string is a constant. */
static void trace_to_record(struct ax_jit *j)
{
	const struct jit_val *len = jit_arg(j, 0);

	if (!jit_is_const(len))
		j->unsuitable = true;
	else if (j->insn.op == AX_OP_trace)
		jit_record_mem(j, jit_arg(j, 1), (u64)len->imm);
	else
		jit_record_string(j, jit_arg(j, 1), (u64)len->imm);
	jit_pop(j);
	jit_pop(j);
}

/* Emit trace or tracenz, whose stack effect is: addr len -> */
void jit_op_trace(struct ax_jit *j)
{
	if (j->req.nitems) {
		trace_to_record(j);
		return;
	}
	prepare(j, 2);
	jit_own_in(j, jit_arg(j, 1), X86_RAX);
	jit_own_in(j, jit_arg(j, 0), X86_RDX);
	call(j, j->insn.op == AX_OP_trace ? AX_JIT_TRACE : AX_JIT_TRACE_STRING);
	jit_pop(j);
	jit_pop(j);
}

/* Emit trace_quick or trace16: addr -> addr; the length is in the instruction. */
void jit_op_trace_short(struct ax_jit *j)
{
	struct jit_val len = jit_const(j->insn.operand);

	if (j->req.nitems) {
		jit_record_mem(j, jit_arg(j, 0), j->insn.operand);
		return;
	}
	prepare(j, 0);
	put(j, X86_RAX, jit_arg(j, 0));
	put(j, X86_RDX, &len);
	call(j, AX_JIT_TRACE);
	release(j);
}

/* Store the arguments of printf at the beginning of @env->stack, like the interpreter. */
static void store_args(struct ax_jit *j, u32 nargs)
{
	enum x86_reg to, value;

	x86_load(&j->b, X86_RAX, x86_at(JIT_ENV, (s32)offsetof(struct ax_env, stack)), 8, false);
	to = X86_RAX;
	value = X86_RDX;
	for (u32 i = 0; i < nargs; i++) {
		/* On the stack, the function and the channel are above the first argument. */
		jit_move(j, value, jit_arg(j, 2 + nargs - 1 - i));
		x86_store(&j->b, x86_at(to, (s32)(8 * i)), value, 8);
	}
}

/* Emit printf, whose stack effect is: args... channel function -> */
void jit_op_printf(struct ax_jit *j)
{
	prepare(j, 0);
	store_args(j, j->insn.nargs);
	x86_mov_imm(&j->b, X86_RAX, (u64)(unsigned long)j->v->code);
	x86_mov_imm(&j->b, X86_RDX, j->v->len);
	call(j, AX_JIT_PRINT);
	for (u32 i = 0; i < j->insn.nargs + 2U; i++)
		jit_pop(j);
}
