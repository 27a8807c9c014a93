// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interpreter of expressions. Together with agentexpr/meaning.h it defines the meaning of every
 * opcode.
 *
 * It relies on the verifier and does not check stack depths, jump targets and operands again.
 * Compiled expressions must agree with it in results, collected blocks and errors.
 */
#include "agentexpr/format.h"
#include "agentexpr/meaning.h"

/* struct vm - the state of one evaluation; @sp is the first free word of @env->stack */
struct vm {
	const struct ax_verified *v;
	struct ax_env *env;
	u64 *sp;
	u32 pc; /* pc of the next instruction; a jump or an end instruction changes it */
	u32 end;
};

static void push(struct vm *vm, u64 value)
{
	*vm->sp++ = value;
}

static u64 pop(struct vm *vm)
{
	return *--vm->sp;
}

/*
 * The following functions evaluate one class of opcodes each. They return 0, -EINVAL with the
 * reason in env->err, or -ENOSPC if the trace buffer is full.
 */

static int run_arithmetic(struct vm *vm, const struct ax_insn *insn)
{
	u64 b = pop(vm);

	push(vm, ax_arithmetic(insn->op, pop(vm), b));
	return 0;
}

static int run_compare(struct vm *vm, const struct ax_insn *insn)
{
	u64 b = pop(vm);

	push(vm, ax_compare(insn->op, pop(vm), b));
	return 0;
}

static int run_divide(struct vm *vm, const struct ax_insn *insn)
{
	u64 b = pop(vm);
	u64 result;

	if (!ax_divide(insn->op, pop(vm), b, &result))
		return ax_fail(vm->env, insn, AX_E_DIVIDE_BY_ZERO, 0, 0);
	push(vm, result);
	return 0;
}

static int run_shift(struct vm *vm, const struct ax_insn *insn)
{
	u64 count = pop(vm);

	push(vm, ax_shift(insn->op, pop(vm), count));
	return 0;
}

static int run_not(struct vm *vm, const struct ax_insn *insn)
{
	push(vm, ax_not(insn->op, pop(vm)));
	return 0;
}

static int run_extend(struct vm *vm, const struct ax_insn *insn)
{
	push(vm, ax_extend(insn->op, pop(vm), (u32)insn->operand));
	return 0;
}

static int run_const(struct vm *vm, const struct ax_insn *insn)
{
	push(vm, insn->operand);
	return 0;
}

static int run_reg(struct vm *vm, const struct ax_insn *insn)
{
	u32 n = (u32)insn->operand;

	push(vm, n == GTP_REG_PC ? vm->env->pc : gtp_regs_get(vm->env->regs, n));
	return 0;
}

static int run_ref(struct vm *vm, const struct ax_insn *insn)
{
	u64 *top = vm->sp - 1;

	return ax_ref(vm->env, insn, *top, top);
}

static int run_jump(struct vm *vm, const struct ax_insn *insn)
{
	if (insn->op == AX_OP_goto || pop(vm))
		vm->pc = (u32)insn->operand;
	return 0;
}

static int run_end(struct vm *vm, const struct ax_insn *insn)
{
	vm->pc = vm->end;
	return 0;
}

static int run_dup(struct vm *vm, const struct ax_insn *insn)
{
	push(vm, vm->sp[-1]);
	return 0;
}

static int run_pop(struct vm *vm, const struct ax_insn *insn)
{
	pop(vm);
	return 0;
}

static int run_swap(struct vm *vm, const struct ax_insn *insn)
{
	u64 b = pop(vm);
	u64 a = pop(vm);

	push(vm, b);
	push(vm, a);
	return 0;
}

static int run_pick(struct vm *vm, const struct ax_insn *insn)
{
	push(vm, *(vm->sp - 1 - insn->operand));
	return 0;
}

static int run_rot(struct vm *vm, const struct ax_insn *insn)
{
	u64 c = pop(vm);
	u64 b = pop(vm);
	u64 a = pop(vm);

	push(vm, c);
	push(vm, a);
	push(vm, b);
	return 0;
}

static int run_getv(struct vm *vm, const struct ax_insn *insn)
{
	if (ax_is_added(vm->v, insn))
		push(vm, 0);
	else
		push(vm, (u64)vm->env->ops->getv(vm->env->ctx, (u16)insn->operand));
	return 0;
}

