// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a jump pad call the snippet of a tracepoint that only updates aggregations and pairs, as
 * gtp_hit_update() does in C. The checks before it are those of a frame, see pad/frame.c:
 *
 *	lea rsp, [rsp - 16]; pushfq; lea rsp, [rsp - 24]	the end of a struct gtp_regs
 *	push rdi, rsi, rdx, rcx, rax, r8, r9, r10, r11
 *	lea rsp, [rsp - 48]; mov [rsp + n], reg			for registers that the actions read
 *	...							the checks; mark the CPU as in a hit
 *	mov rax, wanted; mov rdx, snippet; cmp rdx, [rax]; jne give up
 *	mov rax, tp; mov [r10 + tp], rax
 *	mov qword [r10 + env.time], 0; mov [r10 + env.regs], rsp
 *	mov rdx, [r10 + quick]; add qword [rdx + 8 * slot], 1
 *	mov rdi, rsp; lea rsi, [r10 + env]; clac; cld
 *	call snippet
 *	mov r10, gs:[cpu]; test rax, rax; jne done
 *	mov rdi, r10; call failed; mov r10, gs:[cpu]
 * done:
 *	mov dword [r10 + in_hit], 0
 *	lea rsp, [rsp + 48]; pop r11, ...; lea rsp, [rsp + 24]; popfq; lea rsp, [rsp + 16]
 *
 * A snippet has effects, so the pad gives up only before the call. The snippet is a C function: it
 * preserves rbx, rbp and r12 to r15. The words of struct gtp_regs that the actions do not read stay
 * unset, and nothing else may read them: no expression here takes a stack, or anything else that
 * C derives from the registers.
 */
#include "hit/run.h"
#include "jit/flow.h"
#include "jit/ops_call.h"
#include "jit/values.h"
#include "pad/request.h"
#include "pad/update.h"

#define OF_CPU(member) x86_at(JIT_CPU, (s32)offsetof(struct gtp_cpu, member))

/* In the order in which they are pushed. */
static const u8 scratch[] = {
	X86_RDI, X86_RSI, X86_RDX, X86_RCX, X86_RAX, X86_R8, X86_R9, X86_R10, X86_R11,
};

/* From the lowest address of struct gtp_regs. */
static const u8 preserved[] = { X86_R15, X86_R14, X86_R13, X86_R12, X86_RBP, X86_RBX };

enum {
	ABOVE_FLAGS = sizeof(struct gtp_regs) - offsetof(struct gtp_regs, rsp),
	BELOW_FLAGS = offsetof(struct gtp_regs, eflags) - offsetof(struct gtp_regs, orig_rax),
};

static_assert(offsetof(struct gtp_regs, r11) == 8 * sizeof(preserved), "what enter() stores");
static_assert(offsetof(struct gtp_regs, orig_rax) - offsetof(struct gtp_regs, r11) ==
		      8 * sizeof(scratch),
	      "what enter() pushes");

/* --- what a pad can run --- */

static bool can_insn(const struct gtp_pad_request *req, const struct ax_insn *insn)
{
	enum ax_tsv_way way;

	if (insn->op != AX_OP_getv && insn->op != AX_OP_setv)
		return true;
	way = (enum ax_tsv_way)req->frame->ways[insn->operand];
	if (insn->op == AX_OP_getv)
		return jit_var(req->target, insn->operand) || way == AX_TSV_LOCAL;
	return way == AX_TSV_LOCAL || way == AX_TSV_UPDATE || way == AX_TSV_COUNT ||
	       way == AX_TSV_START || way == AX_TSV_END;
}

/* True if nothing that the expression calls reads the hit's registers. */
static bool can_expr(const struct gtp_pad_request *req, const struct ax_verified *v)
{
	const u16 flags = AX_F_READS_MEM | AX_F_GETS_TSV | AX_F_SETS_TSV | AX_F_AGGREGATES;
	const u64 regs = (GTP_REGS_GENERAL & ~BIT_ULL(GTP_REG_SP)) | BIT_ULL(GTP_REG_PC);
	struct ax_insn insn;

	if (v->flags & ~flags || v->regs_used & ~regs)
		return false;
	for (u32 pc = 0; pc < v->len; pc = insn.next) {
		ax_decode(v->code, v->len, pc, &insn);
		if (!can_insn(req, &insn))
			return false;
	}
	return true;
}

