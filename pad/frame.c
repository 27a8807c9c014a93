// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a jump pad write the frames of simple hits by itself, as hit/hit.h does in C. trace/frame.h
 * has the layout of a frame, and names the files that depend on it.
 *
 *	pushfq; push rax, rdx, r10, r11		and others that the actions' code overwrites
 *	cli
 *	mov r10, gs:[cpu]; test r10, r10; jz leave
 *	cmp qword [location], 0; je leave	the place is still probed
 *	mov rax, gs:[task]; mov eax, [rax + tgid]
 *	and eax, [mask]; cmp eax, [value]; je leave
 *	mov rax, [r10 + run]; cmp byte [rax + active], 0; je leave
 *	cmp dword [r10 + in_hit], 0; jne leave
 *	mov dword [r10 + in_hit], 1
 *	mov rax, wanted; cmp qword [rax], 0; je give up
 *	mov rdx, [rax + n]			the frame's first 8 bytes
 *	mov r11d, [r10 + head]; lea eax, [r11 + bytes]; cmp eax, [r10 + end]; ja give up
 *	add r11, [r10 + mem]
 *	...					the frame, and the actions' blocks (jit/record.c)
 *	mov r11, pass_hits; mov rax, [r11]; mov rdx, passes; cmp rax, rdx; jae give up
 *	lea rdx, [rax + 1]; lock cmpxchg [r11], rdx; jne give up	with a pass count
 *	add dword [r10 + head], bytes; add qword [r10 + created], 1
 *	mov rax, [r10 + quick]; add qword [rax + 8 * slot], 1
 *	mov dword [r10 + in_hit], 0
 *	pop r11, r10, rdx, rax; popfq
 *
 * With a string (jit/record_string.c), the pad requires room for the longest one, and these lines
 * replace the last two lines before "mov dword [r10 + in_hit], 0" and those of the pass count:
 *
 *	mov eax, [r10 + head]; mov rdx, [r10 + mem]; add rdx, rax
 *	sub r11, rdx; lea eax, [r11 + bytes]; mov [rdx + size], eax
 *	...					the pass count, and eax = [frame + size] again
 *	add [r10 + head], eax; add qword [r10 + created], 1
 *	mov rdx, [r10 + stat]; add qword [rdx + hits], 1; add [rdx + usage], rax
 *
 * elsewhere:
 * give up:
 *	mov dword [r10 + in_hit], 0
 * leave:
 *	pop r11, r10, rdx, rax; popfq
 *	the hit's way to C
 *
 * The frame is compiled by itself, like the condition (see pad/cond.c): registers that the actions
 * read are used in place. The frame's own code uses r10 and r11, which actions read least often.
 *
 * Collecting has no side effects, and a frame becomes valid only when the buffer's head moves past
 * it. So a pad that meets an obstacle (a fault, an address that needs a careful read) has done
 * nothing yet: it leaves the hit to C, which handles all of it. Interrupts are off, as during a hit
 * in C, from the first read of anything that an interrupt may change until the end of the frame. An
 * NMI that hits in between finds the CPU in a hit, or it handles its own hit completely before this
 * one has read anything except the run. If a load faults, and handling the fault hits this pad
 * again, that hit also finds the CPU in a hit, and is left to C.
 */
#include "hit/run.h"
#include "jit/actions.h"
#include "jit/compile.h"
#include "jit/flow.h"
#include "jit/ops_call.h"
#include "jit/values.h"
#include "pad/cond.h"
#include "pad/frame.h"
#include "pad/request.h"
#include "pad/update.h"
#include "trace/frame.h"

enum { TRIES = 8 };

static struct ax_jit_request frame_request(const struct gtp_pad_request *req)
{
	return (struct ax_jit_request){
		.items = req->frame->items,
		.nitems = req->frame->nitems,
		.target = req->target,
		.pc = req->at,
		.seed = req->seed,
	};
}

size_t gtp_pad_frame_size(const struct gtp_pad_request *req)
{
	struct ax_jit_request r;

	if (!req->frame)
		return 0;
	r = frame_request(req);
	/* All loads share one piece of slow code, which exists even without actions. */
	return ax_jit_work_size(&r) + sizeof(struct jit_slow);
}

