// SPDX-License-Identifier: GPL-2.0-only
/*
 * The compiler: translates verified bytecode to one function, in three passes.
 *
 * The first pass finds upper limits of all distances, the second finds the offsets, and the third
 * writes the code. All three emit the same instructions, except for the sizes of jumps and padding,
 * because every decision depends only on earlier code: jumps only go forward, so all jumps to an
 * instruction come before it.
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
#include "jit/actions.h"
#include "jit/compile.h"
#include "jit/expr.h"
#include "jit/ops_jump.h"
#include "jit/slow.h"
#include "jit/values.h"

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
		jit_leave_snippet(j);
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

/*
 * Return the number of labels, enough for the longest expression, and the number of pieces of slow
 * code, one for each instruction and action.
 */
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

/* Return the offset of the table of slow code, which follows the labels. */
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
	/*
	 * The registers for values: rax first, because it returns the result, then others with
	 * short encodings, JIT_RECORD last.
	 */
	static const u8 best[JIT_NR_ALLOC] = {
		X86_RAX, X86_RDX, X86_RCX, X86_R8, X86_R9, X86_R10, X86_R11,
	};

	j->nalloc = j->req.nitems ? JIT_NR_ALLOC - 1 : JIT_NR_ALLOC;
	for (u32 i = 0; i < j->nalloc; i++) {
		u32 from = (i + seed) % j->nalloc;

		j->order[i] = best[seed / j->nalloc % 2 ? j->nalloc - 1 - from : from];
	}
}

void jit_begin(struct ax_jit *j, const struct ax_jit_request *req,
	       void (*run_pass)(struct ax_jit *j, enum jit_pass pass))
{
	memset(j, 0, ax_jit_work_size(req));
	j->req = *req;
	j->run_pass = run_pass;
	j->slow = (struct jit_slow *)((char *)j + slow_offset(req));
}

u32 ax_jit_plan(struct ax_jit *j, const struct ax_jit_request *req)
{
	jit_begin(j, req, run_pass);
	choose_order(j, req->seed);
	j->stack_frame = true;
	run_pass(j, JIT_ESTIMATE);
	if (j->unsuitable)
		return 0;
	j->stack_slots = (j->stack_met + 1) & ~1U; /* calls need rsp 16-byte aligned */
	j->stack_frame = j->calls || j->stack_met;
	j->records = j->record_used;
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
	j->run_pass(j, JIT_WRITE);
	/*
	 * Emit the code. The bytecode is verified and the room is enough, so only a branch that
	 * cannot reach its target can fail.
	 */
	return j->b.failed || j->b.len != j->planned ? -ERANGE : 0;
}
