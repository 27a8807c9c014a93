/* SPDX-License-Identifier: GPL-2.0-only */
/* The interface of agent expressions: decode, disassemble, verify and evaluate them. */
#ifndef _GTP_AX_H
#define _GTP_AX_H

#include "base/base.h"
#include "base/regs.h"
#include "agentexpr/ax_errors.h"
#include "agentexpr/ax_ops.h"

enum ax_op {
#define X(name, code, bytes, pops, pushes, rule) AX_OP_##name = code,
	AX_OPS(X)
#undef X
};

enum ax_rule {
	AX_RULE_invalid, /* zero: a gap in the opcode table */
	AX_RULE_none,
	AX_RULE_jump,
	AX_RULE_reg,
	AX_RULE_tsv,
	AX_RULE_pick,
	AX_RULE_printf,
	AX_RULE_end,
	AX_RULE_refuse,
};

/* clang-format off */
enum ax_err {
	AX_OK,
#define X(name, text) AX_E_##name,
	AX_VERIFY_ERRORS(X)
	AX_RUNTIME_ERRORS(X)
#undef X
	AX_NR_ERRORS
};

/* clang-format on */

enum {
	AX_MAX_LEN = 16384, /* bytes of one expression; no packet has room for more */
	AX_MAX_DEPTH = 100, /* values on the stack; gdbserver has the same limit */
	AX_MAX_PRINT_ARGS = 8,
};

struct ax_op_info {
	const char *name;
	u8 rule; /* enum ax_rule; AX_RULE_invalid: not an opcode */
	u8 operand_bytes;
	u8 pops;
	u8 pushes;
};

/* ax_op_info - the opcode table; a byte that is not an opcode has the rule AX_RULE_invalid */
extern const struct ax_op_info ax_op_info[256];

/* struct ax_error - an error in an expression and its place; ax_error_format() makes the text */
struct ax_error {
	u16 code; /* enum ax_err */
	u16 pc;	  /* byte offset of the instruction */
	u8 op;	  /* the opcode byte of the instruction */
	u64 arg, arg2;
};

/* struct ax_insn - one decoded instruction */
struct ax_insn {
	u16 pc;
	u16 next; /* pc of the following instruction */
	u8 op;
	u8 nargs;	/* printf: conversion arguments, without channel and function */
	u16 data_len;	/* printf: bytes of @data, the NUL included */
	u64 operand;	/* immediate, zero-extended; jump: absolute target */
	const u8 *data; /* printf: the format */
};

/**
 * ax_decode() - decode the instruction at @pc
 * @code: the bytecode of the expression
 * @len: the length of @code in bytes
 * @pc: the offset of the instruction, less than @len
 * @insn: receives the instruction
 *
 * Return: AX_OK, AX_E_UNKNOWN_OPCODE or AX_E_OPERAND_CUT. Reads only code[0..len).
 */
enum ax_err ax_decode(const u8 *code, u32 len, u32 pc, struct ax_insn *insn);

/**
 * ax_disasm() - write one instruction as text, such as "const8 12" or "if_goto 20"
 * @insn: the instruction, from ax_decode()
 * @buf: receives a NUL-terminated string, cut when it does not fit
 * @size: bytes of @buf
 *
 * Return: the length of the whole text.
 */
int ax_disasm(const struct ax_insn *insn, char *buf, size_t size);

/**
 * ax_error_format() - write an error as a sentence: "add at byte 8: needs 2 values, the stack has
 * 1"
 * @err: the error
 * @buf: receives a NUL-terminated string
 * @size: bytes of @buf
 *
 * Return: the length of the whole text.
 */
int ax_error_format(const struct ax_error *err, char *buf, size_t size);

/* ax_error_name - return an error's name as in tests/vectors/, for example "STACK_UNDERFLOW" */
const char *ax_error_name(enum ax_err code);

/* The purpose of an expression decides what must be on the stack at its end. */
enum ax_kind {
	AX_CONDITION, /* must leave a value */
	AX_ACTION,    /* may leave anything on the stack */
};

enum {
	AX_F_READS_MEM = 1 << 0, /* ref* */
	AX_F_COLLECTS = 1 << 1,	 /* trace*, tracev */
	AX_F_GETS_TSV = 1 << 2,
	AX_F_SETS_TSV = 1 << 3,
	AX_F_PRINTS = 1 << 4,
	/*
	 * The expression sets a variable, and must hold tsv_lock of struct gtp_hit_ops meanwhile.
	 * ax_settle_tsvs() sets this flag and the next two.
	 */
	AX_F_LOCKED = 1 << 5,
	AX_F_AGGREGATES = 1 << 6, /* sets an aggregation */
	AX_F_ADDS = 1 << 7,	  /* only adds to one variable, atomically */
	AX_F_STRING = 1 << 8,	  /* tracenz */
	/*
	 * If both of these flags are set, the evaluation must be atomic with respect to other CPUs.
	 */
	AX_F_UPDATES_TSV = AX_F_GETS_TSV | AX_F_SETS_TSV,
};

