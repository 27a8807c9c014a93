// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jump pads: the code that runs between a probed place and the instruction after it.
 *
 *	push rax; lahf; seto al; push rdx	what the condition overwrites
 *	mov rdx, gs:[task]; cmp [rdx + n], mark; jae nested; add [rdx + n], mark	with loads
 *	...					the condition
 *	jcc held
 *	mov rdx, gs:[task]; sub [rdx + n], mark
 *	pop rdx; add al, 127; sahf; pop rax	the common case: false
 * displaced:
 *	...
 *	jmp back
 * held:
 *	mov rdx, gs:[task]; sub [rdx + n], mark
 *	pop rdx; add al, 127; sahf; pop rax
 *	push number
 * call:
 *	call pad_hit
 *	popfq
 *	jmp displaced
 * punt:
 *	mov rdx, gs:[task]; sub [rdx + n], mark
 * nested:
 *	pop rdx; add al, 127; sahf; pop rax
 *	push another number
 *	jmp call
 *
 * A pad that writes frames by itself has the code of pad/frame.c before "push number": it ends with
 * "jmp displaced" if the frame is written, and otherwise goes on at "push number".
 *
 * In the chain of a place with several tracepoints, only the last pad has the displaced
 * instructions. The others have a jump to the next pad in their place, and after the popfq a jump
 * to the displaced instructions of the last.
 *
 * A pad that may follow calls has "jc framed gate; jz bare gate" after the popfq.
 */
#include "jit/compile.h"
#include "jit/copy.h"
#include "jit/expr.h"
#include "jit/flow.h"
#include "jit/ops_call.h"
#include "pad/cond.h"
#include "pad/frame.h"
#include "pad/pad.h"

enum {
	TRIES = 8, /* each try may find more registers to push; real conditions need two tries */
};

/*
 * True if a condition may use the variable. A pad runs with preemption on, so the task may move to
 * another CPU before C runs. A condition must not depend on the CPU on which it was evaluated.
 */
static bool stays(const struct ax_jit_var *var)
{
	return var && !var->moves;
}

/*
 * True if a condition may use all variables that it names. Variables of tasks may even be set: the
 * pad leaves the hit to C instead.
 */
static bool can_use(const struct ax_verified *cond, const struct ax_jit_target *target,
		    const u8 *ways)
{
	struct ax_insn insn = { 0 };

	while (ax_next_reached(cond, &insn)) {
		bool of_task = (insn.op == AX_OP_getv || insn.op == AX_OP_setv) && ways &&
			       ways[insn.operand] == AX_TSV_TASK && target->task &&
			       target->tasks_used;

		if (insn.op == AX_OP_setv && !of_task)
			return false;
		if (insn.op == AX_OP_getv && !of_task && !stays(jit_var(target, insn.operand)))
			return false;
	}
	return true;
}

/*
 * Decide whether a pad can evaluate a condition. Up to the point where the pad leaves the hit to C,
 * it has no effects (it sets and collects nothing), so C may evaluate the condition again.
 */
bool gtp_pad_can(const struct ax_verified *cond, const struct ax_jit_target *target, const u8 *ways)
{
	const u32 variables = AX_F_GETS_TSV | AX_F_SETS_TSV;
	u64 known = BIT_ULL(X86_NR_REGS) - 1;

	known |= BIT_ULL(GTP_REG_PC);
	if (cond->flags & ~(AX_F_READS_MEM | variables) || cond->regs_used & ~known)
		return false;
	return !(cond->flags & variables) || can_use(cond, target, ways);
}

/*
 * Return @addr in the last pass. Before that, when the code's address is not known yet, return an
 * address that is in reach.
 */
static u64 reach(const struct ax_jit *j, u64 addr)
{
	return j->pass == JIT_WRITE ? addr : j->base;
}

/*
 * Push the pad's number, below the red zone if there is one. The processor sign-extends the 32-bit
 * immediate to 64 bits. The number is below 2^30, so C reads it unchanged.
 */
static void push_number(struct ax_jit *j, bool held)
{
	gtp_pad_cond_move_rsp(j, -j->req.target->red_zone);
	x86_push_imm(&j->b, (s32)(j->pad.number << 1 | (held ? GTP_PAD_HELD : 0)));
}

/*
 * Emit a direct call of pad_hit: it needs neither a retpoline nor an endbr64, and changes no
 * register. pad_hit puts the hit's flags in the place of the number. popfq must be the first
 * instruction after the call: it restores the interrupt flag too, which C has cleared, and the
 * pad's own code must not change the flags after it. In a process pad_hit leaves the other flags as
 * they were, so if the arithmetic flags are dead, the pad saves the time of a popfq.
 */