/* --- what a pad's frame can have --- */

/*
 * The registers that expressions may read: those that are in the processor at a hit, and the pc,
 * which is a constant.
 */
static const u64 known_regs = (BIT_ULL(X86_NR_REGS) - 1) | BIT_ULL(GTP_REG_PC);

/*
 * True if a pad can evaluate an action's expression. No expression may have an effect outside the
 * frame (set a variable, update an aggregation, print), because after any obstacle C evaluates all
 * of them again. No variable may need a call of C, which would come in the middle of the frame.
 */
static bool can_expr(const struct ax_verified *v, const struct ax_jit_target *target)
{
	struct ax_insn insn;

	if (v->flags & ~(AX_F_READS_MEM | AX_F_GETS_TSV | AX_F_COLLECTS | AX_F_STRING) ||
	    v->regs_used & ~known_regs)
		return false;
	for (u32 pc = 0; pc < v->len; pc = insn.next) {
		ax_decode(v->code, v->len, pc, &insn);
		if ((insn.op == AX_OP_getv || insn.op == AX_OP_tracev) &&
		    !jit_var(target, insn.operand))
			return false;
	}
	return true;
}

static bool can_item(const struct ax_jit_item *item, const struct ax_jit_target *target)
{
	switch (item->kind) {
	case AX_JIT_REGS:
		return true;
	case AX_JIT_MEM:
		return item->base < 0 || known_regs >> item->base & 1;
	case AX_JIT_EXPR:
		return can_expr(item->v, target);
	default:
		return false;
	}
}

/*
 * True if a pad can write a frame for this request. The pad's code has three addresses as
 * sign-extended 32-bit displacements. If the request has @gates, C writes the frame when the call
 * returns.
 */
static bool can_frame(const struct gtp_pad_request *req)
{
	const struct gtp_pad_frame *frame = req->frame;

	if (!x86_fits32((s64)frame->location) || !x86_fits32((s64)frame->self_mask) ||
	    !x86_fits32((s64)frame->self_value) || req->gates)
		return false;
	if (frame->update)
		return gtp_pad_update_can(req);
	for (u32 i = 0; i < frame->nitems; i++)
		if (!can_item(&frame->items[i], req->target))
			return false;
	return true;
}

static u64 regs_read(const struct ax_jit_item *item)
{
	if (item->kind == AX_JIT_EXPR)
		return item->v->regs_used;
	return item->kind == AX_JIT_MEM && item->base >= 0 ? BIT_ULL(item->base) : 0;
}

bool gtp_pad_frame_can(const struct gtp_tracepoint *tp, bool cond)
{
	return tp->loc->kind != GTP_LOCATION_RETURN && (tp->plan.in_pad || tp->plan.update_alone) &&
	       (cond || !tp->cond);
}

/* --- the code of the frame --- */

#define OF_CPU(member) x86_at(JIT_CPU, (s32)offsetof(struct gtp_cpu, member))

static struct x86_mem at_address(u64 addr)
{
	return x86_at(X86_NO_REG, (s32)addr);
}

/*
 * leave_if - emit a conditional jump out of the frame's code, before this CPU is marked as in a
 * hit; give_up_if - emit one after that
 */
static void leave_if(struct ax_jit *f, enum x86_cc cc)
{
	x86_jcc(&f->b, cc, f->pad.tail[JIT_NESTED].pos);
}

static void give_up_if(struct ax_jit *f, enum x86_cc cc)
{
	x86_jcc(&f->b, cc, f->pad.tail[JIT_PUNT].pos);
}

/*
 * Emit the code that finds the struct gtp_cpu of this thread of a process. A signal may come at any
 * time. Its handler runs in the same thread, so it finds the same struct, and its hits are to this
 * hit like hits of an NMI in the kernel.
 */
