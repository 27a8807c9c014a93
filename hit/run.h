/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of a trace run that hits use: locations, per-CPU structs, the end of the run. */
#ifndef _GTP_RUN_H
#define _GTP_RUN_H

#include "base/base.h"
#include "base/cpu.h"
#include "base/regs.h"
#include "agentexpr/ax.h"
#include "hit/lines.h"
#include "hit/stacks.h"
#include "hit/ustack.h"
#include "trace/buffer.h"
#include "trace/index.h"
#include "trace/sdata.h"
#include "tracepoint/tracepoint.h"
#include "tracepoint/tsv.h"

enum gtp_stop {
	GTP_STOP_NEVER_RUN, /* qTStatus reports tnotrun */
	GTP_STOP_RUNNING,
	GTP_STOP_USER,	       /* tstop */
	GTP_STOP_FULL,	       /* tfull */
	GTP_STOP_DISCONNECTED, /* tdisconnected */
	GTP_STOP_PASSCOUNT,    /* tpasscount */
	GTP_STOP_ERROR,	       /* terror */
	GTP_STOP_OOPS,	       /* terror: the kernel died in a hit */
};

/* enum gtp_ending - whether a hit is ending the run; the value only grows during a run */
enum gtp_ending {
	GTP_ENDING_NO,
	GTP_ENDING_CLAIMED, /* set by gtp_claim(): one hit is writing the reason */
	GTP_ENDING_WRITTEN, /* set by gtp_publish(): the reason is complete */
};

/**
 * struct gtp_failure - a condition or action that failed at a hit
 * @tp: the tracepoint's number
 * @action: the number of the action, counted from 1; 0 is the condition
 * @kind: the kind of @action: 'R', 'M', 'X', or 'c' for the condition
 * @error: the reason; its @op and @pc are valid only for an expression
 */
struct gtp_failure {
	u32 tp;
	u32 action;
	char kind;
	struct ax_error error;
};

enum { GTP_RUN_BUCKETS = 256 };

/**
 * struct gtp_run - the part of a trace run that hits use
 * @active: true while hits are handled. Set when all locations are armed; cleared by run control or
 *          by the hit that ends the run. Without a run it is set while a dprintf is armed
 * @ending: enum gtp_ending; at most one hit ends the run
 * @ended_by: why the run ended. The hit that has claimed @ending writes @ended_by and @stop_tp.
 *            They are read only when @ending is GTP_ENDING_WRITTEN
 * @stop_tp: the tracepoint that ended the run, for GTP_STOP_PASSCOUNT and GTP_STOP_FULL
 * @pass_errors: true if a failure at a hit is only counted and does not end the run; constant
 *	during a run
 * @failing: enum gtp_ending; at most one hit writes @failure
 * @failure: the first failure; without @pass_errors the one that ended the run
 * @hit_ops, @ctx: the host's functions for hits
 * @tsvs: the trace state variables
 * @stacks: the table of $kstack; NULL if no expression uses it
 * @cpus, @ncpus: each CPU's struct gtp_cpu, from tstart to the next QTinit or tstart
 * @nslots: number of counters on each CPU
 * @by_num: the run's tracepoints, hashed by number, in lists linked by ->next_run that only grow
 * @no_actions: the code of a tracepoint without actions, if hits run in another process; NULL: here
 *
 * Hits read the run without a lock; all other access is under the session's lock.
 */
struct gtp_run {
	bool active;
	bool pass_errors;
	u32 ending;
	enum gtp_stop ended_by;
	u32 stop_tp;
	u32 failing;
	struct gtp_failure failure;
	const struct gtp_hit_ops *hit_ops;
	void *ctx;
	struct gtp_tsvs tsvs;
	struct gtp_stacks *stacks;
	struct gtp_cpu **cpus;
	u32 ncpus;
	u32 nslots;
	struct gtp_tracepoint *by_num[GTP_RUN_BUCKETS];
	void *no_actions;
};

struct gtp_probe_backend;

enum gtp_location_kind {
	GTP_LOCATION_CODE,	  /* an instruction */
	GTP_LOCATION_EVENT,	  /* a kernel tracepoint, by the address of its marker */
	GTP_LOCATION_RETURN,	  /* a function's first instruction, for calls that return */
	GTP_LOCATION_USER,	  /* an instruction of a program, by its address in a file space */
	GTP_LOCATION_USER_RETURN, /* a program's function by its first instruction, for calls */
	GTP_LOCATION_WATCH,	  /* accesses of a variable, by its watch address */
	GTP_LOCATION_SAMPLE,	  /* interrupts by a clock or counter, by its sample address */
};

