/* SPDX-License-Identifier: GPL-2.0-only */
/* The interface of the compiler, which turns agent expressions into machine code. */
#ifndef _GTP_JIT_H
#define _GTP_JIT_H

#include "agentexpr/ax.h"

struct gtp_tsv;
struct ax_jit_target;

/*
 * The compiler turns one verified expression into a snippet: a function that C can call, which
 * needs only its two arguments and a few common stubs within 2 GiB. A snippet without calls and
 * with few values has no stack frame. A snippet never uses more than AX_MAX_DEPTH + 10 words of
 * stack.
 *
 * A snippet reads memory in one of two ways. A fast load is a plain mov, for an address below
 * target->fast_limit. The offset of the mov in the code is a multiple of AX_JIT_LOAD_ALIGN. A
 * careful load calls env->ops->read(). The conditional jump before a fast load, which leads to the
 * careful load if the address is too high, ends with a displacement of 4 bytes, right before the
 * mov. If the mov faults, that displacement gives the address at which to continue. In the kernel
 * an exception table does that, with one entry for each multiple of AX_JIT_LOAD_ALIGN; in userspace
 * a signal handler does. Only env->ops->read() decides that an address is bad.
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
 * struct ax_jit_result - the result of a snippet. @status is the value that ax_interp() would
 * return; @value is the expression's value, or 0 on an error. For actions @value is the size of the
 * trace frame that they have collected, including its head, so it is not 0
 */
struct ax_jit_result {
	u64 value;
	s64 status;
};

/*
 * ax_jit_fn - the type of a snippet, which evaluates an expression or runs actions
 *
 * A snippet uses @env->ops, @env->ctx and, for printf, @env->stack and @env->text. It writes
 * @env->err only if the status is -EINVAL.
 * Context: a hit; see struct ax_ops.
 */
typedef struct ax_jit_result (*ax_jit_fn)(const struct gtp_regs *regs, struct ax_env *env);

/*
 * ax_jit_actions_fn - the type of a snippet of actions, for a caller that needs only @value
 *
 * GCC gives a function that calls an ax_jit_fn a frame pointer, because the two-word result may
 * need alignment. A function that calls an ax_jit_actions_fn needs none.
 */
typedef u64 (*ax_jit_actions_fn)(const struct gtp_regs *regs, struct ax_env *env);

/*
 * ax_jit_can_early - true if the snippet of a condition can run before a hit begins. Such a
 * condition uses only registers, memory, arithmetic, and variables that take no call and do not
 * depend on the kind of probe. Its snippet needs only @env->ops->read, and sets @env->err if it
 * fails
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
	AX_JIT_PAIR,
	AX_JIT_NR_STUBS,
};

/* AX_JIT_MARK - a pad adds this to current->pagefault_disabled while it reads memory */
enum { AX_JIT_MARK = 1 << 20 };

/**
 * struct ax_jit_var - a trace state variable that can be read without a call
 * @bytes: the size of the value, 4 or 8; 0: reading this variable takes a call
 * @sign: sign-extend the value to 64 bits
 * @follow: the number of pointers to follow to the value, up to 2; the first is in the GS segment
 * @moves: true if the value changes when the task moves to another CPU, which can happen between a
 *	pad and the C code that it calls; so a pad's condition must not use it
 * @less_entered: subtract env->entered, which is 0 in a pad's condition
 * @gs: the offset in the GS segment of the value or of the first pointer to it
 * @offset: if @follow is not 0: the offset from the first pointer, in memory that is always mapped
 * @then: if @follow is 2: the offset from the second pointer
 * @mask: the bits to keep of a 4-byte value; 0: all
 * @add: a constant to add to the value, after everything else
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
 * struct ax_jit_target - properties of the kernel or process in which snippets run
 * @fast: true if fast loads are allowed
 * @endbr: true if a function that is called indirectly must begin with an endbr64
 * @upper_half: true if indirect branches must end in the upper half of a cache line
 * @lfence: true if an lfence must precede indirect branches
 * @lahf: true if the processor has lahf and sahf in 64-bit mode
 * @fast_limit: addresses below it, compared as signed numbers, are read with fast loads
 * @return_thunk: the address to which a return must jump; 0: a plain ret
 * @task: offset in the GS segment of the pointer to the running task; 0: pads do not mark it
 * @task_faults: the offset of pagefault_disabled in a task
 * @tasks_used: the address of gtp_tasks_used (aggregate/tasks.h); 0: pads read no variable of tasks
 * @red_zone: bytes below rsp that belong to the interrupted code: 0 in the kernel, 128 in a process
 * @var: how to read each variable that needs no call, indexed by the variable's number
 * @nvars: the number of entries in @var; reading a variable with a higher number takes a call
 * @pad_hit: the function that jump pads call at a hit; see pad/pad.h
 * @stub: addresses of the common stubs, from ax_jit_stubs()
 *
 * In the kernel @fast_limit is a negative number: it allows the upper half of the address space
 * except its last 10 MiB, where the vsyscall page and the error pointers are. User addresses are
 * positive numbers, so the same signed comparison excludes them; a fast load must never touch user
 * memory.
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
	u64 tasks_used;
	s32 red_zone;
	const struct ax_jit_var *var;
	u32 nvars;
	u64 pad_hit;
	u64 stub[AX_JIT_NR_STUBS];
};

/**
 * ax_jit_stubs() - make the common stubs
 * @w: the target of the snippets; @w->stub is filled in
 * @base: the address of the stubs' first byte, a multiple of AX_JIT_CODE_ALIGN
 * @buf: receives the code; NULL: only count its bytes
 * @size: the room in @buf
 *
 * Return: bytes of code; 0 if it does not fit.
 */
