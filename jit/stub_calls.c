// SPDX-License-Identifier: GPL-2.0-only
/*
 * The C functions that the common stubs call. They run where the snippets run; the compiler may run
 * elsewhere, outside of a traced process.
 */
#include "agentexpr/format.h"
#include "agentexpr/meaning.h"
#include "aggregate/table.h"
#include "jit/stub_calls.h"

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

const struct jit_stub_call jit_stub_calls[AX_JIT_NR_STUBS] = {
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
