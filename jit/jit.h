/* SPDX-License-Identifier: GPL-2.0-only */
/* Agent expressions as machine code: what a caller of the compiler and of its code must know. */
#ifndef _GTP_JIT_H
#define _GTP_JIT_H

#include "agentexpr/ax.h"

struct gtp_tsv;
struct ax_jit_target;

/*
 * One verified expression becomes one snippet: a function of the C calling convention that needs
 * nothing but its two arguments and a few common stubs within 2 GiB. Without calls and with few
 * values it has no stack frame; it never uses more than AX_MAX_DEPTH + 10 words of stack.
 *
 * Memory is read in one of two ways. Addresses below target->fast_limit are read by a plain load
 * (fast) at an offset that is a multiple of AX_JIT_LOAD_ALIGN. The 4 bytes before it are the
 * displacement of the jump that checks the address, to the code that calls env->ops->read()
 * (careful). When a fast load faults, execution continues at that code: in the kernel by an
 * exception table with one entry for each multiple, in userspace by a signal handler. Only
 * env->ops->read() decides that an address is bad.
 */
enum {
	AX_JIT_CODE_ALIGN = 16, /* where a snippet may begin */
	AX_JIT_LOAD_ALIGN = 8,
	AX_JIT_LINE_HALF = 32, /* of a cache line: addresses with this bit are in the upper one */
};

/* ax_jit_careful - where to go on when the fast load at @load faults */
static inline u64 ax_jit_careful(const u8 *load)
{
	return (u64)(unsigned long)load + (u64)(s64)(s32)gtp_get_le(load - 4, 4);
}

/*
 * struct ax_jit_result - @status as ax_interp() returns it, and @value, 0 on an error. Of actions
 * @value is the size of a trace frame with what they have collected, head included: never 0
 */
struct ax_jit_result {
	u64 value;
	s64 status;
};

/*
 * ax_jit_fn - a snippet
 *
 * @env->ops, @env->ctx and, with printf, @env->stack and @env->text are used; @env->err is written
 * when the status is -EINVAL, and only then.
 * Context: a hit; see struct ax_ops.
 */
typedef struct ax_jit_result (*ax_jit_fn)(const struct gtp_regs *regs, struct ax_env *env);

/*
 * ax_jit_actions_fn - the same of actions, for callers that need only the size; 0: failed
 *
 * Callers of an ax_jit_fn get a frame pointer from GCC, since two words returned as one may need
 * alignment; callers of this do not.
 */
typedef u64 (*ax_jit_actions_fn)(const struct gtp_regs *regs, struct ax_env *env);

/*
 * ax_jit_can_early - can the snippet of a condition run before a hit begins? It must be made of
 * nothing but registers, memory, arithmetic, and variables that take no call and do not depend on
 * the way to the hit: then it uses @env->ops->read, and @env->err when it fails
 */
bool ax_jit_can_early(const struct ax_verified *cond, const struct ax_jit_target *target);

/* The common stubs. */
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

/* AX_JIT_MARK - added to a task's count of disabled page faults while a pad reads memory */
enum { AX_JIT_MARK = 1 << 20 };

/**
 * struct ax_jit_var - a trace state variable that is read without a call
 * @bytes: of the value: 4 or 8; 0: this one takes a call
 * @sign: it is extended to 64 bits with its sign
 * @follow: addresses that lead to the value, up to 2; the first is the word in the GS segment
 * @moves: it is another one when the task moves to another CPU on the way from a pad to C: not for
 *	a pad's condition
 * @less_entered: env->entered is to be subtracted; a pad's condition is nothing that is entered
 * @gs: where in the GS segment
 * @offset: with @follow: where behind the first address; memory that is always there
 * @then: with two of them: where behind the second
 * @mask: 0, or of 4 bytes those bits that are the value
 * @add: what is to be added, last
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
 * @fast: there are fast loads at all
 * @endbr: indirect calls must find an endbr64
 * @upper_half: indirect branches must end in the upper half of a cache line
 * @lfence: they must stand behind an lfence
 * @lahf: the processor has lahf and sahf in 64-bit mode
 * @fast_limit: fast are the addresses that, taken as signed numbers, are below it
 * @return_thunk: where a return has to jump; 0: a plain ret
 * @task: where in the GS segment the address of the running task is; 0: pads do not mark it
 * @task_faults: where in a task its count of disabled page faults is
 * @var: by their numbers: variables that are read without a call
 * @nvars: how many numbers it has; others take a call
 * @pad_hit: where jump pads go with a hit; see pad/pad.h
 * @stub: addresses of the common stubs, from ax_jit_stubs()
 *
 * In the kernel the limit is a negative number: all of the upper half of the address space but its
 * last 10 MiB, where the vsyscall page and the error pointers lie. One signed comparison then keeps
 * out user addresses too, which a plain load must never touch.
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
 * @w: where they will run; @w->stub is filled in
 * @base: address of their first byte, a multiple of AX_JIT_CODE_ALIGN
 * @buf: receives the code; NULL only counts
 * @size: room at @buf
 *
 * Return: bytes of code; 0 when it does not fit.
 */