/**
 * struct gtp_location - one address to probe, with all tracepoints there
 * @next: links all locations of the run
 * @next_addr: the next location in the same bucket of the run
 * @addr: the address of the tracepoints, which a frame reports as pc, unless each hit has its own
 *	(base/moving.h)
 * @kind: the kind of address in @addr, which decides which backends can probe it
 * @first: list of the tracepoints here; while armed it grows at its end and never shrinks
 * @last: the last tracepoint of the list, where another one is added; hits do not read it
 * @n: the number of tracepoints at the location
 * @run: the run to which the location belongs
 * @backend: the backend that probes @addr, set by gtp_arm(); NULL: none does yet, or the backend's
 *	     ->commit has refused @addr
 * @probe: the backend's own struct for the location, while @backend is set
 * @next_own: the next location of the same backend, while they are disarmed
 * @missed: hits that earlier probes of the location have lost, because the kernel skipped them or
 *     there was no buffer
 * @format: the format of the static data that is collected here, set by ->sdata for run control
 * @probe_kind: the kind of the probe, in words for the user ("kprobe", ...)
 * @fast: true if a hit takes no exception, as GDB's command ftrace requires
 * @no_room: true if there was no room for a faster probe, or for a probe that evaluates the
 *	condition
 * @fast_only: true if GDB's command ftrace has set one of the tracepoints
 * @self_trace: true if one of the tracepoints names $self_trace: then hits of GDB's own tasks count
 * @refused: why the location cannot be armed, in words; "" if it is armed or will be
 * @no_jump: why a faster probe was refused, in words (a string constant); NULL: no reason was given
 */
struct gtp_location {
	struct gtp_location *next;
	struct gtp_location *next_addr;
	u64 addr;
	enum gtp_location_kind kind;
	struct gtp_tracepoint *first;
	struct gtp_tracepoint *last;
	u32 n;
	struct gtp_run *run;
	const struct gtp_probe_backend *backend;
	void *probe;
	struct gtp_location *next_own;
	u64 missed;
	struct gtp_sdata_format *format;
	const char *probe_kind;
	bool fast;
	bool no_room;
	bool fast_only;
	bool self_trace;
	const char *no_jump;
	struct gtp_why refused;
};

enum { GTP_HERE_MAX = 64 }; /* most tracepoints at one location */

/* gtp_location_is_refused - true if the location cannot be probed in this run */
static inline bool gtp_location_is_refused(const struct gtp_location *loc)
{
	return loc->refused.text[0];
}

/*
 * gtp_location_not_fast - refuse a fast tracepoint (GDB's ftrace) where no fast probe is possible
 */
static inline void gtp_location_not_fast(const struct gtp_location *loc, struct gtp_why *why)
{
	gtp_why(why, "it cannot be fast: %s; use trace, not ftrace",
		loc->no_jump ? loc->no_jump : "jumps are switched off");
}

/* struct gtp_tp_stat - one tracepoint's counters on one CPU, except for its quick hits */
struct gtp_tp_stat {
	u64 hits;   /* hits for which the condition held */
	u64 usage;  /* bytes of frames that hits have written */
	u64 failed; /* failures of the condition or an action; only with @pass_errors */
};

/*
 * gtp_hit_stat_bytes - return the bytes of @stat and @quick of struct gtp_cpu, which are adjacent
 */
static inline size_t gtp_hit_stat_bytes(u32 nslots)
{
	return (size_t)nslots * (sizeof(struct gtp_tp_stat) + sizeof(u64));
}

enum gtp_in_hit {
	GTP_HIT_NONE,
	GTP_HIT_BEGUN,
	GTP_HIT_KSTACK = 2, /* a bit: in a hit, and @kstack is known */
	GTP_HIT_USTACK = 4, /* a bit: in a hit, and @ustack is known */
	GTP_HIT_LOST = 8,   /* the hit never ends: the kernel died in it, see gtp_hit_lost() */
};

/* enum gtp_undo - the treatment of a hit that reads memory that is not paged in */
enum gtp_undo {
	GTP_UNDO_NEVER, /* the hit fails: the frame is marked as incomplete, or the run ends */
	GTP_UNDO_ASKED, /* the hit must undo its effects, see hit/undo.h */
	GTP_UNDO_DONE,	/* the hit has undone its effects */
};

/**
 * struct gtp_cpu - everything that a hit writes: one for each CPU
 * @in_hit: enum gtp_in_hit and its bits. While it is not 0, this CPU handles a hit; an interrupt or
 *          NMI that hits meanwhile is counted and skipped
 * @kstack: the number of the kernel's stack at the hit
 * @ustack: the number of the program's stack at the hit
 * @id: the value of $cpu_id
 * @run: the run, set by gtp_hit_prepare()
 * @tp: the tracepoint that is being handled
 * @env: the environment of the hit's expressions; a hit sets only @regs, @pc and @time
 * @wall: the time of day in ns at the hit whose time was @wall_at
 * @value: the result of the condition
 * @buf: the frames that hits on the CPU have written
 * @stat: the counters of tracepoints, by the tracepoints' slots
 * @quick: the number of quick hits by slot; all their frames have the size in the tracepoint's plan
 * @nested: the number of hits that were skipped because they were nested
 * @no_sdata: the number of hits for which the kernel made no record of $_sdata
 * @no_target: how often $enable or $disable was set to a number that no tracepoint has
 * @busy: the number of hits missed because another CPU held the lock for variables for too long
 * @local: the values of this CPU's own trace state variables, and of those of a call ($ret, ...);
 *	see tracepoint/tsv.h
 * @undo: enum gtp_undo; a caller that can page in memory sets it before a hit and reads it after it
 * @leave_out: true if the end of a pair has found no start, so that the hit's remaining actions are
 *	left out
 * @restarts: the frames at which the time stamp counter restarted because the machine had slept
 *
 * Hits do not nest, so one struct for each CPU is enough. Values that are the same for all hits are
 * set once, at the beginning of a run. The members that a false condition uses come first, in one
 * cache line.
 */
