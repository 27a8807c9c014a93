// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compiles a condition into a jump pad, which evaluates it while the hit's registers are still in
 * the processor.
 *
 * Registers that the condition reads are used in place and never written. The condition computes in
 * other registers, which are pushed before and popped afterwards. Compiling finds out which
 * registers these are: after a try that overwrites a register that was not pushed, another try
 * pushes it. If the condition reads a register that an instruction must overwrite (rax and rdx in a
 * division), the register is pushed too, and read from the stack.
 *
 * rsp does not move between the pushes and the pops, so the following are at known offsets from
 * rsp:
 *
 *	rsp + 8 * slot                       values that are in no register
 *	rsp + 8 * (words - pos)              registers, pos counted from the first push
 *	rsp + 8 * words                      the hit's rsp; more by the red zone, if there is one
 *
 * A load may fault, and while the kernel handles the fault, it may hit this pad again, which would
 * fault again, and so on. So a condition with loads marks its task: it adds a large number to the
 * task's count of disabled page faults, which the kernel only compares with zero. The mark stays
 * with the task when it is preempted. If a pad finds the mark set already (while a fault is
 * handled, or in an interrupt), it calls C, which detects nested hits.
 *
 * The arithmetic flags are kept in rax, or on the stack if rax is needed. Flags that are dead at
 * the place are not kept.
 */
#include "jit/flow.h"
#include "jit/values.h"
#include "pad/cond.h"
#include "pad/request.h"
#include "regions/region.h"

enum {
	STACK_SLOTS_MAX = 24, /* few, because a pad runs on the interrupted code's stack */
};

static bool has(u16 set, enum x86_reg reg)
{
	return set >> reg & 1;
}

static bool flags_in_rax(const struct ax_jit *j)
{
	/*
	 * lahf does not save the interrupt flag, which the pad of a frame changes in the kernel,
	 * and which a frame's flags include.
	 */
	if (j->pad.frame && (!j->pad.frame->parts || j->pad.keep_flags))
		return false;
	return j->pad.flags && j->req.target->lahf;
}

static enum x86_reg nth_best(const struct ax_jit *j, u32 i)
{
	/*
	 * The order of preference: registers with short encodings come first, and the frame pointer
	 * last, because unwinders need it.
	 */
	static const u8 best[] = {
		X86_RAX, X86_RDX, X86_RCX, X86_RSI, X86_RDI, X86_R8,  X86_R9,  X86_R10,
		X86_R11, X86_RBX, X86_R12, X86_R13, X86_R14, X86_R15, X86_RBP,
	};
	u32 n = ARRAY_SIZE(best), from = (i + j->req.seed) % n;

	return best[j->req.seed / n % 2 ? n - 1 - from : from];
}

enum { NR_BEST = X86_NR_REGS - 1 };

/*
 * Choose the marker, the register through which the pad marks the task: one that the condition does
 * not read. The marker is pushed, and may also hold values.
 */
static void choose_marker(struct ax_jit *j)
{
	struct jit_pad *p = &j->pad;
	u16 no = p->read | (flags_in_rax(j) ? 1U << X86_RAX : 0);

	p->marker = X86_NO_REG;
	if (!j->req.target->task || !(j->req.v->flags & AX_F_READS_MEM))
		return;
	for (u32 i = 0; i < NR_BEST && p->marker == X86_NO_REG; i++)
		if (!has(no, nth_best(j, i)))
			p->marker = nth_best(j, i);
	if (p->marker == X86_NO_REG)
		j->unsuitable = true;
	else
		p->wanted |= (u16)(1U << p->marker);
}

void gtp_pad_cond_begin(struct ax_jit *j)
{
	const struct gtp_region *region = j->pad.region;

	j->pad.on = true;
	/* At a function's entry the flags are dead: no argument is passed in them. */
	j->pad.flags = j->pad.keep_flags || (region && !region->flags_dead);
	for (u32 n = 0; n < X86_NR_REGS; n++)
		if (j->req.v->regs_used >> n & 1)
			j->pad.read |= (u16)(1U << jit_machine_reg(n));
	choose_marker(j);
}

void gtp_pad_cond_begin_frame(struct ax_jit *j, u16 values, u16 fixed)
{
	const struct gtp_region *region = j->pad.region;

	j->pad.on = true;
	/* In the kernel the pad changes the interrupt flag, so that it always keeps the flags. */
	j->pad.flags = !j->pad.frame->parts || j->pad.keep_flags || (region && !region->flags_dead);
	j->pad.marker = X86_NO_REG;
	j->pad.wanted = values | fixed;
	j->pad.fixed = fixed;
}

static void may_use(struct ax_jit *j, enum x86_reg reg)
{
	if (j->nalloc == JIT_NR_ALLOC || has(j->pad.usable | j->pad.fixed, reg))
		return;
	j->pad.usable |= (u16)(1U << reg);
	j->order[j->nalloc++] = reg;
}

