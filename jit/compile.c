// SPDX-License-Identifier: GPL-2.0-only
/*
 * The compiler: verified bytecode to one function, in three passes over the same code.
 *
 * The first pass finds out how far things are apart at most, the second where they are, the third
 * writes. All three do exactly the same but for the size of jumps and paddings, because every
 * decision depends only on what came before it: jumps go forward, so at an instruction it is known
 * whether anything jumps to it.
 *
 * Example, "p->prio == 200" as GDB sends it, with p in rdi:
 *
 *	reg 5         push: register 5 of the hit            (no code)
 *	zero_ext 64   changes nothing                        (no code)
 *	const8 12     push: 12                               (no code)
 *	add           register 5, plus 12                    (no code)
 *	ref8          mov rax, [rdi + 112]; check; movzx eax, byte [rax + 12]
 *	const8 200    push: 200                              (no code)
 *	equal         cmp eax, 200; push: the flags
 *	end           sete al; movzx eax, al; xor edx, edx; ret
 */
#include "agentexpr/meaning.h"
#include "jit/compile.h"

static bool jump_lands(const struct ax_jit *j, u32 pc)
{
	return j->label[pc].used;
}

/* jit_peek - look at the next instruction; false when others come to it by a jump */
bool jit_peek(struct ax_jit *j, struct ax_insn *insn)
{
	if (j->next >= j->v->len || jump_lands(j, j->next))
		return false;
	return ax_decode(j->v->code, j->v->len, j->next, insn) == AX_OK;
}

/* jit_low_is_enough - the next instruction throws the upper half of the result away */
bool jit_low_is_enough(struct ax_jit *j)
{
	struct ax_insn next;

	return jit_peek(j, &next) && (next.op == AX_OP_ext || next.op == AX_OP_zero_ext) &&
	       next.operand <= 32;
}

/* jit_is_near - is a jump from the instruction being compiled to @est surely short? */
bool jit_is_near(const struct ax_jit *j, u32 est)
{
	/* Actions are several expressions: their estimates have overwritten each other. */
	if (j->req.nitems)
		return false;
	return j->pass != JIT_ESTIMATE && est - j->label[j->insn.pc].est <= 127;
}

static void jump_if(struct ax_jit *j, enum x86_cc cc, u32 pc)
{
	struct jit_label *l = &j->label[pc];

	l->used = true;
	if (jit_is_near(j, l->est))
		x86_jcc_short(&j->b, cc, j->pass == JIT_WRITE ? l->pos : j->b.len + 2);
	else
		x86_jcc(&j->b, cc, l->pos);
}

static void jump(struct ax_jit *j, u32 pc)
{
	struct jit_label *l = &j->label[pc];

	l->used = true;
	if (jit_is_near(j, l->est))
		x86_jmp_short(&j->b, j->pass == JIT_WRITE ? l->pos : j->b.len + 2);
	else
		x86_jmp(&j->b, l->pos);
}

void jit_jcc_slow(struct ax_jit *j, enum x86_cc cc, u32 slow)
{
	const struct jit_slow *s = &j->slow[slow];

	if (jit_is_near(j, s->est))
		x86_jcc_short(&j->b, cc, j->pass == JIT_WRITE ? s->pos : j->b.len + 2);
	else
		x86_jcc(&j->b, cc, s->pos);
}

/* Slow code is numbered by when it is met; what earlier passes found out about it stays. */
u32 jit_slow_add(struct ax_jit *j, struct jit_slow s)
{
	struct jit_slow *slot = &j->slow[j->nslow];

	if (j->pad.on) { /* a pad has one for all */
		j->slow[0].est = j->pad.tail[JIT_PUNT].est;
		j->slow[0].pos = j->pad.tail[JIT_PUNT].pos;
		j->nslow = 1;
		return 0;
	}
	s.est = slot->est;
	s.pos = slot->pos;
	s.pc = j->insn.pc;
	s.op = j->insn.op;
	s.progress = j->progress;
	*slot = s;
	return j->nslow++;
}

/* The top of the stack, or 0; what actions have come to. */
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

