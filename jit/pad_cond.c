// SPDX-License-Identifier: GPL-2.0-only
/*
 * The compiler in a jump pad: the hit's registers are still in the machine.
 *
 * Registers that the condition reads are used where they are and never written. It computes in
 * others, which are pushed before and popped after; which ones is found out by compiling: a try
 * that overwrites a register which was not pushed is followed by another that pushes it. The same
 * goes for a register that is read and that an instruction insists to overwrite (the operands of a
 * division): then it is pushed and read from the stack.
 *
 * rsp stays put between the pushes and the pops, so all of this is at known distances from it:
 *
 *	rsp + 8 * slot                       values that are in no register
 *	rsp + 8 * (words - pos)              registers, pos counted from the first push
 *	rsp + 8 * words                      what was rsp
 *
 * A load may fault, and the kernel's way through a fault may hit this very pad again, which would
 * then fault again, and so on. So a task that is in a condition with loads is marked, by a large
 * number in its count of disabled page faults, which others only compare with zero; it goes along
 * when the task is preempted. Whoever finds the mark set (the handling of a fault, an interrupt)
 * leaves the condition to C code, which knows whether it is in a hit already.
 *
 * The arithmetic flags wait in rax, or on the stack if rax is needed; where nobody will look at
 * them they are not kept.
 */
#include "jit/compile.h"

enum {
	STACK_SLOTS_MAX = 24, /* more stack than that is not to be taken without a notice */
};

/* jit_pad_reg - the machine's number of GDB's register @n, which is none beyond r15 */
enum x86_reg jit_pad_reg(u32 n)
{
	static const u8 reg[] = {
		X86_RAX, X86_RBX, X86_RCX, X86_RDX, X86_RSI, X86_RDI, X86_RBP, X86_RSP,
	};

	return n < ARRAY_SIZE(reg) ? reg[n] : n;
}

static bool has(u16 set, enum x86_reg reg)
{
	return set >> reg & 1;
}

static bool flags_in_rax(const struct ax_jit *j)
{
	return j->pad.flags && j->req.target->lahf;
}

static enum x86_reg nth_best(const struct ax_jit *j, u32 i)
{
	/* Short encodings first; the frame pointer last, somebody may want to walk the stack. */
	static const u8 best[] = {
		X86_RAX, X86_RDX, X86_RCX, X86_RSI, X86_RDI, X86_R8, X86_R9, X86_R10, X86_R11,
		X86_RBX, X86_R12, X86_R13, X86_R14, X86_R15, X86_RBP,
	};
	u32 n = ARRAY_SIZE(best), from = (i + j->req.seed) % n;

	return best[j->req.seed / n % 2 ? n - 1 - from : from];
}

enum { NR_BEST = X86_NR_REGS - 1 };

/* What the condition does not read: it is pushed, and values may share it. */
static void choose_marker(struct ax_jit *j)
{
	struct jit_pad *l = &j->pad;
	u16 no = l->read | (flags_in_rax(j) ? 1U << X86_RAX : 0);

	l->marker = X86_NO_REG;
	if (!j->req.target->task || !(j->req.v->flags & AX_F_READS_MEM))
		return;
	for (u32 i = 0; i < NR_BEST && l->marker == X86_NO_REG; i++)
		if (!has(no, nth_best(j, i)))
			l->marker = nth_best(j, i);
	if (l->marker == X86_NO_REG)
		j->unsuitable = true;
	else
		l->wanted |= (u16)(1U << l->marker);
}

/* jit_pad_cond_begin - before the first try */
void jit_pad_cond_begin(struct ax_jit *j)
{
	const struct gtp_pad_request *pad = &j->pad.req;

	j->pad.on = true;
	/* At a function's entry nobody looks at them: they are no argument. */
	j->pad.flags = pad->keep_flags || (pad->region && !pad->region->flags_dead);
	for (u32 n = 0; n < X86_NR_REGS; n++)
		if (j->req.v->regs_used >> n & 1)
			j->pad.read |= (u16)(1U << jit_pad_reg(n));
	choose_marker(j);
}

