/* SPDX-License-Identifier: GPL-2.0-only */
/* Agent expressions as machine code: the interface for callers of the compiler and of its code. */
#ifndef _GTP_JIT_H
#define _GTP_JIT_H

#include "agentexpr/ax.h"

struct gtp_tsv;
struct ax_jit_target;

/*
 * One verified expression becomes one snippet: a C function that needs only its two arguments and a
 * few common stubs within 2 GiB. Without calls and with few values it has no stack frame. It never
 * uses more than AX_MAX_DEPTH + 10 words of stack.
 *
 * A snippet reads memory in one of two ways. An address below target->fast_limit is read by a plain
 * (fast) load, at an offset that is a multiple of AX_JIT_LOAD_ALIGN. The 4 bytes before the load
 * are the displacement of the jump that checks the address; it leads to code that calls
 * env->ops->read() (careful). When a fast load faults, execution continues at that code: in the
 * kernel by an exception table with one entry for each multiple, in userspace by a signal handler.
 * Only env->ops->read() decides that an address is bad.
 */
enum {
	AX_JIT_CODE_ALIGN = 16, /* where a snippet may begin */
	AX_JIT_LOAD_ALIGN = 8,
	AX_JIT_LINE_HALF = 32, /* the address bit that is set in the upper half of a cache line */
};

/* ax_jit_careful - return the address at which to continue when the fast load at @load faults */
static inline u64 ax_jit_careful(const u8 *load)
{
	return (u64)(unsigned long)load + (u64)(s64)(s32)gtp_get_le(load - 4, 4);
}

/*
 * struct ax_jit_result - the result of a snippet: @status, which is what ax_interp() returns, and
 * @value, which is 0 on an error. For actions @value is the size of the trace frame that they have
 * collected, head included: never 0
 */
struct ax_jit_result {
	u64 value;
	s64 status;
};

/*
 * ax_jit_fn - evaluate an expression, or run actions: a snippet
 *
 * Uses @env->ops, @env->ctx and, with printf, @env->stack and @env->text. Writes @env->err only if
 * the status is -EINVAL.
 * Context: a hit; see struct ax_ops.
 */
typedef struct ax_jit_result (*ax_jit_fn)(const struct gtp_regs *regs, struct ax_env *env);

/*
 * ax_jit_actions_fn - run actions, for a caller that needs only the size; return 0 on failure
 *
 * GCC gives callers of an ax_jit_fn a frame pointer, because its two-word result may need
 * alignment. Callers of an ax_jit_actions_fn need none.
 */
typedef u64 (*ax_jit_actions_fn)(const struct gtp_regs *regs, struct ax_env *env);

/*
 * ax_jit_can_early - true if the snippet of a condition can run before a hit begins: it consists
 * only of registers, memory, arithmetic, and variables that take no call and do not depend on the
 * kind of probe. It then uses only @env->ops->read, and @env->err if it fails
 */
bool ax_jit_can_early(const struct ax_verified *cond, const struct ax_jit_target *target);

/* The common stubs, which all snippets call. */
enum ax_jit_stub {
	AX_JIT_SLOW, /* careful loads, and errors */
	AX_JIT_GETV,
	AX_JIT_SETV,
	AX_JIT_TRACE,
	AX_JIT_TRACE_STRING,
	AX_JIT_TRACEV,
	AX_JIT_PRINT,
	AX_JIT_UPDATE,
	AX_JIT_NR_STUBS,
};

/* AX_JIT_MARK - a pad adds it to its task's count of disabled page faults while it reads memory */
enum { AX_JIT_MARK = 1 << 20 };

/**
 * struct ax_jit_var - a trace state variable that can be read without a call
 * @bytes: the size of the value, 4 or 8; 0: reading this variable takes a call
 * @sign: sign-extend the value to 64 bits
 * @follow: number of pointers that lead to the value, up to 2; the first is in the GS segment
 * @moves: its value changes if the task moves to another CPU on the way from a pad to C, so a
 *	pad's condition must not use it
 * @less_entered: subtract env->entered, which is 0 in a pad's condition
 * @gs: the offset in the GS segment of the value or of the first pointer to it
 * @offset: with @follow: offset from the first pointer, in memory that is always mapped
 * @then: with two pointers: the offset from the second one
 * @mask: 0, or the bits of a 4-byte value that count
 * @add: a constant to add to the value at the end
 */
struct ax_jit_var {
	u8 bytes;
	bool sign;
	u8 follow;
	bool moves;
	bool less_entered;
	s32 gs;
	s32 offset;
	s32 then;
	u32 mask;
	s32 add;
};

/**
 * struct ax_jit_target - the place where snippets run
 * @fast: fast loads are allowed
 * @endbr: indirect calls must find an endbr64
 * @upper_half: indirect branches must end in the upper half of a cache line
 * @lfence: an lfence must precede indirect branches
 * @lahf: the processor has lahf and sahf in 64-bit mode
 * @fast_limit: addresses below it, compared as signed numbers, are read with fast loads
 * @return_thunk: the address to which a return must jump; 0: a plain ret
 * @task: offset in the GS segment of the pointer to the running task; 0: pads do not mark it
 * @task_faults: offset in a task of its count of disabled page faults
 * @var: variables that can be read without a call, by number
 * @nvars: the number of entries in @var; variables with higher numbers take a call
 * @pad_hit: the function that jump pads call at a hit; see pad/pad.h
 * @stub: addresses of the common stubs, from ax_jit_stubs()
 *
 * In the kernel the limit is a negative number: the upper half of the address space except its last
 * 10 MiB, where the vsyscall page and the error pointers lie. So one signed comparison also
 * excludes user addresses, which a plain load must never touch.
 */