struct gtp_cpu {
	u32 in_hit;
	u32 id;
	struct gtp_run *run;
	struct gtp_tracepoint *tp;
	struct ax_env env;
	u64 wall;
	u64 wall_at;
	u64 value;
	u32 kstack;
	u32 ustack;
	struct gtp_buffer buf;
	struct gtp_tp_stat *stat;
	u64 *quick;
	u64 nested;
	u64 no_sdata;
	u64 no_target;
	u64 busy;
	u64 stack[AX_MAX_DEPTH];
	char text[AX_PRINT_MAX];
	u64 local[GTP_TSV_WORDS];
	enum gtp_undo undo;
	bool leave_out;
	struct gtp_restarts restarts;
};

/**
 * struct gtp_hit_ops - the functions that a hit needs from its host; they run in the hit's context
 * and must not sleep or allocate
 * @read: copy memory; return 0, or -EFAULT for a bad address; must never fault
 * @clock: return a monotonic time in ns; times of different CPUs are comparable to the hardware's
 *	precision
 * @wall_ns: return the time of day, in ns since the epoch
 * @builtin: return the value of a built-in variable that hit/variable.c does not handle; for
 *           @entered see struct ax_env
 * @task: return the address of the current task, and store in @born a number that no other task
 *        with that address has
 * @stack: store the kernel stack at a hit in @to and return the number of addresses, @max at most:
 *         @pc, then return addresses. For interrupted code store its instruction pointer plus 1, so
 *         that each address minus 1 is inside its instruction. An incomplete stack ends with
 *         GTP_STACKS_LOST. @to has room for 2 * @max words, and @stack may use the second half. The
 *         argument @walk has the unwinder's steps that hits of this run have found. A host that
 *         cannot take stacks sets @stack, @ustack and @stack_bytes to NULL
 * @ustack: fill in the beginning of the user stack of the task, from which gtp_ustack_take()
 *          follows the stack
 * @stack_bytes: return the number of bytes from rsp in @regs that $bt collects of the stack
 * @tsv_lock: take the lock of all CPUs for trace state variables. Hits do not nest, so no CPU takes
 *            it twice. The CPU that holds the lock may have died, so wait only for a limited time,
 *            and return false if the lock is still taken
 * @tsv_unlock: release the lock of @tsv_lock
 * @print: write the text of a printf; if there is no room, drop the text and count that
 * @line: put a dprintf's line with gtp_lines_put(); return false if there was no room
 * @sdata: add the kernel event's record for this hit to the open frame of @buf and return the
 *         result of gtp_buffer_add_static(), or -ENODATA if the kernel makes no record. Called only
 *         at locations that the target's ->sdata has accepted; NULL if it accepts none
 * @stopping: a hit has just ended the run: arrange that it is finished soon, in a context that may
 *	sleep
 */
struct gtp_hit_ops {
	int (*read)(void *ctx, void *dst, u64 addr, u32 len);
	u64 (*clock)(void *ctx);
	u64 (*wall_ns)(void *ctx);
	s64 (*builtin)(void *ctx, enum gtp_tsv_builtin which, u32 entered);
	u64 (*task)(void *ctx, u64 *born);
	u32 (*stack)(void *ctx, struct gtp_walk *walk, const struct gtp_regs *regs, u64 pc, u64 *to,
		     u32 max);
	void (*ustack)(void *ctx, const struct gtp_regs *regs, struct gtp_ustack_from *from);
	u32 (*stack_bytes)(void *ctx, const struct gtp_regs *regs, u64 pc);
	bool (*tsv_lock)(void *ctx, unsigned long *flags);
	void (*tsv_unlock)(void *ctx, unsigned long flags);
	void (*print)(void *ctx, u32 tp, const char *text, u32 len);
	bool (*line)(void *ctx, const struct gtp_line *line, const void *text);
	int (*sdata)(void *ctx, const struct gtp_location *loc, const struct gtp_regs *regs,
		     struct gtp_buffer *buf);
	void (*stopping)(void *ctx);
};

#endif /* _GTP_RUN_H */