static void may_use(struct ax_jit *j, enum x86_reg reg)
{
	if (j->nalloc == JIT_NR_ALLOC || has(j->pad.usable, reg))
		return;
	j->pad.usable |= (u16)(1U << reg);
	j->order[j->nalloc++] = reg;
}

/*
 * What has to be pushed anyway is the best place for values; then what the condition does not read,
 * and if that is not enough, the rest.
 */
static void choose_order(struct ax_jit *j)
{
	struct jit_pad *l = &j->pad;
	u16 no = l->read | (flags_in_rax(j) ? 1U << X86_RAX : 0);

	j->nalloc = 0;
	l->usable = 0;
	for (u32 i = 0; i < NR_BEST; i++)
		if (has(l->wanted, nth_best(j, i)))
			may_use(j, nth_best(j, i));
	for (u32 i = 0; i < NR_BEST; i++)
		if (!has(no, nth_best(j, i)))
			may_use(j, nth_best(j, i));
	for (u32 i = 0; i < NR_BEST; i++)
		may_use(j, nth_best(j, i));
	l->wanted |= l->usable & no;
}

static void save(struct jit_pad *l, enum x86_reg reg)
{
	l->save[l->nsave++] = reg;
	l->words++;
	l->pos[reg] = (u8)l->words;
}

static void choose_saved(struct ax_jit *j)
{
	struct jit_pad *l = &j->pad;

	l->nsave = 0;
	l->words = 0;
	memset(l->pos, 0, sizeof(l->pos));
	if (flags_in_rax(j))
		save(l, X86_RAX);
	if (l->flags && (!flags_in_rax(j) || has(l->wanted, X86_RAX)))
		l->words++;
	for (u32 r = 0; r < X86_NR_REGS; r++)
		if (has(l->wanted, r) && !l->pos[r])
			save(l, r);
	l->words += j->stack_slots;
}

/*
 * jit_pad_cond_choose - what is pushed, and where values go, by what tries so far have met
 *
 * Return: false when the last try was right.
 */
bool jit_pad_cond_choose(struct ax_jit *j)
{
	struct jit_pad *l = &j->pad;

	if (l->usable && !(l->touched & ~l->wanted) && j->stack_met <= j->stack_slots)
		return false;
	l->wanted |= l->touched;
	if (j->stack_met > STACK_SLOTS_MAX) {
		j->unsuitable = true;
		return false;
	}
	j->stack_slots = j->stack_met;
	choose_order(j);
	choose_saved(j);
	return true;
}

/* jit_pad_pin - all but the usable registers belong to the hit */
void jit_pad_pin(struct ax_jit *j)
{
	for (u32 r = 0; j->pad.on && r < X86_NR_REGS; r++)
		j->regs[r] = !has(j->pad.usable, r);
}

/* jit_pad_val - a register of the hit that is in the machine */
struct jit_val jit_pad_val(struct ax_jit *j, enum x86_reg reg)
{
	struct jit_val v = jit_in_reg(reg);

	/* From a pad that is called the return address is on the stack, too. */
	if (reg == X86_RSP)
		v.imm = 8 * (s64)j->pad.words + (j->pad.req.region ? 0 : 8);
	jit_ref(j, &v);
	return v;
}

/* jit_pad_saved - one that has been pushed */
struct x86_mem jit_pad_saved(const struct ax_jit *j, enum x86_reg reg)
{
	return x86_at(X86_RSP, 8 * (s32)(j->pad.words - j->pad.pos[reg]));
}

static void move_rsp(struct ax_jit *j, s32 by)
{
	if (by)
		x86_lea(&j->b, X86_64, X86_RSP, x86_at(X86_RSP, by));
}

static struct x86_mem mark_of(struct ax_jit *j)
{
	x86_load_gs(&j->b, j->pad.marker, j->req.target->task);
	return x86_at(j->pad.marker, j->req.target->task_faults);
}

