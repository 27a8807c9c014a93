// SPDX-License-Identifier: GPL-2.0-only
/*
 * The common stubs, which all snippets share, and the C functions that they call.
 *
 * A snippet calls a stub, which calls a C function. The stub preserves JIT_REGS and JIT_ENV; the
 * slow stub preserves every register, because the fast code does not expect a call. If the C
 * function reports an error, the stub returns to the snippet's caller.
 */
#include "agentexpr/format.h"
#include "agentexpr/meaning.h"
#include "aggregate/table.h"
#include "jit/flow.h"

/* Indexes of the words that the slow stub finds on the stack: first the registers, by number. */
enum {
	SAVED_REGS = X86_R11 + 1,
	/* The snippet has pushed the rest, before the return address and rbp. */
	SAVED_DESC = SAVED_REGS + 2,
	SAVED_WHERE, /* of a block: its offset in the trace frame */
	SAVED_LEN,   /* of a block: its number of bytes */
};

/* Return the part of an instruction that errors need, from its description. */
static struct ax_insn described(u32 desc)
{
	return (struct ax_insn){ .pc = (u16)desc, .op = (u8)(desc >> JIT_DESC_OP) };
}

/* Copy the memory of a block into the trace frame. Return 0 or -EINVAL. */
static s64 copy(struct ax_env *env, const struct ax_insn *insn, u64 addr, const u64 *saved)
{
	u32 len = (u32)saved[SAVED_LEN];

	if (env->ops->read(env->ctx, env->frame + saved[SAVED_WHERE], addr, len))
		return ax_fail(env, insn, AX_E_BAD_ADDRESS, addr, len);
	return 0;
}

static bool is_division(u32 op)
{
	return op >= AX_OP_div_signed && op <= AX_OP_rem_unsigned;
}

/* The slow stub's C function. A load's address is in the register that receives the value. */
static s64 slow(struct ax_env *env, u64 *saved)
{
	u32 desc = (u32)saved[SAVED_DESC];
	u64 addr = saved[desc >> JIT_DESC_REG & 0xf];
	struct ax_insn insn = described(desc);
	u64 value;
	int ret;

	if (is_division(insn.op))
		return ax_fail(env, &insn, AX_E_DIVIDE_BY_ZERO, 0, 0);
	if (insn.op < AX_OP_ref8 || insn.op > AX_OP_ref64)
		return copy(env, &insn, addr, saved);
	ret = ax_ref(env, &insn, addr, &value);
	if (ret)
		return ret;
	if (desc >> JIT_DESC_SIGN & 1)
		value = ax_extend(AX_OP_ext, value, 8U << (insn.op - AX_OP_ref8));
	saved[SAVED_DESC] = value;
	return 0;
}

static s64 getv(struct ax_env *env, u64 tsv, u64 unused, u32 desc)
{
	return env->ops->getv(env->ctx, (u16)tsv);
}

static s64 setv(struct ax_env *env, u64 tsv, u64 value, u32 desc)
{
	env->ops->setv(env->ctx, (u16)tsv, (s64)value);
	return 0;
}

static s64 pair(struct ax_env *env, u64 tsv, u64 key, u32 desc)
{
	return env->ops->pair(env->ctx, (u16)tsv, key);
}

static s64 trace(struct ax_env *env, u64 addr, u64 len, u32 desc)
{
	struct ax_insn insn = described(desc);

	return ax_collected(env, &insn, env->ops->trace(env->ctx, addr, len), addr, len);
}

static s64 trace_string(struct ax_env *env, u64 addr, u64 max, u32 desc)
{
	struct ax_insn insn = described(desc);

	return ax_collected(env, &insn, env->ops->trace_string(env->ctx, addr, max), addr, max);
}

static s64 tracev(struct ax_env *env, u64 tsv, u64 unused, u32 desc)
{
	return env->ops->tracev(env->ctx, (u16)tsv);
}

static s64 print(struct ax_env *env, u64 code, u64 len, u32 desc)
{
	struct ax_insn insn;

	ax_decode((const u8 *)(unsigned long)code, (u32)len, (u16)desc, &insn);
	return ax_format_print(env, &insn, env->stack + insn.nargs);
}

/*
 * struct stub - the C function of a stub: one of @call, @slow and @update. @fallible: a nonzero
 * return value ends the snippet with that status
 */
struct stub {
	s64 (*call)(struct ax_env *env, u64 a, u64 b, u32 desc);
	s64 (*slow)(struct ax_env *env, u64 *saved);
	void (*update)(struct gtp_aggr_table *t, const u64 *own, s64 value);
	bool fallible;
};

static const struct stub stubs[AX_JIT_NR_STUBS] = {
	[AX_JIT_SLOW] = { .slow = slow },
	[AX_JIT_GETV] = { .call = getv },
	[AX_JIT_SETV] = { .call = setv },
	[AX_JIT_TRACE] = { .call = trace, .fallible = true },
	[AX_JIT_TRACE_STRING] = { .call = trace_string, .fallible = true },
	[AX_JIT_TRACEV] = { .call = tracev, .fallible = true },
	[AX_JIT_PRINT] = { .call = print, .fallible = true },
	[AX_JIT_UPDATE] = { .update = gtp_aggr_update },
	[AX_JIT_PAIR] = { .call = pair },
};

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

/* Emit a stub. A snippet that calls it has a stack frame, which an error leaves through rbp. */
static void emit_call_stub(const struct ax_jit_target *w, struct x86_buf *b, u64 base,
			   const struct stub *s)
{
	const void *to = s->update ? (const void *)s->update : (const void *)s->call;
	u32 ok = 0;

	x86_push(b, X86_RBP);
	x86_mov(b, X86_RBP, X86_RSP);
	x86_push(b, JIT_REGS);
	x86_push(b, JIT_ENV);
	if (!s->update) /* for an update rsp is aligned already */
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
			   const struct stub *s)
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

u32 ax_jit_stubs(struct ax_jit_target *w, u64 base, u8 *buf, u32 size)
{
	struct x86_buf b = { .p = buf, .size = size };

	for (u32 i = 0; i < AX_JIT_NR_STUBS; i++) {
		x86_int3s(&b, -b.len & (AX_JIT_CODE_ALIGN - 1));
		w->stub[i] = base + b.len;
		if (stubs[i].slow)
			emit_slow_stub(w, &b, base, &stubs[i]);
		else
			emit_call_stub(w, &b, base, &stubs[i]);
	}
	return b.failed ? 0 : b.len;
}