/* struct ax_point - what the verifier knows about each byte of an expression */
struct ax_point {
	u8 depth; /* values on the stack before the instruction here */
	u8 flags;
};

enum {
	AX_P_INSN = 1 << 0,    /* an instruction starts here */
	AX_P_TARGET = 1 << 1,  /* a jump lands here */
	AX_P_REACHED = 1 << 2, /* can be executed; unreached code is neither compiled nor run */
};

/**
 * struct ax_verified - an expression that may run
 * @code: the bytecode; owned by the caller of ax_verify(), must outlive this struct
 * @points: @len entries, also owned by that caller
 * @len: the length of @code in bytes
 * @max_depth: the deepest the stack gets, at most AX_MAX_DEPTH
 * @ninsns: the number of instructions that control can reach
 * @flags: AX_F_*
 * @adds: if AX_F_ADDS is set, the variable's number; its getv returns 0, and its setv adds
 * @regs_used: bit n is set if the expression reads GDB's register n
 *
 * Only ax_verify() fills in this struct. ax_interp() and the compiler rely on its checks and do not
 * repeat them.
 */
struct ax_verified {
	const u8 *code;
	const struct ax_point *points;
	u16 len;
	u16 max_depth;
	u16 ninsns;
	u16 flags;
	u16 adds;
	u64 regs_used;
};

/**
 * ax_verify() - check an expression in one pass, before it is ever run
 * @code: the bytecode of the expression; not copied
 * @len: the length of @code
 * @kind: condition or action
 * @points: @len entries of memory for the verifier's findings; needs no initialisation
 * @out: receives the verified expression; valid only if AX_OK is returned
 * @err: receives the error and its place, if there is one
 *
 * The comment at the top of agentexpr/verify.c lists what ax_verify() refuses. Trace state
 * variables are checked later, by ax_verify_tsvs(), because GDB defines them after the expressions
 * that use them.
 *
 * Context: any. Reads @code only within @len, whatever the bytes. Time is linear in @len.
 * Return: AX_OK or the reason, which is also in @err->code.
 */
enum ax_err ax_verify(const u8 *code, u32 len, enum ax_kind kind, struct ax_point *points,
		      struct ax_verified *out, struct ax_error *err);

/**
 * ax_verify_tsvs() - check that every trace state variable that an expression names exists
 * @v: a verified expression
 * @known: called for each getv, setv, tracev; returns AX_OK, AX_E_UNKNOWN_TSV or AX_E_READ_ONLY_TSV
 * @ctx: passed to @known
 * @err: receives the error and its place
 *
 * Return: AX_OK or the first refusal.
 */
enum ax_err ax_verify_tsvs(const struct ax_verified *v,
			   enum ax_err (*known)(void *ctx, u16 tsv, bool sets), void *ctx,
			   struct ax_error *err);

/* enum ax_tsv_way - how machine code accesses a trace state variable */
enum ax_tsv_way {
	AX_TSV_CALL,   /* it calls env->ops */
	AX_TSV_LOCAL,  /* it uses env->local[number of the variable], which is this CPU's own */
	AX_TSV_STRING, /* it calls env->ops, which writes only this CPU's own memory */
	AX_TSV_SWITCH, /* it calls env->ops, and setting the variable is atomic by itself */
	AX_TSV_BLOCKS, /* like AX_TSV_CALL, but collecting the variable records more than a value */
	AX_TSV_ADDED,  /* like AX_TSV_CALL, but all expressions that set it only add, atomically */
	AX_TSV_TASK,   /* it calls env->ops; the value is the current task's own, so no lock */
	AX_TSV_UPDATE, /* setting it updates this CPU's table, whose address is in env->local */
	AX_TSV_COUNT,  /* like AX_TSV_UPDATE; the update only increments the table's first word */
	AX_TSV_START,  /* setting it calls env->ops->pair(), which stores a start in a table */
	AX_TSV_END,    /* the same, but it takes a start from the table */
};

/**
 * ax_next_reached() - decode the next instruction that control can reach
 * @v: a verified expression
 * @insn: the previous instruction, or all zero for the first call; receives the next one
 *
 * Instructions that control cannot reach are skipped: the verifier has not checked their operands.
 * Context: any.
 * Return: false if there is no further instruction.
 */
bool ax_next_reached(const struct ax_verified *v, struct ax_insn *insn);

/**
 * ax_settle_tsvs() - decide whether an expression needs the lock for the variables that it sets
 * @v: a verified expression whose variables are known to exist
 * @ways: the enum ax_tsv_way of each variable, indexed by the variable's number
 *
 * The verifier does not know the variables, so it assumes that every expression that sets a
 * variable needs the lock.
 */