/*
 * Choose the order in which registers are used for values: those that must be pushed anyway are
 * best, next come those that the condition does not read, then the rest.
 */
static void choose_order(struct ax_jit *j)
{
	struct jit_pad *p = &j->pad;
	u16 no = p->read | (flags_in_rax(j) ? 1U << X86_RAX : 0);

	j->nalloc = 0;
	p->usable = 0;
	for (u32 i = 0; i < NR_BEST; i++)
		if (has(p->wanted, nth_best(j, i)))
			may_use(j, nth_best(j, i));
	for (u32 i = 0; i < NR_BEST; i++)
		if (!has(no, nth_best(j, i)))
			may_use(j, nth_best(j, i));
	for (u32 i = 0; i < NR_BEST; i++)
		may_use(j, nth_best(j, i));
	p->wanted |= p->usable & no;
}

static void save(struct jit_pad *p, enum x86_reg reg)
{
	p->save[p->nsave++] = reg;
	p->words++;
	p->pos[reg] = (u8)p->words;
}

static void choose_saved(struct ax_jit *j)
{
	struct jit_pad *p = &j->pad;

	p->nsave = 0;
	p->words = 0;
	memset(p->pos, 0, sizeof(p->pos));
	if (flags_in_rax(j))
		save(p, X86_RAX);
	if (p->flags && (!flags_in_rax(j) || has(p->wanted, X86_RAX)))
		p->words++;
	for (u32 r = 0; r < X86_NR_REGS; r++)
		if (has(p->wanted, r) && !p->pos[r])
			save(p, r);
	p->words += j->stack_slots;
}

bool gtp_pad_cond_choose(struct ax_jit *j)
{
	struct jit_pad *p = &j->pad;

	if (p->usable && !(p->touched & ~p->wanted) && j->stack_met <= j->stack_slots)
		return false;
	p->wanted |= p->touched;
	if (j->stack_met > STACK_SLOTS_MAX) {
		j->unsuitable = true;
		return false;
	}
	j->stack_slots = j->stack_met;
	choose_order(j);
	choose_saved(j);
	return true;
}

void gtp_pad_cond_move_rsp(struct ax_jit *j, s32 by)
{
	if (by)
		x86_lea(&j->b, X86_64, X86_RSP, x86_at(X86_RSP, by));
}

static struct x86_mem mark_of(struct ax_jit *j)
{
	x86_load_gs(&j->b, j->pad.marker, j->req.target->task, 8);
	return x86_at(j->pad.marker, j->req.target->task_faults);
}

static void mark(struct ax_jit *j)
{
	struct x86_mem m = mark_of(j);

	x86_alu_mem_imm(&j->b, X86_CMP, X86_32, m, AX_JIT_MARK);
	x86_jcc(&j->b, X86_CC_AE, j->pad.tail[JIT_NESTED].pos);
	x86_alu_mem_imm(&j->b, X86_ADD, X86_32, m, AX_JIT_MARK);
}

void gtp_pad_cond_unmark(struct ax_jit *j)
{
	if (j->pad.marker != X86_NO_REG)
		x86_alu_mem_imm(&j->b, X86_SUB, X86_32, mark_of(j), AX_JIT_MARK);
}

void gtp_pad_cond_enter(struct ax_jit *j)
{
	const struct jit_pad *p = &j->pad;
	u32 i = 0;

	if (p->words)
		gtp_pad_cond_move_rsp(j, -j->req.target->red_zone);
	if (flags_in_rax(j)) {
		x86_push(&j->b, p->save[i++]);
		x86_flags_to_rax(&j->b);
		if (has(p->wanted, X86_RAX))
			x86_push(&j->b, X86_RAX);
	} else if (p->flags) {
		x86_pushfq(&j->b);
	}
	for (; i < p->nsave; i++)
		x86_push(&j->b, p->save[i]);
	gtp_pad_cond_move_rsp(j, -8 * (s32)j->stack_slots);
	if (p->marker != X86_NO_REG)
		mark(j);
}

void gtp_pad_cond_leave(struct ax_jit *j)
{
	const struct jit_pad *p = &j->pad;
	u32 first = flags_in_rax(j) ? 1 : 0, i = p->nsave;

	gtp_pad_cond_move_rsp(j, 8 * (s32)j->stack_slots);
	while (i > first)
		x86_pop(&j->b, p->save[--i]);
	if (flags_in_rax(j)) {
		if (has(p->wanted, X86_RAX))
			x86_pop(&j->b, X86_RAX);
		x86_flags_from_rax(&j->b);
		x86_pop(&j->b, X86_RAX);
	} else if (p->flags) {
		x86_popfq(&j->b);
	}
	if (p->words)
		gtp_pad_cond_move_rsp(j, j->req.target->red_zone);
}