static void find_part(struct ax_jit *f, u64 parts)
{
	x86_load_fs(&f->b, X86_RAX, 0);
	x86_imul_imm(&f->b, X86_64, X86_RDX, X86_RAX, GTP_PAD_PARTS_HASH);
	x86_shift(&f->b, X86_SHR, X86_64, X86_RDX, GTP_PAD_PARTS_SHIFT);
	x86_shift(&f->b, X86_SHL, X86_32, X86_RDX, 4);
	x86_mov_imm(&f->b, JIT_CPU, parts);
	x86_alu(&f->b, X86_ADD, X86_64, JIT_CPU, X86_RDX);
	x86_alu_mem(&f->b, X86_CMP, X86_64, X86_RAX, x86_at(JIT_CPU, 0));
	leave_if(f, X86_CC_NE);
	x86_load(&f->b, JIT_CPU, x86_at(JIT_CPU, 8), 8, false);
}

/*
 * Emit the code that finds this CPU's struct gtp_cpu. After cli the task stays on this CPU, and no
 * interrupt hits this pad, so read nothing of this CPU earlier. The flags were pushed before, so
 * the popfq at the end turns interrupts on again if they were on. The pointer is NULL if the CPU
 * came online after tstart: C counts the hit as missed.
 */
static void find_cpu(struct ax_jit *f)
{
	const struct gtp_pad_frame *frame = f->pad.frame;

	if (frame->parts) {
		find_part(f, frame->parts);
		return;
	}
	if (frame->cli)
		x86_cli(&f->b);
	x86_load_gs(&f->b, JIT_CPU, frame->cpu, 8);
	x86_test(&f->b, X86_64, JIT_CPU, JIT_CPU);
	leave_if(f, X86_CC_E);
}

static void ask_whose_task(struct ax_jit *f, const struct gtp_pad_frame *frame)
{
	x86_load_gs(&f->b, X86_RAX, frame->task, 8);
	x86_load(&f->b, X86_RAX, x86_at(X86_RAX, frame->tgid), 4, false);
	x86_alu_mem(&f->b, X86_AND, X86_32, X86_RAX, at_address(frame->self_mask));
	x86_alu_mem(&f->b, X86_CMP, X86_32, X86_RAX, at_address(frame->self_value));
	leave_if(f, X86_CC_E);
}

/*
 * Emit the checks that a backend makes before gtp_hit_inline(), and gtp_hit_begin()'s first check.
 * Run control clears the word at @location, then waits for all tasks, then frees what the pad uses.
 * So a pad that has read the word before it was cleared may go on; a pad that reads it later must
 * leave. The test for GDB's tasks may also match a task that is not GDB's: C compares exactly.
 */
static void ask_whether_wanted(struct ax_jit *f)
{
	const struct gtp_pad_frame *frame = f->pad.frame;

	if (frame->location) {
		x86_cmp_mem_imm(&f->b, at_address(frame->location), 0, 8);
		leave_if(f, X86_CC_E);
	}
	if (!frame->parts)
		ask_whose_task(f, frame);
	x86_load(&f->b, X86_RAX, OF_CPU(run), 8, false);
	static_assert(sizeof(frame->tp->loc->run->active) == 1, "compared as a byte");
	x86_cmp_mem_imm(&f->b, x86_at(X86_RAX, (s32)offsetof(struct gtp_run, active)), 0, 1);
	leave_if(f, X86_CC_E);
}

static u64 address(const void *p)
{
	return (u64)(unsigned long)p;
}

/*
 * Mark the CPU as in a hit, like gtp_hit_begin(): only an NMI can come between the test and the
 * store, and a hit in the NMI resets in_hit to 0.
 */
static void mark_hit(struct ax_jit *f)
{
	x86_cmp_mem_imm(&f->b, OF_CPU(in_hit), 0, 4);
	leave_if(f, X86_CC_NE);
	x86_store_imm(&f->b, OF_CPU(in_hit), 1, 4);
}

/*
 * Begin a hit that writes a frame. Read plan.in_pad after the mark and plan.start after
 * plan.in_pad, in this order: see tracepoint/plan.h. x86 keeps the order of loads (SDM 3A, "Memory
 * Ordering").
 */