static void call_hit(struct ax_jit *j)
{
	const s32 red_zone = j->req.target->red_zone;
	const struct gtp_region *region = j->pad.region;

	x86_call_far(&j->b, j->base, reach(j, j->req.target->pad_hit));
	if (red_zone && region && region->flags_dead && !j->pad.keep_flags) {
		gtp_pad_cond_move_rsp(j, red_zone + 8);
		return;
	}
	x86_popfq(&j->b); /* the flags, which pad_hit has put in the number's place */
	gtp_pad_cond_move_rsp(j, red_zone);
}

/*
 * Emit the branches to the gates, which call the rest of the function. No register is free at a
 * function's first instruction, but the arithmetic flags are dead (psABI 3.2.1). So pad_hit returns
 * the place to continue at in the carry and zero flags.
 */
static void go_to_gates(struct ax_jit *j)
{
	const struct gtp_pad_gates *gates = j->pad.gates;

	if (!gates)
		return;
	x86_jcc_far(&j->b, j->base, X86_CC_B, reach(j, gates->framed));
	x86_jcc_far(&j->b, j->base, X86_CC_E, reach(j, gates->bare));
}

/* True if there is a next pad in the chain. */
static bool is_followed(const struct ax_jit *j)
{
	return j->pad.chain && j->pad.chain->next;
}

/*
 * Report the offset of the displaced instructions to the gates and to the chain, in the last pass;
 * earlier passes have only estimates. Emit nothing between this and the first displaced
 * instruction.
 */
static void note_rest(const struct ax_jit *j)
{
	if (j->pass != JIT_WRITE)
		return;
	if (j->pad.gates)
		j->pad.gates->rest = j->b.len;
	if (j->pad.chain)
		j->pad.chain->rest = j->b.len;
}

/*
 * Emit the displaced instructions. The copies are in one piece and in order: a task that trapped at
 * one of our int3s resumes at the copy of that instruction (probe/jump/jump_arm.c mark()), and runs
 * from there to the jump back. A pad that is called has displaced nothing, and returns to the site.
 */
static void displaced(struct ax_jit *j)
{
	const struct gtp_region *region = j->pad.region;
	bool failed = j->b.failed;

	if (is_followed(j)) {
		x86_jmp_far(&j->b, j->base, reach(j, j->pad.chain->next));
		return;
	}
	note_rest(j);
	if (region)
		gtp_copy_emit(&j->b, j->base, j->req.target, region, j->req.pc + j->pad.skip,
			      j->pad.copies);
	else
		jit_return(j->req.target, &j->b, j->base);
	if (j->pass == JIT_WRITE)
		return;
	j->b.failed = failed; /* @j->base is not known yet, so "out of reach" means nothing */
	/* Each copy may need a nop before it, depending on its address. */
	if (j->pass == JIT_ESTIMATE && region)
		j->b.len += region->n;
}

/* Emit a jump to the displaced instructions: to @to, or into the last pad of the chain. */
static void go_on(struct ax_jit *j, u32 to)
{
	if (is_followed(j))
		x86_jmp_far(&j->b, j->base, reach(j, j->pad.chain->after));
	else
		jit_jmp_back(j, to);
}

/* Emit a call of C for a hit whose condition holds, and a jump to @to after the call. */
static void hit(struct ax_jit *j, u32 to, u32 *call)
{
	if (j->pad.held) {
		x86_jmp_far(&j->b, j->base, reach(j, j->pad.held));
		return;
	}
	push_number(j, true);
	*call = j->b.len;
	call_hit(j);
	go_to_gates(j);
	go_on(j, to);
}

/*
 * Emit the exit of an event's pad to C, a jump with all registers as they were. Return false if
 * this is not the pad of a kernel tracepoint.
 */
static bool leave_open(struct ax_jit *j)
{
	if (!j->pad.open)
		return false;
	x86_jmp_far(&j->b, j->base, reach(j, j->pad.open));
	return true;
}

/* Emit the call of C for a hit whose condition C has to evaluate. */
static void hit_open(struct ax_jit *j, u32 call)
{
	if (leave_open(j))
		return;
	push_number(j, false);
	jit_jmp_back(j, call);
}

/*
 * Emit the code after the displaced instructions, off the common path. Jumps to JIT_HELD come with
 * the task marked by this pad, and so do those to JIT_PUNT, after a fault or at an address that
 * needs a careful read. Jumps to JIT_NESTED come from the test that finds a mark, so this pad has
 * set none. Each path must remove exactly the mark that it has set: a mark that stays would disable
 * page faults in the task for good.
 */