static void do_return(struct ax_jit *j)
{
	put_result(j);
	x86_zero(&j->b, X86_RDX);
	if (j->stack_frame)
		x86_leave(&j->b);
	jit_return(j->req.target, &j->b, j->base);
}

/* Bytes of a return as things stand; emitting one changes nothing but the buffer. */
static u32 return_size(struct ax_jit *j)
{
	struct x86_buf real = j->b;
	u32 n;

	j->b.p = NULL;
	do_return(j);
	n = j->b.len - real.len;
	j->b = real;
	return n;
}

/* Jumps are followed this far: enough for what GDB makes, and compile time stays linear. */
enum { FOLLOW_STEPS = 16, FALL_BYTES = 64 };

/*
 * Where does a jump to @pc really lead? Over gotos, and over tests of the constant that is on
 * top.
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

/* Is everything up to @pc dead? Then a jump there is none. */
static bool falls_to(const struct ax_jit *j, u32 pc)
{
	if (pc - j->next > FALL_BYTES)
		return false;
	for (u32 i = j->next; i < pc; i++)
		if (jump_lands(j, i))
			return false;
	return true;
}

/* A comparison that is only in the flags becomes a number. */
static void settle_flags(struct ax_jit *j)
{
	if (j->depth && jit_arg(j, 0)->where == JIT_FLAGS)
		jit_force(j, jit_arg(j, 0));
}

static void leave(struct ax_jit *j)
{
	if (j->pad.on)
		jit_pad_cond_end(j);
	else
		do_return(j);
}

/* The end of an action is not the end of the snippet. */
static void op_end(struct ax_jit *j)
{
	if (!j->req.nitems)
		leave(j);
	while (j->req.nitems && j->depth)
		jit_pop(j);
	j->alive = false;
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
		settle_flags(j);
		jit_canonical(j);
		jump(j, pc);
	}
	j->alive = false;
}

static void op_goto(struct ax_jit *j)
{
	go_to(j, (u32)j->insn.operand);
}

/* Leave the expression when @cc holds, with what is now on top. */
static void return_if(struct ax_jit *j, enum x86_cc cc)
{
	u32 n = return_size(j);

	if (n <= 127)
		x86_jcc_short(&j->b, cc ^ 1, j->b.len + 2 + n);
	else
		x86_jcc(&j->b, cc ^ 1, j->b.len + 6 + n);
	do_return(j);
}

/* False: what is on top would have to be tested first, which is not to be done here. */
static bool leave_if(struct ax_jit *j, enum x86_cc cc)
{
	if (!j->pad.on) {
		return_if(j, cc);
		return true;
	}
	if (!jit_is_const(jit_arg(j, 0)))
		return false;
	jit_pad_cond_jcc(j, cc, jit_arg(j, 0)->imm ? JIT_HELD : JIT_FALSE);
	return true;
}

/* follow() for a conditional jump, which may not change the stack. */
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
	/* Before the jump, for both ways: moves leave the flags alone. */
	jit_canonical(j);
	jump_if(j, cc, pc);
}

/*
 * "if_goto A; goto B; A:" is what GDB makes of && and ||: one jump, to B, on the opposite
 * condition.
 */
static void op_if_goto(struct ax_jit *j)
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

/* struct emitter - @flags: takes a comparison on top as flags, without having it made a number */
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
	[AX_OP_if_goto] = { op_if_goto, .flags = true },
	[AX_OP_goto] = { op_goto, .flags = true },
	[AX_OP_end] = { op_end, .flags = true },
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

