// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verifier. It checks an expression in one pass from the first byte to the last, before the
 * expression is ever run.
 *
 * It refuses
 *   - an expression that is empty or longer than AX_MAX_LEN
 *   - bytes that are not an opcode, and an operand that the end of the expression cuts off
 *   - floating point
 *   - a jump out of the expression, to an operand, or backwards (so every expression ends)
 *   - an instruction that two paths reach with different stack depths
 *   - an instruction that needs more values than the stack has, and a stack deeper than
 *     AX_MAX_DEPTH
 *   - a path that runs past the last byte
 *   - a condition that leaves no value
 *   - a register that a hit does not know
 *   - a printf whose format is not terminated, converts anything except a plain integer, pointer,
 *     character or string, or has more or fewer conversions than there are arguments
 *   - in ax_verify_tsvs(), a trace state variable that does not exist or cannot be set
 *
 * Unreachable bytes (after a goto or end, with no jump to them) must still decode to whole
 * instructions. They are neither run nor compiled, so nothing else is checked.
 *
 * One pass is enough because jumps only go forward: all jumps to an instruction come before it.
 */
#include "agentexpr/adds.h"
#include "agentexpr/format.h"

/* struct pass - the state of the verifier's pass before the current instruction */
struct pass {
	const u8 *code;
	u32 len;
	enum ax_kind kind;
	struct ax_point *points;
	struct ax_verified *out;
	struct ax_error *err;
	u32 depth;
	bool live; /* control can reach the current instruction */
};

static const u16 op_flags[256] = {
	[AX_OP_ref8] = AX_F_READS_MEM,
	[AX_OP_ref16] = AX_F_READS_MEM,
	[AX_OP_ref32] = AX_F_READS_MEM,
	[AX_OP_ref64] = AX_F_READS_MEM,
	[AX_OP_trace] = AX_F_COLLECTS,
	[AX_OP_trace_quick] = AX_F_COLLECTS,
	[AX_OP_trace16] = AX_F_COLLECTS,
	[AX_OP_tracenz] = AX_F_COLLECTS | AX_F_STRING,
	[AX_OP_tracev] = AX_F_COLLECTS | AX_F_GETS_TSV,
	[AX_OP_getv] = AX_F_GETS_TSV,
	[AX_OP_setv] = AX_F_SETS_TSV | AX_F_LOCKED,
	[AX_OP_printf] = AX_F_PRINTS,
};

static enum ax_err refuse(struct ax_error *err, u32 pc, u8 op, enum ax_err code, u64 arg, u64 arg2)
{
	*err = (struct ax_error){
		.code = (u16)code,
		.pc = (u16)pc,
		.op = op,
		.arg = arg,
		.arg2 = arg2,
	};
	return code;
}

static enum ax_err refuse_insn(struct pass *p, const struct ax_insn *insn, enum ax_err code,
			       u64 arg, u64 arg2)
{
	return refuse(p->err, insn->pc, insn->op, code, arg, arg2);
}

/* Return how many values must be on the stack before @insn; pick reads deeper than it pops. */
static u32 needs(const struct ax_insn *insn)
{
	const struct ax_op_info *info = &ax_op_info[insn->op];

	if (info->rule == AX_RULE_printf)
		return insn->nargs + 2U;
	if (info->rule == AX_RULE_pick)
		return (u32)insn->operand + 1;
	return info->pops;
}

static enum ax_err move_stack(struct pass *p, const struct ax_insn *insn)
{
	const struct ax_op_info *info = &ax_op_info[insn->op];
	u32 need = needs(insn);

	if (p->depth < need)
		return refuse_insn(p, insn, AX_E_STACK_UNDERFLOW, need, p->depth);
	p->depth -= info->rule == AX_RULE_printf ? need : info->pops;
	p->depth += info->pushes;
	if (p->depth > AX_MAX_DEPTH)
		return refuse_insn(p, insn, AX_E_STACK_OVERFLOW, p->depth, AX_MAX_DEPTH);
	if (p->depth > p->out->max_depth)
		p->out->max_depth = (u16)p->depth;
	return AX_OK;
}