u32 ax_jit_stubs(struct ax_jit_target *w, u64 base, u8 *buf, u32 size);

struct jit_stub_call;

/* ax_jit_stubs_for - like ax_jit_stubs(), but the stubs call the functions of @calls */
u32 ax_jit_stubs_for(struct ax_jit_target *w, const struct jit_stub_call *calls, u64 base, u8 *buf,
		     u32 size);

struct ax_jit;

enum ax_jit_item_kind {
	AX_JIT_REGS,
	AX_JIT_MEM,
	AX_JIT_EXPR,
	AX_JIT_ELSEWHERE, /* the snippet only counts it; C performs it */
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
 * @v: the expression; a snippet with a printf needs its bytecode as long as it may run
 * @items: the actions; not copied
 * @nitems: the number of actions; 0: compile @v
 * @target: the target that the code is compiled for
 * @pc: the value that expressions read for register 16 (rip)
 * @ways: the enum ax_tsv_way of each variable, indexed by its number; NULL: all are AX_TSV_CALL
 * @slots: the variables, indexed by number, for expressions with AX_F_ADDS; they must stay at their
 *	addresses while the snippet may run
 * @seed: varies the choice of registers, for tests; 0 gives the best code
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
 * Return: the number of bytes. The caller allocates them, aligned to 8 bytes, and need not clear
 * them.
 */
size_t ax_jit_work_size(const struct ax_jit_request *req);

/**
 * ax_jit_plan() - run the passes of the compiler that find the size of the code
 * @work: ax_jit_work_size() bytes
 * @req: the request; the struct is copied, the data it points to is not
 *
 * Actions can become one snippet if the layout of the blocks that they collect is known in advance.
 * The snippet writes these blocks (see trace/frame.h) to env->frame, where the caller has reserved
 * ax_jit_frame_bytes(). The snippet also updates env->progress, so that after a failure the failed
 * action and the number of valid bytes are known. Such a snippet cannot contain an expression with
 * jumps, strings, computed lengths, or variables that need the lock. As an exception, a frame that
 * a pad writes may have one string of up to 64 bytes, see struct gtp_pad_frame.
 *
 * Context: any. Allocates nothing; the time is about linear in the length of the expression.
 * Return: the bytes of code that ax_jit_emit() will write; 0: these actions cannot be one snippet.
 */
u32 ax_jit_plan(struct ax_jit *work, const struct ax_jit_request *req);

/* ax_jit_frame_bytes - return the number of bytes that planned actions collect */
u32 ax_jit_frame_bytes(const struct ax_jit *work);

/**
 * ax_jit_emit() - write planned code
 * @work: the memory in which ax_jit_plan() or gtp_pad_plan() has planned the code
 * @base: the address where the code's first byte will run, a multiple of AX_JIT_CODE_ALIGN
 * @buf: receives the code
 * @size: the room in @buf
 *
 * Return: 0; -ENOSPC if @size is less than the planned size; -ERANGE if something that the code
 * must reach is more than 2 GiB from @base: the stubs, or for a pad the probed place, an operand of
 * a displaced instruction, or pad_hit.
 */
int ax_jit_emit(struct ax_jit *work, u64 base, u8 *buf, u32 size);

/**
 * ax_jit_run() - run a snippet, with the effects and the result that ax_interp() has for its
 * expression
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
