// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emits the common stubs, which all snippets share.
 *
 * A snippet calls a stub, which calls a C function. The stub preserves JIT_REGS and JIT_ENV; the
 * slow stub preserves every register, because the fast code does not expect a call. If the C
 * function reports an error, the stub returns to the snippet's caller.
 */
#include "jit/flow.h"
#include "jit/stub_calls.h"

/*
 * Emit a call of a C function: a direct call if it reaches the function, otherwise through rax. In
 * the kernel it always does; an indirect call would need a retpoline there.
 */
static void call_c(struct x86_buf *b, u64 base, u64 addr)
{
	if (x86_fits32((s64)(addr - base - b->len - 5))) {
		x86_call_far(b, base, addr);
	} else {
		x86_mov_imm(b, X86_RAX, addr);
		x86_call_reg(b, X86_RAX);
	}
}

static void align_stack(struct x86_buf *b)
{
	x86_alu_imm(b, X86_AND, X86_64, X86_RSP, -16);
}

/* Emit the snippet's return after an error, with rax = 0 and rdx = the status, which is in rax. */
static void emit_give_up(const struct ax_jit_target *w, struct x86_buf *b, u64 base)
{
	x86_mov(b, X86_RDX, X86_RAX);
	x86_zero(b, X86_RAX);
	jit_return(w, b, base);
}

/* Emit a stub. If it is fallible, its snippets have a stack frame, which an error leaves by rbp. */
static void emit_call_stub(const struct ax_jit_target *w, struct x86_buf *b, u64 base,
			   const struct jit_stub_call *s)
{
	const void *to = s->update ? (const void *)s->update : (const void *)s->call;
	u32 ok = 0;

	x86_push(b, X86_RBP);
	x86_mov(b, X86_RBP, X86_RSP);
	x86_push(b, JIT_REGS);
	x86_push(b, JIT_ENV);
	align_stack(b);
	x86_mov(b, X86_RDI, s->update ? X86_RAX : JIT_ENV);
	x86_mov(b, X86_RSI, s->update ? X86_RCX : X86_RAX);
	call_c(b, base, (u64)(unsigned long)to);
	x86_load(b, JIT_REGS, x86_at(X86_RBP, -8), 8, false);
	x86_load(b, JIT_ENV, x86_at(X86_RBP, -16), 8, false);
	x86_leave(b);
	if (s->fallible) {
		x86_test(b, X86_64, X86_RAX, X86_RAX);
		ok = x86_skip_if(b, X86_CC_E);
		x86_leave(b);
		emit_give_up(w, b, base);
		x86_land(b, ok);
	}
	jit_return(w, b, base);
}

/* Push the registers from the highest number down, so that the lowest is at the lowest address. */
static void save_all(struct x86_buf *b)
{
	for (u32 r = SAVED_REGS; r--;) {
		if (r == X86_RSP || r == X86_RBP || r == X86_RBX)
			x86_push_imm(b, 0);
		else
			x86_push(b, r);
	}
}

/* Restore the registers relative to rbp, because rsp has been aligned. */
static void restore_all(struct x86_buf *b)
{
	for (u32 r = 0; r < SAVED_REGS; r++)
		if (r != X86_RSP && r != X86_RBP && r != X86_RBX)
			x86_load(b, r, x86_at(X86_RBP, 8 * ((s32)r - SAVED_REGS)), 8, false);
	x86_leave(b);
}

/*
 * Emit the end of the slow stub after an error. If the snippet has a stack frame, leave it;
 * otherwise drop the words that the snippet pushed. Return to the snippet's caller.
 */
static void emit_slow_error(const struct ax_jit_target *w, struct x86_buf *b, u64 base)
{
	u32 stack_frame, few, out;

	x86_load(b, X86_RCX, x86_at(X86_RBP, 8 * (SAVED_DESC - SAVED_REGS)), 8, false);
	x86_leave(b);
	x86_mov(b, X86_RDX, X86_RCX);
	x86_alu_imm(b, X86_AND, X86_32, X86_RCX, 1 << JIT_DESC_STACK);
	stack_frame = x86_skip_if(b, X86_CC_NE);
	x86_lea(b, X86_64, X86_RSP, x86_at(X86_RSP, 16));
	x86_alu_imm(b, X86_AND, X86_32, X86_RDX, 1 << JIT_DESC_BLOCK);
	few = x86_skip_if(b, X86_CC_E);
	x86_lea(b, X86_64, X86_RSP, x86_at(X86_RSP, 16));
	x86_land(b, few);
	out = x86_skip(b);
	x86_land(b, stack_frame);
	x86_leave(b);
	x86_land(b, out);
	emit_give_up(w, b, base);
}

static void emit_slow_stub(const struct ax_jit_target *w, struct x86_buf *b, u64 base,
			   const struct jit_stub_call *s)
{
	u32 ok;

	x86_push(b, X86_RBP);
	x86_mov(b, X86_RBP, X86_RSP);
	save_all(b);
	x86_mov(b, X86_RDI, JIT_ENV);
	x86_mov(b, X86_RSI, X86_RSP);
	align_stack(b);
	call_c(b, base, (u64)(unsigned long)s->slow);
	x86_test(b, X86_64, X86_RAX, X86_RAX);
	ok = x86_skip_if(b, X86_CC_E);
	emit_slow_error(w, b, base);
	x86_land(b, ok);
	restore_all(b);
	jit_return(w, b, base);
}

u32 ax_jit_stubs_for(struct ax_jit_target *w, const struct jit_stub_call *calls, u64 base, u8 *buf,
		     u32 size)
{
	struct x86_buf b = { .p = buf, .size = size };

	for (u32 i = 0; i < AX_JIT_NR_STUBS; i++) {
		x86_int3s(&b, -b.len & (AX_JIT_CODE_ALIGN - 1));
		w->stub[i] = base + b.len;
		if (calls[i].slow)
			emit_slow_stub(w, &b, base, &calls[i]);
		else
			emit_call_stub(w, &b, base, &calls[i]);
	}
	return b.failed ? 0 : b.len;
}

u32 ax_jit_stubs(struct ax_jit_target *w, u64 base, u8 *buf, u32 size)
{
	return ax_jit_stubs_for(w, jit_stub_calls, base, buf, size);
}