static enum ax_err rule_none(struct pass *p, const struct ax_insn *insn)
{
	return AX_OK;
}

static enum ax_err rule_refuse(struct pass *p, const struct ax_insn *insn)
{
	return refuse_insn(p, insn, AX_E_FLOATING_POINT, 0, 0);
}

static enum ax_err rule_reg(struct pass *p, const struct ax_insn *insn)
{
	if (insn->operand >= GTP_NR_SAVED_REGS)
		return refuse_insn(p, insn, AX_E_BAD_REGISTER, insn->operand,
				   GTP_NR_SAVED_REGS - 1);
	p->out->regs_used |= BIT_ULL(insn->operand);
	return AX_OK;
}

static enum ax_err rule_printf(struct pass *p, const struct ax_insn *insn)
{
	struct ax_error err;
	bool reads_mem;
	enum ax_err code = ax_format_check(insn, &err, &reads_mem);

	if (code != AX_OK)
		return refuse_insn(p, insn, code, err.arg, err.arg2);
	if (reads_mem)
		p->out->flags |= AX_F_READS_MEM;
	return AX_OK;
}

static enum ax_err rule_jump(struct pass *p, const struct ax_insn *insn)
{
	u32 target = (u32)insn->operand;

	if (target >= p->len)
		return refuse_insn(p, insn, AX_E_JUMP_OUT, target, p->len);
	if (target <= insn->pc)
		return refuse_insn(p, insn, AX_E_JUMP_BACK, target, 0);
	if (target < insn->next)
		return refuse_insn(p, insn, AX_E_JUMP_INTO_OPERAND, target, 0);
	return AX_OK;
}

/*
 * The checks of an instruction's operand that do not depend on the stack, indexed by enum ax_rule.
 */
static enum ax_err (*const operand_rules[])(struct pass *p, const struct ax_insn *insn) = {
	[AX_RULE_none] = rule_none, [AX_RULE_jump] = rule_jump,	    [AX_RULE_reg] = rule_reg,
	[AX_RULE_tsv] = rule_none,  [AX_RULE_pick] = rule_none,	    [AX_RULE_printf] = rule_printf,
	[AX_RULE_end] = rule_none,  [AX_RULE_refuse] = rule_refuse,
};

/* Report that two paths reach an instruction with different stack depths. */
static enum ax_err mismatch(struct pass *p, u32 pc)
{
	return refuse(p->err, pc, p->code[pc], AX_E_DEPTH_MISMATCH, p->points[pc].depth, p->depth);
}

/* Record the depth at a jump's target; all paths that reach the target must agree on it. */
static enum ax_err leave_depth(struct pass *p, u32 target)
{
	struct ax_point *point = &p->points[target];

	if (point->flags & AX_P_TARGET && point->depth != p->depth)
		return mismatch(p, target);
	point->flags |= AX_P_TARGET;
	point->depth = (u8)p->depth;
	return AX_OK;
}

/* Continue the path after an instruction whose stack effect has been applied. */
static enum ax_err follow(struct pass *p, const struct ax_insn *insn)
{
	u8 rule = ax_op_info[insn->op].rule;

	if (rule == AX_RULE_end) {
		p->live = false;
		if (p->kind == AX_CONDITION && !p->depth)
			return refuse_insn(p, insn, AX_E_NO_RESULT, 0, 0);
	} else if (rule == AX_RULE_jump) {
		p->live = insn->op == AX_OP_if_goto;
		return leave_depth(p, (u32)insn->operand);
	}
	return AX_OK;
}

static enum ax_err check_reached(struct pass *p, const struct ax_insn *insn)
{
	enum ax_err code = operand_rules[ax_op_info[insn->op].rule](p, insn);

	p->out->ninsns++;
	p->out->flags |= op_flags[insn->op];
	if (code == AX_OK)
		code = move_stack(p, insn);
	if (code == AX_OK)
		code = follow(p, insn);
	return code;
}