struct ax_jit_target {
	bool fast;
	bool endbr;
	bool upper_half;
	bool lfence;
	bool lahf;
	s32 fast_limit;
	u64 return_thunk;
	s32 task;
	s32 task_faults;
	const struct ax_jit_var *var;
	u32 nvars;
	u64 pad_hit;
	u64 stub[AX_JIT_NR_STUBS];
};

/**
 * ax_jit_stubs() - make the common stubs
 * @w: the target of the snippets; @w->stub is filled in
 * @base: the address of the stubs' first byte, a multiple of AX_JIT_CODE_ALIGN
 * @buf: receives the code; NULL only counts
 * @size: the room in @buf
 *
 * Return: bytes of code; 0 if it does not fit.
 */
u32 ax_jit_stubs(struct ax_jit_target *w, u64 base, u8 *buf, u32 size);

struct ax_jit;

enum ax_jit_item_kind {
	AX_JIT_REGS,
	AX_JIT_MEM,
	AX_JIT_EXPR,
	AX_JIT_ELSEWHERE, /* counts as an action, but the snippet does not perform it */
};

/**
 * struct ax_jit_item - one action of a tracepoint
 * @kind: the kind of the action
 * @mask: REGS: GDB's register mask
 * @base: MEM: the register to which @offset is added, -1: none
 * @offset: MEM: the address, or the offset from @base
 * @len: MEM: the number of bytes
 * @v: EXPR: the expression
 */
struct ax_jit_item {
	enum ax_jit_item_kind kind;
	u64 mask;
	s32 base;
	u64 offset;
	u64 len;
	const struct ax_verified *v;
};

/**
 * struct ax_jit_request - what to compile: an expression, or all actions of a tracepoint
 * @v: the expression; its code must stay while snippets that print may run
 * @items: the actions; not copied
 * @nitems: the number of actions; 0: compile @v
 * @target: the target that the code is compiled for
 * @pc: the value that expressions read for register 16 (rip)
 * @ways: enum ax_tsv_way of every variable that is named, by number; NULL: all are AX_TSV_CALL
 * @slots: the variables by number, for expressions with AX_F_ADDS; they must not move while the
 *	snippet may run
 * @seed: changes which registers are used, for tests; 0 is the best choice
 */
struct ax_jit_request {
	const struct ax_verified *v;
	const struct ax_jit_item *items;
	u32 nitems;
	const struct ax_jit_target *target;
	u64 pc;
	const u8 *ways;
	struct gtp_tsv *const *slots;
	u32 seed;
};

/**
 * ax_jit_work_size() - return the memory that the compiler needs
 * @req: the request that will follow
 *
 * Return: the number of bytes; the caller allocates them (8-aligned, with any contents).
 */
size_t ax_jit_work_size(const struct ax_jit_request *req);

/**
 * ax_jit_plan() - decide everything except the bytes
 * @work: ax_jit_work_size() bytes
 * @req: the request; the struct is copied, the data it points to is not
 *
 * Actions can become one snippet if the layout of what they collect is known in advance. The
 * snippet writes their blocks (see trace/frame.h) to env->frame, where the caller has made room for
 * ax_jit_frame_bytes(). It also updates env->progress, so that after a failure the failed action
 * and the number of valid bytes are known. Expressions with jumps, strings, computed lengths, or a
 * need for the variables' lock cannot be part of such a snippet; but a pad's frame may have one
 * string of up to 64 bytes, see struct gtp_pad_frame.
 *
 * Context: any; allocates nothing, time is about linear in the length of the expression.
 * Return: the bytes of code that ax_jit_emit() will write; 0: these actions cannot be one snippet.
 */
u32 ax_jit_plan(struct ax_jit *work, const struct ax_jit_request *req);

/* ax_jit_frame_bytes - return the number of bytes that planned actions collect */
u32 ax_jit_frame_bytes(const struct ax_jit *work);

/**
 * ax_jit_emit() - write planned code
 * @work: the compilation that ax_jit_plan() or gtp_pad_plan() has planned
 * @base: the address where the code's first byte will run, a multiple of AX_JIT_CODE_ALIGN
 * @buf: receives the code
 * @size: the room in @buf
 *
 * Return: 0; -ENOSPC: @size is less than the plan; -ERANGE: something that the code must reach is
 * more than 2 GiB from @base: the stubs, or for a pad the probed place, an operand of a displaced
 * instruction, or pad_hit.
 */
int ax_jit_emit(struct ax_jit *work, u64 base, u8 *buf, u32 size);

/**
 * ax_jit_run() - evaluate a snippet as ax_interp() evaluates its expression
 * @fn: the snippet
 * @env: the environment of the expression; @env->pc is not used
 * @result: receives the value, 0 on an error; may be NULL
 */
static inline int ax_jit_run(ax_jit_fn fn, struct ax_env *env, u64 *result)
{
	struct ax_jit_result r = fn(env->regs, env);

	if (result)
		*result = r.value;
	return (int)r.status;
}

#endif /* _GTP_JIT_H */