static void begin_hit(struct ax_jit *f)
{
	const s32 in_pad = (s32)offsetof(struct gtp_tracepoint, plan.in_pad);
	const s32 start = (s32)offsetof(struct gtp_tracepoint, plan.start);

	mark_hit(f);
	x86_mov_imm(&f->b, X86_RAX, address(&f->pad.frame->tp->plan.in_pad));
	x86_cmp_mem_imm(&f->b, x86_at(X86_RAX, 0), 0, 8);
	give_up_if(f, X86_CC_E);
	x86_load(&f->b, X86_RDX, x86_at(X86_RAX, start - in_pad), 8, false);
}

/*
 * Check for room, like gtp_buffer_has_room(). If there is no room, C drops old frames, or ends the
 * run. 32 bits are enough, because a ring has at most 1 GiB. Keep r11 until the frame is pushed:
 * all stores of the frame are relative to it.
 */
static void find_room(struct ax_jit *f, u32 bytes)
{
	x86_load(&f->b, JIT_RECORD, OF_CPU(buf.head), 4, false);
	x86_lea(&f->b, X86_32, X86_RAX, x86_at(JIT_RECORD, (s32)bytes));
	x86_alu_mem(&f->b, X86_CMP, X86_32, X86_RAX, OF_CPU(buf.end));
	give_up_if(f, X86_CC_A);
	x86_alu_mem(&f->b, X86_ADD, X86_64, JIT_RECORD, OF_CPU(buf.mem));
}

/*
 * Write the frame's head: plan.start has size, number and flags. In a frame with a string
 * push_string_frame() writes the final size.
 */
static void write_head(struct ax_jit *f)
{
	const s32 pc = (s32)offsetof(struct gtp_frame, pc);

	x86_store(&f->b, x86_at(JIT_RECORD, 0), X86_RDX, 8);
	x86_lfence(&f->b); /* the clock is not read before earlier instructions have finished */
	x86_rdtsc(&f->b);
	x86_shift(&f->b, X86_SHL, X86_64, X86_RDX, 32);
	x86_alu(&f->b, X86_OR, X86_64, X86_RAX, X86_RDX);
	x86_store(&f->b, x86_at(JIT_RECORD, (s32)offsetof(struct gtp_frame, time)), X86_RAX, 8);
	if (x86_fits32((s64)f->req.pc)) {
		x86_store_imm(&f->b, x86_at(JIT_RECORD, pc), (s32)f->req.pc, 8);
	} else {
		x86_mov_imm(&f->b, X86_RAX, f->req.pc);
		x86_store(&f->b, x86_at(JIT_RECORD, pc), X86_RAX, 8);
	}
}

/* End the hit. After this an NMI may use the struct gtp_cpu again. */
static void end_hit(struct ax_jit *f)
{
	x86_store_imm(&f->b, OF_CPU(in_hit), 0, 4);
}

/*
 * Count the hit for the pass count. Nothing after this can fail, and no other hit gets the same
 * number, so the count is exact. C handles the last hit, and also a hit whose number another CPU
 * took first.
 */
static void count_pass(struct ax_jit *f)
{
	const struct gtp_tracepoint *tp = f->pad.frame->tp;
	const struct x86_mem hits = x86_at(JIT_RECORD, 0); /* the register is free by now */

	x86_mov_imm(&f->b, JIT_RECORD, address(&tp->pass_hits));
	x86_load(&f->b, X86_RAX, hits, 8, false);
	x86_mov_imm(&f->b, X86_RDX, tp->pass - 1); /* the last hit that counts ends the run, in C */
	x86_alu(&f->b, X86_CMP, X86_64, X86_RAX, X86_RDX);
	give_up_if(f, X86_CC_AE);
	x86_lea(&f->b, X86_64, X86_RDX, x86_at(X86_RAX, 1));
	x86_lock_cmpxchg(&f->b, hits, X86_RDX);
	give_up_if(f, X86_CC_NE);
}

