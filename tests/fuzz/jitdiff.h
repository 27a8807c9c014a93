/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares interpreter and compiler: both evaluate the same expression in the same environment, and
 * all effects must be equal.
 */
#ifndef _GTP_JITDIFF_H
#define _GTP_JITDIFF_H

#include "jit/jit.h"
#include "tests/fuzz/axgen.h"
#include "tracepoint/tsv.h"

enum {
	JITDIFF_LOG = 8192,
	JITDIFF_FIRST_TSV = GTP_TSV_CURRENT_TASK, /* the first of two built-in variables */
	JITDIFF_PLAIN = 40,			  /* the first of two other variables */
	JITDIFF_BUILTIN = GTP_TSV_HARDIRQ_COUNT,  /* the first of further built-in variables */
	JITDIFF_NBUILTIN = GTP_TSV_TASK_PT_REGS - JITDIFF_BUILTIN + 1,
	JITDIFF_ENTERED = 0x110000, /* the value of env.entered */
	JITDIFF_TSVS = 48,
	JITDIFF_TRACE_MAX = 4096, /* collecting more bytes at once fails with -E2BIG */
	JITDIFF_RUNS = 2,	  /* runs of each program, each with other registers */
};

/**
 * struct jitdiff_run - one evaluation and everything that it changed; the ctx of the operations
 * @room: the most bytes that @log may have
 */
struct jitdiff_run {
	const struct jitdiff_world *world;
	struct ax_env env;
	u64 stack[AX_MAX_DEPTH];
	char text[AX_PRINT_MAX];
	u64 value;
	int ret;
	s64 tsv[JITDIFF_TSVS];
	u32 room;
	u32 len;
	u8 log[JITDIFF_LOG];
};

/* struct jitdiff_case - an expression for which interpreter and compiler differ, for a report */
struct jitdiff_case {
	const u8 *code;
	u32 len;
	struct gtp_regs regs;
	struct jitdiff_run interpreter, compiler;
};

/**
 * struct jitdiff_world - the environment in which interpreter and compiler are compared
 * @read: reads memory, or returns an error if it cannot be read
 * @builtin: returns the value of a built-in variable
 * @compile: makes code in executable memory; @g may decide how; returns 0 or -errno
 * @differ: reports a difference
 * @request: like @compile, but takes any request and fills in its target; -EOPNOTSUPP: these
 * actions cannot be one snippet. @frame_bytes may be NULL
 * @forget: frees the code that earlier calls of @request made
 * @complain: reports a difference for a tracepoint with these actions
 * @pc: the value that expressions read for rip
 */
struct jitdiff_world {
	int (*read)(void *ctx, void *dst, u64 addr, u32 len);
	s64 (*builtin)(void *ctx, enum gtp_tsv_builtin which, u32 entered);
	int (*compile)(const struct ax_verified *v, struct axgen *g, ax_jit_fn *fn, u32 *len);
	void (*differ)(const struct jitdiff_case *c);
	int (*request)(struct ax_jit_request *req, struct axgen *g, ax_jit_fn *fn,
		       u32 *frame_bytes);
	void (*forget)(void);
	void (*complain)(const char *what, const struct ax_jit_item *items, u32 nitems,
			 const struct gtp_regs *regs);
	u64 pc;
};

/*
 * struct jitdiff_stats - how many runs had which result. The counts show, for example, that not all
 * runs failed
 */
struct jitdiff_stats {
	u64 programs, runs, values, errors[AX_NR_ERRORS], full, bytecode, machine_code;
};

extern struct jitdiff_stats jitdiff_stats;

/**
 * jitdiff() - evaluate an expression in the interpreter and as machine code
 * @w: the environment for both
 * @code: the bytecode of the expression
 * @len: the number of bytes
 * @g: decides about registers, room in the trace buffer, and the request to the compiler
 *
 * Result, status, error, collected data, printed text and variables must be the same. Otherwise
 * @w->differ() reports the difference.
 * Return: 0; -EINVAL: the verifier refuses it; -EPROTO: the two ways differ; or what @w->compile()
 * returned.
 */
int jitdiff(const struct jitdiff_world *w, const u8 *code, u32 len, struct axgen *g);

/* jitdiff_regs - set the registers of a hit, some of which hold addresses */
void jitdiff_regs(struct gtp_regs *regs, struct axgen *g);

#endif /* _GTP_JITDIFF_H */