void ax_settle_tsvs(struct ax_verified *v, const u8 *ways);

/**
 * struct ax_ops - the memory, variables and records that an expression accesses; no member is NULL
 * @read: copy @len bytes at @addr to @dst; return 0 or -EFAULT
 * @getv: return the value of a trace state variable at the hit
 * @setv: set a trace state variable
 * @pair: set a variable that is AX_TSV_START or AX_TSV_END; return true if the tracepoint's
 *	remaining actions shall be left out. Machine code calls it; ax_interp() calls @setv
 * @addv: add to a variable atomically and return the sum; for expressions with AX_F_ADDS
 * @trace: record @len bytes at @addr; return 0, -EFAULT, -ENOSPC (buffer full) or -E2BIG (more than
 *	a frame may hold). If @len is 0, record nothing and return 0 for any @addr.
 * @trace_string: record up to @max bytes, through the first NUL; return the same as @trace. @max
 *	may be 0, like @len of @trace.
 * @tracev: record the value of a trace state variable; return 0 or -ENOSPC
 * @print: output the text of a printf, already formatted and NUL-terminated; must not fail
 *
 * All are called in the context of the hit: they may not sleep, allocate, or take a lock.
 */
struct ax_ops {
	int (*read)(void *ctx, void *dst, u64 addr, u32 len);
	s64 (*getv)(void *ctx, u16 tsv);
	void (*setv)(void *ctx, u16 tsv, s64 value);
	bool (*pair)(void *ctx, u16 tsv, u64 key);
	s64 (*addv)(void *ctx, u16 tsv, s64 by);
	int (*trace)(void *ctx, u64 addr, u64 len);
	int (*trace_string)(void *ctx, u64 addr, u64 max);
	int (*tracev)(void *ctx, u16 tsv);
	void (*print)(void *ctx, const char *text, u32 len);
};

/**
 * struct ax_env - the environment of an expression
 * @ops: the functions for memory, variables and records
 * @ctx: passed to every function of @ops
 * @regs: the registers of the hit
 * @pc: the value of register 16 (rip): the tracepoint's address, whatever rip the probe left in
 *	@regs
 * @stack: AX_MAX_DEPTH words, this CPU's own
 * @text: AX_PRINT_MAX bytes for printf's text, this CPU's own
 * @local: this CPU's own trace state variables, by number, for machine code compiled to use them
 * @time: the time of the hit, in the unit of the times in frames; 0: not read yet
 * @tsc: converts the times in frames, which are values of the time stamp counter, to ns; NULL: the
 *	times in frames are ns already
 * @entered: the amount that the probe's own code has added to preempt_count()
 * @err: the reason why the evaluation ended early
 * @frame: where a snippet of a tracepoint's actions writes the collected data (see jit/jit.h)
 * @progress: how far that snippet got: the number of its action, counted from 1, and the number of
 *	bytes in @frame
 */
struct ax_env {
	const struct ax_ops *ops;
	void *ctx;
	const struct gtp_regs *regs;
	u64 pc;
	u64 *stack;
	char *text;
	u64 *local;
	u64 time;
	const struct gtp_calibration *tsc;
	u32 entered;
	struct ax_error err;
	u8 *frame;
	u32 progress; /* action << AX_PROGRESS_ACTION | bytes */
};

enum { AX_PROGRESS_ACTION = 20 }; /* jit/record.c asserts that the bytes fit into 20 bits */

enum { AX_PRINT_MAX = 256 };

/**
 * ax_interp() - evaluate an expression; this function and agentexpr/meaning.h define the meaning of
 * every opcode
 * @v: a verified expression
 * @env: the environment of the hit
 * @result: receives the top of the stack at the end, 0 if the stack is empty; may be NULL
 *
 * Arithmetic is modulo 2^64. Division by zero is an error; INT64_MIN / -1 is INT64_MIN and its
 * remainder 0. Shifts by 64 and more (the count is unsigned) give 0; rsh_signed gives 0 or -1,
 * depending on the sign. ext and zero_ext by 64 and more change nothing; by 0 both give 0. ref*
 * zero-extend and accept any alignment. if_goto jumps unless the top is 0. rot: a b c -> c a b (top
 * on the right). trace and tracenz take the length from the top of the stack. printf takes the
 * function from the top, then the channel, the first argument, the second, ...; it ignores the
 * function and the channel. It converts as C does (see agentexpr/format.h), and cuts the text to
 * the size of @env->text.
 *
 * Context: a hit; see struct ax_ops.
 * Return: 0; -EINVAL for an error of the expression, which is in @env->err; -ENOSPC if the trace
 * buffer is full.
 */
int ax_interp(const struct ax_verified *v, struct ax_env *env, u64 *result);

#endif /* _GTP_AX_H */