static void mark(struct ax_jit *j)
{
	struct x86_mem m = mark_of(j);

	x86_alu_mem_imm(&j->b, X86_CMP, X86_32, m, AX_JIT_MARK);
	x86_jcc(&j->b, X86_CC_AE, j->pad.tail[JIT_NESTED].pos);
	x86_alu_mem_imm(&j->b, X86_ADD, X86_32, m, AX_JIT_MARK);
}

/* jit_pad_cond_unmark - values are not needed any more */
void jit_pad_cond_unmark(struct ax_jit *j)
{
	if (j->pad.marker != X86_NO_REG)
		x86_alu_mem_imm(&j->b, X86_SUB, X86_32, mark_of(j), AX_JIT_MARK);
}

/* jit_pad_cond_enter - everything away that the condition will overwrite */
void jit_pad_cond_enter(struct ax_jit *j)
{
	const struct jit_pad *l = &j->pad;
	u32 i = 0;

	if (flags_in_rax(j)) {
		x86_push(&j->b, l->save[i++]);
		x86_flags_to_rax(&j->b);
		if (has(l->wanted, X86_RAX))
			x86_push(&j->b, X86_RAX);
	} else if (l->flags) {
		x86_pushfq(&j->b);
	}
	for (; i < l->nsave; i++)
		x86_push(&j->b, l->save[i]);
	move_rsp(j, -8 * (s32)j->stack_slots);
	if (l->marker != X86_NO_REG)
		mark(j);
}

/* jit_pad_cond_leave - and back: registers, flags and rsp are the hit's */
void jit_pad_cond_leave(struct ax_jit *j)
{
	const struct jit_pad *l = &j->pad;
	u32 first = flags_in_rax(j) ? 1 : 0, i = l->nsave;

	move_rsp(j, 8 * (s32)j->stack_slots);
	while (i > first)
		x86_pop(&j->b, l->save[--i]);
	if (flags_in_rax(j)) {
		if (has(l->wanted, X86_RAX))
			x86_pop(&j->b, X86_RAX);
		x86_flags_from_rax(&j->b);
		x86_pop(&j->b, X86_RAX);
	} else if (l->flags) {
		x86_popfq(&j->b);
	}
}

/* jit_pad_cond_mark - this is where a way out begins */
void jit_pad_cond_mark(struct ax_jit *j, enum jit_tail tail)
{
	if (j->pass == JIT_ESTIMATE)
		j->pad.tail[tail].est = j->b.len;
	else
		j->pad.tail[tail].pos = j->b.len;
}

void jit_pad_cond_jcc(struct ax_jit *j, enum x86_cc cc, enum jit_tail tail)
{
	const struct jit_label *l = &j->pad.tail[tail];

	if (jit_is_near(j, l->est))
		x86_jcc_short(&j->b, cc, j->pass == JIT_WRITE ? l->pos : j->b.len + 2);
	else
		x86_jcc(&j->b, cc, l->pos);
}

static void jump(struct ax_jit *j, enum jit_tail tail)
{
	const struct jit_label *l = &j->pad.tail[tail];

	if (jit_is_near(j, l->est))
		x86_jmp_short(&j->b, j->pass == JIT_WRITE ? l->pos : j->b.len + 2);
	else
		x86_jmp(&j->b, l->pos);
}

/* jit_pad_cond_end - the condition's value is on top: to the way out that it says */
void jit_pad_cond_end(struct ax_jit *j)
{
	struct jit_val *top = jit_arg(j, 0);
	bool last = j->next >= j->v->len; /* then what comes is the way out of the false */

	j->held = 1;
	if (jit_is_const(top) && top->imm) {
		jump(j, JIT_HELD);
		return;
	}
	if (!jit_is_const(top))
		jit_pad_cond_jcc(j, jit_test(j, top), JIT_HELD);
	if (!last)
		jump(j, JIT_FALSE);
}