bool gtp_pad_update_can(const struct gtp_pad_request *req)
{
	const struct gtp_pad_frame *frame = req->frame;

	for (u32 i = 0; i < frame->nitems; i++)
		if (frame->items[i].kind != AX_JIT_EXPR || !can_expr(req, frame->items[i].v))
			return false;
	return true;
}

/* --- the code --- */

static void move_rsp(struct ax_jit *f, s32 by)
{
	x86_lea(&f->b, X86_64, X86_RSP, x86_at(X86_RSP, by));
}

void gtp_pad_update_enter(struct ax_jit *f)
{
	move_rsp(f, -ABOVE_FLAGS);
	x86_pushfq(&f->b);
	move_rsp(f, -BELOW_FLAGS);
	for (u32 i = 0; i < ARRAY_SIZE(scratch); i++)
		x86_push(&f->b, scratch[i]);
	move_rsp(f, -8 * (s32)ARRAY_SIZE(preserved));
	for (u32 i = 0; i < ARRAY_SIZE(preserved); i++)
		if (f->pad.read >> preserved[i] & 1)
			x86_store(&f->b, x86_at(X86_RSP, 8 * (s32)i), preserved[i], 8);
}

void gtp_pad_update_leave(struct ax_jit *f)
{
	move_rsp(f, 8 * (s32)ARRAY_SIZE(preserved));
	for (u32 i = ARRAY_SIZE(scratch); i--;)
		x86_pop(&f->b, scratch[i]);
	move_rsp(f, BELOW_FLAGS);
	x86_popfq(&f->b);
	move_rsp(f, ABOVE_FLAGS);
}

/* Emit a direct call. Only the last pass knows whether it reaches the function. */
static void call(struct ax_jit *f, u64 addr)
{
	x86_call_far(&f->b, f->base, f->pass == JIT_WRITE ? addr : f->base);
}

/* Emit clac and cld: C expects these two flags to be clear, see kernel/pad/probe_entry.S. */
static void allow_c(struct ax_jit *f)
{
	static const u8 clac[] = { 0x0f, 0x01, 0xca }, cld[] = { 0xfc };

	if (f->pad.frame->clac)
		x86_bytes(&f->b, clac, sizeof(clac));
	x86_bytes(&f->b, cld, sizeof(cld));
}

static void find_cpu_again(struct ax_jit *f)
{
	x86_load_gs(&f->b, JIT_CPU, f->pad.frame->cpu, 8);
}

void gtp_pad_update_run(struct ax_jit *f)
{
	const struct gtp_pad_frame *frame = f->pad.frame;
	const struct gtp_tracepoint *tp = frame->tp;
	u32 done;

	x86_mov_imm(&f->b, X86_RAX, (u64)(unsigned long)tp);
	x86_store(&f->b, OF_CPU(tp), X86_RAX, 8);
	x86_store_imm(&f->b, OF_CPU(env.time), 0, 8);
	x86_store(&f->b, OF_CPU(env.regs), X86_RSP, 8);
	x86_load(&f->b, X86_RDX, OF_CPU(quick), 8, false);
	x86_alu_mem_imm(&f->b, X86_ADD, X86_64, x86_at(X86_RDX, (s32)(8 * tp->slot)), 1);
	x86_mov(&f->b, JIT_REGS, X86_RSP);
	x86_lea(&f->b, X86_64, JIT_ENV, OF_CPU(env));
	allow_c(f);
	call(f, frame->update);
	find_cpu_again(f);
	x86_test(&f->b, X86_64, X86_RAX, X86_RAX);
	done = x86_skip_if(&f->b, X86_CC_NE);
	x86_mov(&f->b, X86_RDI, JIT_CPU);
	call(f, frame->failed);
	find_cpu_again(f);
	x86_land(&f->b, done);
}