u32 ax_jit_stubs(struct ax_jit_target *w, u64 base, u8 *buf, u32 size);

struct ax_jit;

enum ax_jit_item_kind {
	AX_JIT_REGS,
	AX_JIT_MEM,
	AX_JIT_EXPR,
	AX_JIT_ELSEWHERE, /* not done by the snippet, but counted */
};

/**
 * struct ax_jit_item - one action of a tracepoint
 * @kind: what it is
 * @mask: REGS: GDB's register mask
 * @base: MEM: register that @offset counts from, -1: none
 * @offset: MEM: address or offset
 * @len: MEM: bytes
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
 * @nitems: how many; 0: it is @v
 * @target: where
 * @pc: what register 16 (rip) reads as
 * @ways: enum ax_tsv_way of every variable that is named, by number; NULL: all by call
 * @slots: where the variables are, by number, for expressions with AX_F_ADDS; they must stay there
 *	while the snippet may run
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
 * ax_jit_work_size() - memory that the compiler needs
 * @req: what it will be asked
 *
 * Return: bytes; the caller allocates them (8-aligned, contents do not matter).
 */
size_t ax_jit_work_size(const struct ax_jit_request *req);

/**
 * ax_jit_plan() - decide everything but the bytes
 * @work: ax_jit_work_size() bytes
 * @req: what; copied, but not what it points to
 *
 * Actions become one snippet if what they collect has one known form: then it writes their blocks
 * (see trace/frame.h) to env->frame, where the caller has made room for ax_jit_frame_bytes(), and
 * keeps env->progress: when it fails, the action that did and the bytes that are good are there.
 * Expressions with jumps, strings, lengths that are computed, and ones that need the variables'
 * lock have no such form; one string of up to 64 bytes a pad's frame may have, see struct
 * gtp_pad_frame.
 *
 * Context: any; allocates nothing, time is about linear in the length of the expression.
 * Return: the bytes of code that ax_jit_emit() will write; 0: these actions are no one snippet.
 */
u32 ax_jit_plan(struct ax_jit *work, const struct ax_jit_request *req);

/* ax_jit_frame_bytes - of planned actions: what they collect */
u32 ax_jit_frame_bytes(const struct ax_jit *work);

/**
 * ax_jit_emit() - write the code that was planned
 * @work: as ax_jit_plan() left it, or gtp_pad_plan()
 * @base: address where the first byte will run, a multiple of AX_JIT_CODE_ALIGN
 * @buf: receives the code
 * @size: room at @buf
 *
 * Return: 0; -ENOSPC: @size is less than the plan; -ERANGE: something that the code has to reach is
 * more than 2 GiB from @base: the stubs, or of a pad the probed place, what a displaced instruction
 * refers to, pad_hit.
 */
int ax_jit_emit(struct ax_jit *work, u64 base, u8 *buf, u32 size);

/**
 * ax_jit_run() - evaluate a snippet as ax_interp() evaluates its expression
 * @fn: the snippet
 * @env: where; @env->pc is not looked at
 * @result: the value, 0 on an error; may be NULL
 */
static inline int ax_jit_run(ax_jit_fn fn, struct ax_env *env, u64 *result)
{
	struct ax_jit_result r = fn(env->regs, env);

	if (result)
		*result = r.value;
	return (int)r.status;
}

#endif /* _GTP_JIT_H */
