/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace state variables: GDB's variables, which conditions and actions read and set. */
#ifndef _GTP_TSV_H
#define _GTP_TSV_H

#include "aggregate/pair.h"
#include "aggregate/shape.h"
#include "aggregate/tasks.h"
#include "base/base.h"
#include "tracepoint/tracepoint.h"

enum {
	GTP_TSV_MAX = 512, /* numbers are 1 to GTP_TSV_MAX - 1: hits use them as an index */
	GTP_TSV_NAME_MAX = 64,
	GTP_TSV_LOST = GTP_TSV_MAX, /* $lost, in frames of GTP_TP_LOST; not for expressions */
};

/*
 * Indexes into @local of struct gtp_cpu for variable n: at n its value, or the first half of a
 * string; at GTP_TSV_SECOND + n the second half, or the address of the CPU's own counters of a
 * pair; at GTP_TSV_TABLE + n the address of an aggregation's table, which the session writes
 * between two hits of that CPU, or of a pair's table.
 */
enum {
	GTP_TSV_SECOND = GTP_TSV_MAX,
	GTP_TSV_TABLE = 2 * GTP_TSV_MAX,
	GTP_TSV_WORDS = 3 * GTP_TSV_MAX,
};

/* The built-in variables. Their numbers are fixed; GDB renumbers its variables if they collide. */
enum gtp_tsv_builtin {
	GTP_TSV_CPU_ID = 1,
	GTP_TSV_CLOCK,		  /* the time of the hit in ns, monotonic */
	GTP_TSV_CURRENT_TASK,	  /* struct task_struct * */
	GTP_TSV_CURRENT_TASK_PID, /* the task's pid in the kernel, which userspace calls tid */
	/* The values of a call that returns; see tracepoint/at_return.h. */
	GTP_TSV_RET,	     /* the return value, rax */
	GTP_TSV_LATENCY,     /* ns from the call's entry to its return */
	GTP_TSV_ENTRY_CLOCK, /* $clock at the call's entry */
	GTP_TSV_KRET,	     /* KGTP's name for GTP_TSV_RET */
	/* The values of the kernel's macros of these names in the code that was hit. */
	GTP_TSV_HARDIRQ_COUNT,
	GTP_TSV_SOFTIRQ_COUNT,
	GTP_TSV_IRQ_COUNT,
	GTP_TSV_CURRENT_TASK_USER, /* 1: the task has user registers, 0: it has none */
	GTP_TSV_TASK_PT_REGS,	   /* struct pt_regs *: the task's user registers */
	GTP_TSV_XTIME_SEC,	   /* the time of day: seconds since the epoch */
	GTP_TSV_XTIME_NSEC,	   /* its ns; one reading of the clock gives both */
	GTP_TSV_RDTSC,		   /* the time stamp counter at the read */
	GTP_TSV_CPU_NUMBER,	   /* the number of possible CPUs */
	GTP_TSV_SELF_TRACE,	   /* if an expression names it, GDB's own tasks are traced, too */
	/* Setting one of these to a tracepoint's number enables or disables that tracepoint. */
	GTP_TSV_ENABLE,
	GTP_TSV_DISABLE,
	GTP_TSV_KSTACK, /* the kernel stack's number, see hit/stacks.h; 0: no room */
	GTP_TSV_BT,	/* collects registers and bytes of the stack; the value: how many bytes */
	GTP_TSV_USTACK, /* the number of the program's stack; 0: no room */
	/* The values of a hit of a watchpoint; see hit/watched.h. */
	GTP_TSV_WATCH_ADDR,	/* the address of the variable */
	GTP_TSV_WATCH_VAL,	/* the variable's value after the access */
	GTP_TSV_WATCH_PREV_VAL, /* the variable's value at the access before */
	GTP_TSV_NR_BUILTIN,
};

/* enum gtp_tsv_pair - the part that a variable has in a pair, see docs/pairs.md */
enum gtp_tsv_pair {
	GTP_TSV_PAIR_NONE,
	GTP_TSV_PAIR_START, /* setting it to a key stores a start */
	GTP_TSV_PAIR_END,   /* setting it to a key takes the start of that key */
	GTP_TSV_PAIR_SINCE, /* ns from the start to the end */
	GTP_TSV_PAIR_KEPT,  /* a value that the end has from the start */
};

/**
 * struct gtp_tsv - one trace state variable
 * @num: the number by which GDB knows the variable
 * @builtin: true if the value comes from the hit; read-only, except variables that are
 *	AX_TSV_SWITCH
 * @key_words: for a key of aggregations: 1, or 2 for a string of GTP_AGGR_STRING bytes; else 0
 * @pair: enum gtp_tsv_pair
 * @initial: the value at tstart
 * @value: the current value, shared by all CPUs, unless each CPU has its own. Expressions that set
 *     it run under tsv_lock of struct gtp_hit_ops, except if the variable is AX_TSV_ADDED
 * @tasks: of a variable that is AX_TSV_TASK: the values of the tasks, from tstart to the next
 *	QTinit or tstart; otherwise NULL
 */
struct gtp_tsv {
	u16 num;
	bool builtin;
	u8 key_words;
	u8 pair;
	s64 initial;
	s64 value;
	struct gtp_tasks *tasks;
	char name[GTP_TSV_NAME_MAX];
};

/**
 * struct gtp_tsvs - all trace state variables
 * @slot: the variables, indexed by number; NULL: no variable has this number
 * @ways: the enum ax_tsv_way of each variable, indexed by number. It follows from the name: p_NAME
 *	and per_cpu_NAME are per-CPU variables, and so are the keys key_NAME and keystr_NAME;
 *	task_NAME has a value for each task; count_NAME, ... are aggregations, see
 *	aggregate/shape.h; pair_start_NAME, ... belong to pairs. During a run others may be
 *	AX_TSV_ADDED, see session/added.h
 * @in_use: true while a run is active; then no variable can get another name
 */
struct gtp_tsvs {
	struct gtp_tsv *slot[GTP_TSV_MAX];
	u8 ways[GTP_TSV_MAX];
	bool in_use;
};

/* gtp_tsvs_init - define the built-in variables; return 0 or -ENOMEM */
int gtp_tsvs_init(struct gtp_tsvs *tsvs, const struct gtp_mem *mem);
void gtp_tsvs_exit(struct gtp_tsvs *tsvs, const struct gtp_mem *mem);

/* gtp_tsvs_clear - free the user's variables, and keep the built-in ones (QTinit) */
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

/* gtp_tsv_pair_name - return the name of the pair of a variable: io for pair_start_io */
static inline const char *gtp_tsv_pair_name(const struct gtp_tsv *v)
{
	return strchr(strchr(v->name, '_') + 1, '_') + 1;
}

/* gtp_tsv_set_pair - connect the variable @num of CPU number @cpu with the table of its pair */
static inline void gtp_tsv_set_pair(u64 *local, u32 num, struct gtp_pair *pair, u32 cpu)
{
	WRITE_ONCE(local[GTP_TSV_SECOND + num], (u64)(unsigned long)&pair->counts[cpu]);
	gtp_publish(&local[GTP_TSV_TABLE + num], (u64)(unsigned long)pair);
}

/*
 * gtp_tsvs_piece - write the n-th variable in qTfV's form "N:INIT:BUILTIN:hexname"; return the
 * length, 0 if there is none
 */
int gtp_tsvs_piece(const struct gtp_tsvs *tsvs, u32 n, char *buf, size_t size);

#endif /* _GTP_TSV_H */