/*
 * Make the frame valid by moving the head past it. A plain add is enough: only this CPU's hits
 * write these words, hits do not nest, and other CPUs only read each word by itself. @quick counts
 * by slot, for hits whose frames all have the same size.
 */
static void push_frame(struct ax_jit *f)
{
	const struct gtp_tracepoint *tp = f->pad.frame->tp;

	if (tp->pass)
		count_pass(f);
	x86_alu_mem_imm(&f->b, X86_ADD, X86_32, OF_CPU(buf.head), (s32)f->record_used);
	x86_alu_mem_imm(&f->b, X86_ADD, X86_64, OF_CPU(buf.created), 1);
	x86_load(&f->b, X86_RAX, OF_CPU(quick), 8, false);
	x86_alu_mem_imm(&f->b, X86_ADD, X86_64, x86_at(X86_RAX, (s32)(8 * tp->slot)), 1);
}

/* Emit code that sets rdx to the address of the frame's first byte. */
static void find_frame(struct ax_jit *f)
{
	x86_load(&f->b, X86_RAX, OF_CPU(buf.head), 4, false);
	x86_load(&f->b, X86_RDX, OF_CPU(buf.mem), 8, false);
	x86_alu(&f->b, X86_ADD, X86_64, X86_RDX, X86_RAX);
}

/*
 * Make a frame valid whose size depends on a string: JIT_RECORD has been moved by the string's
 * length.
 */
static void push_string_frame(struct ax_jit *f)
{
	const struct gtp_tracepoint *tp = f->pad.frame->tp;
	const s32 stat = (s32)(tp->slot * sizeof(struct gtp_tp_stat));
	const s32 hits = stat + (s32)offsetof(struct gtp_tp_stat, hits);
	const s32 usage = stat + (s32)offsetof(struct gtp_tp_stat, usage);
	const struct x86_mem size = x86_at(X86_RDX, (s32)offsetof(struct gtp_frame, size));

	find_frame(f);
	x86_alu(&f->b, X86_SUB, X86_64, JIT_RECORD, X86_RDX);
	x86_lea(&f->b, X86_32, X86_RAX, x86_at(JIT_RECORD, (s32)f->record_used));
	x86_store(&f->b, size, X86_RAX, 4);
	if (tp->pass) {
		count_pass(f);
		find_frame(f);
		x86_load(&f->b, X86_RAX, size, 4, false);
	}
	x86_alu_to_mem(&f->b, X86_ADD, X86_32, OF_CPU(buf.head), X86_RAX);
	x86_alu_mem_imm(&f->b, X86_ADD, X86_64, OF_CPU(buf.created), 1);
	x86_load(&f->b, X86_RDX, OF_CPU(stat), 8, false);
	x86_alu_mem_imm(&f->b, X86_ADD, X86_64, x86_at(X86_RDX, hits), 1);
	x86_alu_to_mem(&f->b, X86_ADD, X86_64, x86_at(X86_RDX, usage), X86_RAX);
}

/*
 * Begin a hit that writes no frame. The pad calls the snippet directly, so compare its address: the
 * plan may have another snippet by now, or none.
 */
static void begin_update(struct ax_jit *f)
{
	const struct gtp_pad_frame *frame = f->pad.frame;

	mark_hit(f);
	x86_mov_imm(&f->b, X86_RAX, address(&frame->tp->plan.update_alone));
	x86_mov_imm(&f->b, X86_RDX, frame->update);
	x86_alu_mem(&f->b, X86_CMP, X86_64, X86_RDX, x86_at(X86_RAX, 0));
	give_up_if(f, X86_CC_NE);
}

static void update_code(struct ax_jit *f)
{
	jit_after_join(f, 0);
	gtp_pad_update_enter(f);
	find_cpu(f);
	ask_whether_wanted(f);
	begin_update(f);
	gtp_pad_update_run(f);
	end_hit(f);
	gtp_pad_update_leave(f);
}

/*
 * Emit the whole frame in the order of the listing at the top of this file. Until begin_hit()
 * nothing is written except the pushed words; from there to end_hit() every way out must go through
 * JIT_PUNT, which ends the hit. Only the loads of the actions may fault, and each of them has a
 * fixup.
 */