static void hits(struct ax_jit *j, u32 to)
{
	u32 call = 0;

	jit_mark(j, &j->pad.tail[JIT_HELD]);
	gtp_pad_cond_unmark(j);
	gtp_pad_cond_leave(j);
	if (j->frame) {
		gtp_pad_frame_write(j);
		if (is_followed(j))
			displaced(j);
		else
			jit_jmp_back(j, to);
		gtp_pad_frame_give_up(j);
	}
	hit(j, to, &call);
	jit_mark(j, &j->pad.tail[JIT_PUNT]);
	if (j->nslow)
		gtp_pad_cond_unmark(j);
	jit_mark(j, &j->pad.tail[JIT_NESTED]);
	if (!j->nslow && j->pad.marker == X86_NO_REG)
		return;
	gtp_pad_cond_leave(j);
	hit_open(j, call);
}

/*
 * Emit a pad that calls C for every hit, without GTP_PAD_HELD, so that C evaluates the condition if
 * there is one.
 */
static void without_condition(struct ax_jit *j)
{
	push_number(j, false);
	call_hit(j);
	go_to_gates(j);
	if (is_followed(j))
		go_on(j, 0);
	else
		displaced(j);
}

static void without_condition_with_frame(struct ax_jit *j)
{
	u32 to;

	gtp_pad_frame_write(j);
	to = j->b.len;
	displaced(j);
	gtp_pad_frame_give_up(j);
	if (leave_open(j))
		return;
	push_number(j, false);
	call_hit(j);
	go_on(j, to);
}

/*
 * Emit the whole pad. All passes emit the same instructions: only sizes of jumps and of padding
 * differ. So no decision here may depend on an offset. A pad with @held is entered by an indirect
 * jump, which needs an endbr64 (SDM 1, "Indirect Branch Tracking").
 */
static void run_pass(struct ax_jit *j, enum jit_pass pass)
{
	u32 to;

	jit_begin_pass(j, pass);
	if (j->pad.held && j->req.target->endbr)
		x86_endbr64(&j->b);
	if (!j->pad.on) {
		if (j->frame)
			without_condition_with_frame(j);
		else
			without_condition(j);
		return;
	}
	gtp_pad_cond_enter(j);
	jit_expr(j, j->req.v);
	jit_mark(j, &j->pad.tail[JIT_FALSE]);
	gtp_pad_cond_unmark(j);
	gtp_pad_cond_leave(j);
	to = j->b.len;
	displaced(j);
	hits(j, to);
}

static struct ax_jit_request jit_request(const struct gtp_pad_request *req)
{
	return (struct ax_jit_request){
		.v = req->cond,
		.target = req->target,
		.pc = req->at,
		.ways = req->ways,
		.seed = req->seed,
	};
}

/* Return the size of a pad's state. The state of the frame's compilation follows it in memory. */
static size_t pad_work_size(const struct ax_jit_request *r)
{
	return (ax_jit_work_size(r) + 7) & ~(size_t)7;
}

size_t gtp_pad_work_size(const struct gtp_pad_request *req)
{
	struct ax_jit_request r = jit_request(req);

	return pad_work_size(&r) + gtp_pad_frame_size(req);
}

/*
 * Compile until no further register has to be pushed; return false if TRIES tries do not suffice.
 */
static bool try_condition(struct ax_jit *j)
{
	gtp_pad_cond_begin(j);
	for (u32 i = 0; i < TRIES && gtp_pad_cond_choose(j); i++) {
		j->b.failed = false;
		run_pass(j, JIT_ESTIMATE);
	}
	return !j->unsuitable && !gtp_pad_cond_choose(j) && !j->b.failed;
}

/*
 * Plan the frame first, because each try of the condition emits the whole pad, the frame included.
 */
u32 gtp_pad_plan(struct ax_jit *j, const struct gtp_pad_request *req)
{
	struct ax_jit_request r = jit_request(req);

	jit_begin(j, &r, run_pass);
	j->pad.region = req->region;
	j->pad.skip = req->skip;
	j->pad.number = req->number;
	j->pad.keep_flags = req->keep_flags;
	j->pad.copies = req->copies;
	j->pad.held = req->held;
	j->pad.open = req->open;
	j->pad.gates = req->gates;
	j->pad.chain = req->chain;
	if (req->region && !gtp_copy_can(req->region))
		return 0;
	if (req->frame) {
		j->frame = (struct ax_jit *)((char *)j + pad_work_size(&r));
		if (!gtp_pad_frame_plan(j->frame, req))
			return 0;
	}
	if (req->cond && (!gtp_pad_can(req->cond, req->target, req->ways) || !try_condition(j)))
		return 0;
	run_pass(j, JIT_PLACE);
	j->planned = j->b.failed ? 0 : j->b.len;
	return j->planned;
}