static int run_setv(struct vm *vm, const struct ax_insn *insn)
{
	const struct ax_ops *ops = vm->env->ops;
	s64 value = (s64)vm->sp[-1];

	if (ax_is_added(vm->v, insn))
		vm->sp[-1] = (u64)ops->addv(vm->env->ctx, (u16)insn->operand, value);
	else
		ops->setv(vm->env->ctx, (u16)insn->operand, value);
	return 0;
}

static int run_trace(struct vm *vm, const struct ax_insn *insn)
{
	u64 len = pop(vm);
	u64 addr = pop(vm);
	int ret;

	if (insn->op == AX_OP_trace)
		ret = vm->env->ops->trace(vm->env->ctx, addr, len);
	else
		ret = vm->env->ops->trace_string(vm->env->ctx, addr, len);
	return ax_collected(vm->env, insn, ret, addr, len);
}

/*
 * Evaluate trace_quick and trace16, which have the length in the instruction and leave the address
 * on the stack.
 */
static int run_trace_short(struct vm *vm, const struct ax_insn *insn)
{
	u64 addr = vm->sp[-1];
	int ret = vm->env->ops->trace(vm->env->ctx, addr, insn->operand);

	return ax_collected(vm->env, insn, ret, addr, insn->operand);
}

static int run_tracev(struct vm *vm, const struct ax_insn *insn)
{
	return vm->env->ops->tracev(vm->env->ctx, (u16)insn->operand);
}

static int run_printf(struct vm *vm, const struct ax_insn *insn)
{
	u64 *top = vm->sp - 2; /* the first argument: below the function and the channel */

	vm->sp = top - insn->nargs;
	return ax_format_print(vm->env, insn, top);
}

static int (*const run[256])(struct vm *vm, const struct ax_insn *insn) = {
	[AX_OP_add] = run_arithmetic,
	[AX_OP_sub] = run_arithmetic,
	[AX_OP_mul] = run_arithmetic,
	[AX_OP_bit_and] = run_arithmetic,
	[AX_OP_bit_or] = run_arithmetic,
	[AX_OP_bit_xor] = run_arithmetic,
	[AX_OP_equal] = run_compare,
	[AX_OP_less_signed] = run_compare,
	[AX_OP_less_unsigned] = run_compare,
	[AX_OP_div_signed] = run_divide,
	[AX_OP_div_unsigned] = run_divide,
	[AX_OP_rem_signed] = run_divide,
	[AX_OP_rem_unsigned] = run_divide,
	[AX_OP_lsh] = run_shift,
	[AX_OP_rsh_signed] = run_shift,
	[AX_OP_rsh_unsigned] = run_shift,
	[AX_OP_log_not] = run_not,
	[AX_OP_bit_not] = run_not,
	[AX_OP_ext] = run_extend,
	[AX_OP_zero_ext] = run_extend,
	[AX_OP_const8] = run_const,
	[AX_OP_const16] = run_const,
	[AX_OP_const32] = run_const,
	[AX_OP_const64] = run_const,
	[AX_OP_reg] = run_reg,
	[AX_OP_ref8] = run_ref,
	[AX_OP_ref16] = run_ref,
	[AX_OP_ref32] = run_ref,
	[AX_OP_ref64] = run_ref,
	[AX_OP_if_goto] = run_jump,
	[AX_OP_goto] = run_jump,
	[AX_OP_end] = run_end,
	[AX_OP_dup] = run_dup,
	[AX_OP_pop] = run_pop,
	[AX_OP_swap] = run_swap,
	[AX_OP_pick] = run_pick,
	[AX_OP_rot] = run_rot,
	[AX_OP_getv] = run_getv,
	[AX_OP_setv] = run_setv,
	[AX_OP_trace] = run_trace,
	[AX_OP_tracenz] = run_trace,
	[AX_OP_trace_quick] = run_trace_short,
	[AX_OP_trace16] = run_trace_short,
	[AX_OP_tracev] = run_tracev,
	[AX_OP_printf] = run_printf,
};

int ax_interp(const struct ax_verified *v, struct ax_env *env, u64 *result)
{
	struct vm vm = { .v = v, .env = env, .sp = env->stack, .end = v->len };
	struct ax_insn insn;
	int ret = 0;

	env->err = (struct ax_error){ .code = AX_OK };
	while (!ret && vm.pc < vm.end) {
		ax_decode(v->code, v->len, vm.pc, &insn);
		vm.pc = insn.next;
		ret = run[insn.op](&vm, &insn);
	}
	if (result)
		*result = !ret && vm.sp > env->stack ? vm.sp[-1] : 0;
	return ret;
}