/* Jumps come here: the values must be where the jumps have put them. */
static void join(struct ax_jit *j)
{
	j->held = 0;
	if (j->alive) {
		settle_flags(j);
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
	if (j->pass == JIT_ESTIMATE)
		l->est = j->b.len;
	else
		l->pos = j->b.len;
	j->held = 0;
	if (!e->flags)
		settle_flags(j);
	j->held = ax_op_info[j->insn.op].pops;
	e->emit(j);
}

static void prologue(struct ax_jit *j)
{
	if (j->req.target->endbr)
		x86_endbr64(&j->b);
	if (!j->stack_frame)
		return;
	x86_push(&j->b, X86_RBP);
	x86_mov(&j->b, X86_RBP, X86_RSP);
	if (j->stack_slots)
		x86_alu_imm(&j->b, X86_SUB, X86_64, X86_RSP, (s32)(8 * j->stack_slots));
}

/* jit_expr - one expression, from its beginning to its end, on an empty stack */
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

void jit_begin_pass(struct ax_jit *j, enum jit_pass pass)
{
	j->pass = pass;
	j->b.len = 0;
	j->nslow = 0;
	jit_after_join(j, 0);
}

static void run_pass(struct ax_jit *j, enum jit_pass pass)
{
	jit_begin_pass(j, pass);
	prologue(j);
	if (j->req.nitems) {
		jit_actions(j);
		do_return(j);
	} else {
		jit_expr(j, j->req.v);
	}
	jit_slow_paths(j);
}

static const struct ax_verified *nth_expr(const struct ax_jit_request *req, u32 i)
{
	if (!req->nitems)
		return req->v;
	return req->items[i].kind == AX_JIT_EXPR ? req->items[i].v : NULL;
}

/* Labels for the longest expression, slow code for each instruction and each action. */
static void work_counts(const struct ax_jit_request *req, size_t *labels, size_t *slow)
{
	*labels = 0;
	*slow = req->nitems;
	for (u32 i = 0; i < (req->nitems ? req->nitems : 1); i++) {
		const struct ax_verified *v = nth_expr(req, i);

		if (!v)
			continue;
		*slow += v->ninsns;
		if (v->len > *labels)
			*labels = v->len;
	}
}

/* The slow code's table lies behind the labels. */
static size_t slow_offset(const struct ax_jit_request *req)
{
	size_t labels, slow;

	work_counts(req, &labels, &slow);
	return (offsetof(struct ax_jit, label) + labels * sizeof(struct jit_label) + 7) & ~7UL;
}

size_t ax_jit_work_size(const struct ax_jit_request *req)
{
	size_t labels, slow;

	work_counts(req, &labels, &slow);
	return slow_offset(req) + slow * sizeof(struct jit_slow);
}

static void choose_order(struct ax_jit *j, u32 seed)
{
	/* Those with short encodings first; the result belongs in rax. JIT_RECORD is the last. */
	static const u8 best[JIT_NR_ALLOC] = {
		X86_RAX, X86_RDX, X86_RCX, X86_R8, X86_R9, X86_R10, X86_R11,
	};

	j->nalloc = j->req.nitems ? JIT_NR_ALLOC - 1 : JIT_NR_ALLOC;
	for (u32 i = 0; i < j->nalloc; i++) {
		u32 from = (i + seed) % j->nalloc;

		j->order[i] = best[seed / j->nalloc % 2 ? j->nalloc - 1 - from : from];
	}
}

/* jit_begin - an empty compilation */
void jit_begin(struct ax_jit *j, const struct ax_jit_request *req)
{
	memset(j, 0, ax_jit_work_size(req));
	j->req = *req;
	j->slow = (struct jit_slow *)((char *)j + slow_offset(req));
}

u32 ax_jit_plan(struct ax_jit *j, const struct ax_jit_request *req)
{
	jit_begin(j, req);
	choose_order(j, req->seed);
	j->stack_frame = true;
	run_pass(j, JIT_ESTIMATE);
	if (j->unsuitable)
		return 0;
	j->stack_slots = (j->stack_met + 1) & ~1U; /* calls want rsp on 16 bytes */
	j->stack_frame = j->calls || j->stack_met;
	run_pass(j, JIT_PLACE);
	j->planned = j->b.len;
	return j->planned;
}

u32 ax_jit_frame_bytes(const struct ax_jit *j)
{
	return j->record_used;
}

int ax_jit_emit(struct ax_jit *j, u64 base, u8 *buf, u32 size)
{
	if (size < j->planned)
		return -ENOSPC;
	j->base = base;
	j->b = (struct x86_buf){ .p = buf, .size = size };
	run_pass(j, JIT_WRITE);
	/* The bytecode is verified and the room is there: what is left is the reach of a call. */
	return j->b.failed || j->b.len != j->planned ? -ERANGE : 0;
}
