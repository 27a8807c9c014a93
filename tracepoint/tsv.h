/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace state variables: GDB's $names that conditions and actions read and set. */
#ifndef _GTP_TSV_H
#define _GTP_TSV_H

#include "aggregate/shape.h"
#include "base/base.h"
#include "tracepoint/tracepoint.h"

enum {
	GTP_TSV_MAX = 512, /* numbers are 1 to GTP_TSV_MAX - 1: hits use them as an index */
	GTP_TSV_NAME_MAX = 64,
	GTP_TSV_LOST = GTP_TSV_MAX, /* $lost, in frames of GTP_TP_LOST; no expression has it */
};

/*
 * A CPU's own words for variable n: at n its value, or the first half of a string; at
 * GTP_TSV_SECOND + n the second half; at GTP_TSV_TABLE + n the address of an aggregation's table,
 * which only the session writes, in the kernel between two hits of that CPU.
 */
enum {
	GTP_TSV_SECOND = GTP_TSV_MAX,
	GTP_TSV_TABLE = 2 * GTP_TSV_MAX,
	GTP_TSV_WORDS = 3 * GTP_TSV_MAX,
};

/* The built-in variables. Numbers are fixed; GDB renumbers its own when they collide. */
enum gtp_tsv_builtin {
	GTP_TSV_CPU_ID = 1,
	GTP_TSV_CLOCK,		  /* ns, monotonic: the clock that orders frames */
	GTP_TSV_CURRENT_TASK,	  /* struct task_struct * */
	GTP_TSV_CURRENT_TASK_PID, /* its pid (GDB and the kernel call it pid; users call it tid) */
	/* The values of a call that returns; see tracepoint/at_return.h. */
	GTP_TSV_RET,	     /* the return value, rax */
	GTP_TSV_LATENCY,     /* ns from the call's entry to its return */
	GTP_TSV_ENTRY_CLOCK, /* $clock at the call's entry */
	GTP_TSV_KRET,	     /* KGTP's name for GTP_TSV_RET */
	/* The kernel's macros of these names, for the code that was hit. */
	GTP_TSV_HARDIRQ_COUNT,
	GTP_TSV_SOFTIRQ_COUNT,
	GTP_TSV_IRQ_COUNT,
	GTP_TSV_CURRENT_TASK_USER, /* 1: the task has user registers, 0: it has none */
	GTP_TSV_TASK_PT_REGS,	   /* struct pt_regs *: the task's user registers */
	GTP_TSV_XTIME_SEC,	   /* the time of day: seconds since the epoch */
	GTP_TSV_XTIME_NSEC,	   /* its ns; both are from one reading for the hit */
	GTP_TSV_RDTSC,		   /* the processor's counter at the read */
	GTP_TSV_CPU_NUMBER,	   /* the number of CPUs that the machine can have */
	GTP_TSV_SELF_TRACE,	   /* naming it makes GDB's own tasks traced, too */
	/* An action sets one of these to a tracepoint's number: then its hits count, or do not. */
	GTP_TSV_ENABLE,
	GTP_TSV_DISABLE,
	GTP_TSV_KSTACK, /* the kernel stack's number, see hit/stacks.h; 0: no room */
	GTP_TSV_BT,	/* collects registers and the stack's bytes; the value is their number */
	GTP_TSV_USTACK, /* the number of the program's stack; 0: no room */
	/* The values of a hit of a watchpoint; see hit/watched.h. */
	GTP_TSV_WATCH_ADDR,	/* the address of the variable */
	GTP_TSV_WATCH_VAL,	/* the variable's value after the access */
	GTP_TSV_WATCH_PREV_VAL, /* the variable's value at the access before */
	GTP_TSV_NR_BUILTIN,
};

/**
 * struct gtp_tsv - one trace state variable
 * @num: the number by which GDB knows the variable
 * @builtin: the value comes from the hit; read-only, except variables that are AX_TSV_SWITCH
 * @key_words: for a key of aggregations: 1, or 2 for a string of GTP_AGGR_STRING bytes; else 0
 * @initial: the value at tstart
 * @value: the present value, unless each CPU has its own. It is shared between CPUs: expressions
 *     that set one run under struct gtp_hit_ops' tsv_lock, except those that are AX_TSV_ADDED
 */
struct gtp_tsv {
	u16 num;
	bool builtin;
	u8 key_words;
	s64 initial;
	s64 value;
	char name[GTP_TSV_NAME_MAX];
};

/**
 * struct gtp_tsvs - all trace state variables
 * @slot: the variables by number; NULL: no variable has this number
 * @ways: enum ax_tsv_way of each variable, by its name: those named p_NAME or per_cpu_NAME are each
 *	CPU's own, and so are keys, key_NAME and keystr_NAME; aggregations are count_NAME, ..., see
 *	aggregate/shape.h. In a run there are AX_TSV_ADDED ones as well, see session/added.h
 * @in_use: a run is active: no variable can get another name
 */
struct gtp_tsvs {
	struct gtp_tsv *slot[GTP_TSV_MAX];
	u8 ways[GTP_TSV_MAX];
	bool in_use;
};

/* gtp_tsvs_init - define the built-in variables; return 0 or -ENOMEM */
int gtp_tsvs_init(struct gtp_tsvs *tsvs, const struct gtp_mem *mem);
void gtp_tsvs_exit(struct gtp_tsvs *tsvs, const struct gtp_mem *mem);

/* gtp_tsvs_clear - drop the user's variables, and keep the built-in ones (QTinit) */
void gtp_tsvs_clear(struct gtp_tsvs *tsvs, const struct gtp_mem *mem);

/*
 * gtp_tsvs_define - handle a QTDV packet without its "QTDV:"; create or re-initialise a variable.
 * Return 0, or -errno with @why
 */
int gtp_tsvs_define(struct gtp_tsvs *tsvs, const struct gtp_mem *mem, const char *text,
		    struct gtp_why *why);

/* gtp_tsvs_reset - set every user's variable to its initial value (tstart) */
void gtp_tsvs_reset(struct gtp_tsvs *tsvs);

/* gtp_tsvs_known - check a variable for ax_verify_tsvs(); @ctx is the struct gtp_tsvs */
enum ax_err gtp_tsvs_known(void *ctx, u16 tsv, bool sets);

/*
 * gtp_tsvs_piece - write the n-th variable in qTfV's form "N:INIT:BUILTIN:hexname"; return the
 * length, 0 if there is none
 */
int gtp_tsvs_piece(const struct gtp_tsvs *tsvs, u32 n, char *buf, size_t size);

#endif /* _GTP_TSV_H */