static void frame_code(struct ax_jit *f, u32 room)
{
	jit_after_join(f, 0);
	gtp_pad_cond_enter(f);
	find_cpu(f);
	ask_whether_wanted(f);
	begin_hit(f);
	find_room(f, room);
	write_head(f);
	jit_actions(f);
	if (f->pad.has_string)
		push_string_frame(f);
	else
		push_frame(f);
	end_hit(f);
	gtp_pad_cond_leave(f);
}

/* --- the frame as a part of a pad --- */

static void run_pass(struct ax_jit *f, enum jit_pass pass)
{
	/* These members are results of the previous pass. */
	u32 room = f->pad.bytes + (f->pad.has_string ? JIT_STRING_MAX : 0);

	f->pass = pass;
	f->nslow = 0;
	f->pad.has_string = false;
	if (f->pad.frame->update) {
		update_code(f);
		return;
	}
	frame_code(f, room);
	f->pad.bytes = f->record_used;
}

/*
 * Return the bytes of the frame; 0 if unknown, because the actions include a string. There is no
 * compiled snippet for such actions: C code runs them one by one.
 */
static u32 frame_bytes(const struct gtp_tracepoint *tp)
{
	return tp->actions && !tp->code ? 0 : (u32)sizeof(struct gtp_frame) + tp->frame_bytes;
}

/*
 * Choose the registers that the pad pushes, and compile. Repeat if the code overwrites other
 * registers too. Without a string, the frame must have exactly the size of the frames that C writes
 * for this tracepoint: plan.start and the counters rely on that.
 */
bool gtp_pad_frame_plan(struct ax_jit *f, const struct gtp_pad_request *req)
{
	struct ax_jit_request r = frame_request(req);
	u32 bytes;

	if (!can_frame(req))
		return false;
	bytes = frame_bytes(req->frame->tp);
	jit_begin(f, &r, run_pass);
	f->pad.region = req->region;
	f->pad.held = req->held;
	f->pad.keep_flags = req->keep_flags;
	f->pad.frame = req->frame;
	f->pad.cs = req->frame->cs;
	f->pad.ss = req->frame->ss;
	for (u32 i = 0; i < r.nitems; i++)
		for (u32 n = 0; n < X86_NR_REGS; n++)
			if (regs_read(&r.items[i]) >> n & 1)
				f->pad.read |= (u16)(1U << jit_machine_reg(n));
	if (req->frame->update) {
		run_pass(f, JIT_ESTIMATE);
		return !f->b.failed;
	}
	gtp_pad_cond_begin_frame(f, 1U << X86_RAX | 1U << X86_RDX,
				 1U << JIT_CPU | 1U << JIT_RECORD);
	for (u32 i = 0; i < TRIES && gtp_pad_cond_choose(f); i++) {
		f->b = (struct x86_buf){ 0 };
		run_pass(f, JIT_ESTIMATE);
	}
	return !f->unsuitable && !gtp_pad_cond_choose(f) && !f->b.failed &&
	       (f->pad.has_string ? !bytes : f->record_used == bytes);
}

void gtp_pad_frame_write(struct ax_jit *j)
{
	struct ax_jit *f = j->frame;

	f->b = j->b;
	f->base = j->base;
	run_pass(f, j->pass);
	j->b = f->b;
}

/*
 * Emit the code that leaves the hit to C after an obstacle. JIT_PUNT ends the hit that this code
 * has begun, and continues at JIT_NESTED, where no hit has begun. Both restore all registers and
 * the flags, so that C finds the hit as if the pad had done nothing.
 */
void gtp_pad_frame_give_up(struct ax_jit *j)
{
	struct ax_jit *f = j->frame;

	f->b = j->b;
	jit_mark(f, &f->pad.tail[JIT_PUNT]);
	end_hit(f);
	jit_mark(f, &f->pad.tail[JIT_NESTED]);
	if (f->pad.frame->update)
		gtp_pad_update_leave(f);
	else
		gtp_pad_cond_leave(f);
	j->b = f->b;
}