/* Check that the paths to an instruction agree and that no jump lands inside it. */
static enum ax_err arrive(struct pass *p, const struct ax_insn *insn)
{
	struct ax_point *point = &p->points[insn->pc];
	u32 i;

	point->flags |= AX_P_INSN;
	if (point->flags & AX_P_TARGET) {
		if (p->live && point->depth != p->depth)
			return mismatch(p, insn->pc);
		p->depth = point->depth;
		p->live = true;
	}
	if (p->live) {
		point->flags |= AX_P_REACHED;
		point->depth = (u8)p->depth;
	}
	for (i = insn->pc + 1U; i < insn->next; i++)
		if (p->points[i].flags & AX_P_TARGET)
			return refuse_insn(p, insn, AX_E_JUMP_INTO_OPERAND, i, 0);
	return AX_OK;
}

static enum ax_err check_insn(struct pass *p, u32 pc, struct ax_insn *insn)
{
	enum ax_err code = ax_decode(p->code, p->len, pc, insn);

	if (code != AX_OK)
		return refuse_insn(p, insn, code, insn->op, 0);
	code = arrive(p, insn);
	if (code == AX_OK && p->live)
		code = check_reached(p, insn);
	return code;
}

static enum ax_err check_all(struct pass *p)
{
	struct ax_insn insn;
	enum ax_err code;
	u32 pc;

	for (pc = 0; pc < p->len; pc = insn.next) {
		code = check_insn(p, pc, &insn);
		if (code != AX_OK)
			return code;
	}
	return p->live ? refuse_insn(p, &insn, AX_E_NO_END, 0, 0) : AX_OK;
}

enum ax_err ax_verify(const u8 *code, u32 len, enum ax_kind kind, struct ax_point *points,
		      struct ax_verified *out, struct ax_error *err)
{
	struct pass p = {
		.code = code,
		.len = len,
		.kind = kind,
		.points = points,
		.out = out,
		.err = err,
		.live = true,
	};

	*err = (struct ax_error){ .code = AX_OK };
	if (!len)
		return refuse(err, 0, 0, AX_E_EMPTY, 0, 0);
	if (len > AX_MAX_LEN)
		return refuse(err, 0, 0, AX_E_TOO_LONG, len, AX_MAX_LEN);
	memset(points, 0, len * sizeof(*points));
	*out = (struct ax_verified){ .code = code, .points = points, .len = (u16)len };
	return check_all(&p);
}

enum ax_err ax_verify_tsvs(const struct ax_verified *v,
			   enum ax_err (*known)(void *ctx, u16 tsv, bool sets), void *ctx,
			   struct ax_error *err)
{
	struct ax_insn insn = { 0 };
	enum ax_err code;

	*err = (struct ax_error){ .code = AX_OK };
	while (ax_next_reached(v, &insn)) {
		if (ax_op_info[insn.op].rule != AX_RULE_tsv)
			continue;
		code = known(ctx, (u16)insn.operand, insn.op == AX_OP_setv);
		if (code != AX_OK)
			return refuse(err, insn.pc, insn.op, code, insn.operand, 0);
	}
	return AX_OK;
}

static u16 flag_of_setv(struct ax_verified *v, enum ax_tsv_way way)
{
	if (way == AX_TSV_CALL)
		return AX_F_LOCKED;
	if (way == AX_TSV_ADDED)
		return ax_adds_to(v, &v->adds) ? AX_F_ADDS : AX_F_LOCKED;
	return way >= AX_TSV_UPDATE ? AX_F_AGGREGATES : 0;
}

void ax_settle_tsvs(struct ax_verified *v, const u8 *ways)
{
	struct ax_insn insn = { 0 };

	v->flags &= 0xffff ^ (AX_F_LOCKED | AX_F_AGGREGATES | AX_F_ADDS);
	while (ax_next_reached(v, &insn))
		if (insn.op == AX_OP_setv)
			v->flags |= flag_of_setv(v, ways[insn.operand]);
}
