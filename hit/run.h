/* SPDX-License-Identifier: GPL-2.0-only */
/* A trace run as its hits see it: locations, per-CPU parts, the way it ends. */
#ifndef _GTP_RUN_H
#define _GTP_RUN_H

#include "base/base.h"
#include "base/regs.h"
#include "agentexpr/ax.h"
#include "hit/lines.h"
#include "hit/stacks.h"
#include "trace/buffer.h"
#include "trace/index.h"
#include "trace/sdata.h"
#include "tracepoint/tracepoint.h"
#include "tracepoint/tsv.h"

enum gtp_stop {
	GTP_STOP_NEVER_RUN, /* tnotrun */
	GTP_STOP_RUNNING,
	GTP_STOP_USER,	       /* tstop */
	GTP_STOP_FULL,	       /* tfull */
	GTP_STOP_DISCONNECTED, /* tdisconnected */
	GTP_STOP_PASSCOUNT,    /* tpasscount */
	GTP_STOP_ERROR,	       /* terror */
	GTP_STOP_OOPS,	       /* terror: the kernel died in a hit */
};

/* enum gtp_ending - how far a hit is with ending the run; only ever goes up during a run */
enum gtp_ending {
	GTP_ENDING_NO,
	GTP_ENDING_CLAIMED, /* by gtp_claim(): one hit is writing down why */
	GTP_ENDING_WRITTEN, /* by gtp_publish(): all of it can be read */
};

/**
 * struct gtp_failure - what could not be evaluated or read at a hit
 * @tp: the tracepoint's number
 * @action: counted from 1, 0 is the condition
 * @kind: of @action: 'R', 'M', 'X', or 'c' for the condition
 * @error: why; @op and @pc mean something only with an expression
 */
struct gtp_failure {
	u32 tp;
	u32 action;
	char kind;
	struct ax_error error;
};

enum { GTP_RUN_BUCKETS = 256 };

/**
 * struct gtp_run - what a trace run shares with its hits
 * @active: hits are handled; set when all is armed, cleared by run control or by the hit that ends
 *          the run. Without a run it is set while a dprintf is armed
 * @ending: enum gtp_ending: one hit at most ends the run
 * @ended_by: the hit's reason; like @stop_tp written by the hit that has claimed @ending, and read
 *            only when @ending says that all is there
 * @stop_tp: tracepoint of GTP_STOP_PASSCOUNT and GTP_STOP_FULL
 * @pass_errors: what fails at a hit is counted, and does not end the run; fixed while it goes on
 * @failing: enum gtp_ending: one hit at most writes @failure
 * @failure: the first: that of GTP_STOP_ERROR, unless @pass_errors
 * @hit_ops, @ctx: where hits happen
 * @tsvs: trace state variables
 * @stacks: where $kstack puts them; NULL: no expression uses it
 * @cpus, @ncpus: per-CPU parts, from tstart to the next QTinit or tstart
 * @nslots: counters that every CPU has
 * @by_num: its tracepoints, by their numbers, in lists by ->next_run that only grow
 *
 * Hits look at it without a lock; everything else is under the session's.
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
};

struct gtp_probe_backend;

enum gtp_location_kind {
	GTP_LOCATION_CODE,   /* an instruction */
	GTP_LOCATION_EVENT,  /* a kernel tracepoint, by its marker's address */
	GTP_LOCATION_RETURN, /* a function's first instruction: its calls, when they return */
};

/**
 * struct gtp_location - one address that is or will be probed, with all tracepoints there
 * @next: all locations of the run
 * @next_addr: others in the same bucket of the run
 * @addr: the tracepoints' address, which a frame reports as pc
 * @kind: what @addr is; decides which backends can probe it
 * @first: tracepoints here; grows at the end while armed, shrinks never
 * @last: the last one, for adding another; hits do not read it
 * @n: how many tracepoints
 * @run: the run it belongs to
 * @backend: probes it, set by gtp_arm(); NULL: none yet, or its commit refused it
 * @probe: the backend's own struct for it, while @backend is set
 * @next_own: others of the same backend, while these are disarmed
 * @missed: hits that the kernel skipped or that had no buffer, of probes that are off again
 * @format: how to read the static data that is collected here, from ->sdata; run control takes it
 * @mechanism: how it was armed, for the user ("kprobe", ...)
 * @fast: hits come without an exception, as GDB's command ftrace requires
 * @no_room: a faster way to it, or one that evaluates its condition, had no room for its code
 * @fast_only: a tracepoint here was set by ftrace
 * @self_trace: one here names $self_trace: hits of GDB's own tasks count
 * @refused: why it is not armed, in words; "": it is, or is going to be
 * @no_jump: why a faster mechanism was refused, a constant in words; NULL: no reason was given
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
	const char *mechanism;
	bool fast;
	bool no_room;
	bool fast_only;
	bool self_trace;
	const char *no_jump;
	struct gtp_why refused;
};

enum { GTP_HERE_MAX = 64 }; /* tracepoints of a location */

/* gtp_location_is_refused - is there no probe, and will be none in this run? */
static inline bool gtp_location_is_refused(const struct gtp_location *loc)
{
	return loc->refused.text[0];
}

/* gtp_location_not_fast - the refusal of a location that ftrace wants and no fast way leads to */
static inline void gtp_location_not_fast(const struct gtp_location *loc, struct gtp_why *why)
{
	gtp_why(why, "it cannot be fast: %s; use trace, not ftrace",
		loc->no_jump ? loc->no_jump : "jumps are switched off");
}

/* struct gtp_tp_stat - one tracepoint's counters on one CPU, except its quick hits */
struct gtp_tp_stat {
	u64 hits;   /* the condition held */
	u64 usage;  /* bytes of frames */
	u64 failed; /* a condition or an action could not be evaluated: only with @pass_errors */
};

/* gtp_hit_stat_bytes - the memory for all counters of a CPU: @stat, and @quick behind it */
static inline size_t gtp_hit_stat_bytes(u32 nslots)
{
	return (size_t)nslots * (sizeof(struct gtp_tp_stat) + sizeof(u64));
}

/**
 * struct gtp_calibration - what the processor's counter is in ns
 * @tsc, @ns: the counter and the clock at one moment of this run
 * @rate: ns << 32 for each tick
 */
struct gtp_calibration {
	u64 tsc;
	u64 ns;
	u64 rate;
};

/* gtp_calibration_ns - the clock when the counter was at @tsc */
static __always_inline u64 gtp_calibration_ns(const struct gtp_calibration *c, u64 tsc)
{
	u64 ticks = tsc - READ_ONCE(c->tsc), high;

	/* CPUs may differ by some ticks. */
	if (unlikely((s64)ticks < 0))
		return READ_ONCE(c->ns);
	/* Not by a type of 16 bytes, for which GCC aligns the stack. */
	__asm__("mulq %3\n\tshrdq $32, %1, %0"
		: "=a"(ticks), "=&d"(high)
		: "0"(ticks), "m"(c->rate)
		: "cc");
	return READ_ONCE(c->ns) + ticks;
}

enum gtp_in_hit {
	GTP_HIT_NONE,
	GTP_HIT_BEGUN,
	GTP_HIT_STACK, /* and @kstack is known */
	GTP_HIT_LOST,  /* it is not going to end: the kernel died in it, see gtp_hit_lost() */
};

/**
 * struct gtp_cpu - everything a hit writes: one per CPU
 * @in_hit: enum gtp_in_hit: a hit is being handled; an interrupt or NMI that hits meanwhile is
 *          skipped and counted
 * @kstack: the number of the hit's stack
 * @id: for $cpu_id
 * @run: the run, from gtp_hit_prepare()
 * @tp: the tracepoint that is being handled
 * @time: of the hit, as in its frames; 0: not read yet
 * @env: where its expressions run; a hit sets @regs and @pc, all else is prepared
 * @wall: the time of day, ns, as read at the hit whose time was @wall_at
 * @value: what the condition came to
 * @tsc: times in frames are the processor's counter, and this is what it means; NULL: they are ns
 * @buf: its frames
 * @stat: counters by tracepoint slot
 * @quick: quick hits by slot: each has left a frame of the size that struct gtp_tracepoint says
 * @nested: how many were skipped
 * @no_sdata: hits for which the kernel made no record
 * @no_target: how often $enable or $disable was set to what is no tracepoint's number
 * @busy: hits that were missed because another CPU held the lock of variables for too long
 * @local: its own trace state variables, see tracepoint/tsv.h; of a call that returns, too
 * @restarts: where the processor's counter restarted: the machine has slept
 *
 * Hits do not nest, so one of each is enough, and what is the same for all hits is set up once, at
 * the beginning of a run. The members that a false condition uses come first, in one cache line.
 */
struct gtp_cpu {
	u32 in_hit;
	u32 id;
	struct gtp_run *run;
	struct gtp_tracepoint *tp;
	u64 time;
	struct ax_env env;
	u64 wall;
	u64 wall_at;
	u64 value;
	u32 kstack;
	const struct gtp_calibration *tsc;
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
	struct gtp_restarts restarts;
};

/**
 * struct gtp_hit_ops - what a hit needs from where it runs; called in the hit's context, may not
 * sleep or allocate
 * @read: copy memory; 0 or -EFAULT, never an oops whatever the address
 * @clock: ns, monotonic, ordered between CPUs as well as the hardware allows
 * @wall_ns: the time of day, ns since the epoch
 * @builtin: value of a built-in trace state variable, of those that hit/variable.c does not know by
 *           itself; @entered: see struct ax_env
 * @stack: the kernel stack at a hit into @to, @max addresses at most: @pc, then where callers go
 *         on, or one byte behind where they were interrupted; how many. GTP_STACKS_LOST is the last
 *         one where that is not the whole stack. @to has room for as many again, for @stack itself;
 *         @walk: what it has learnt, for this run's hits.
 *         NULL, and with it the next one: none can be taken
 * @stack_bytes: as much of the stack as $bt is to collect, from @regs' rsp on
 * @tsv_lock: one lock between all CPUs; never taken twice by one CPU, because hits do not nest. The
 *            one that holds it may have been stopped for good, so it is waited for only so long;
 *            false: another CPU still has it
 * @tsv_unlock: gives it back
 * @print: a line from printf; may drop it when there is no room, and counts what it drops
 * @line: a dprintf's line, by gtp_lines_put(); false: there was no room
 * @sdata: put the event's record for this hit into the open frame of @buf by
 *         gtp_buffer_add_static(): what that says, or -ENODATA when the kernel makes none; called
 *         only at locations for which the target's ->sdata has said yes (NULL: there are none)
 * @stopping: the run has just been marked as ending; finish it soon, from a context that may sleep
 */
struct gtp_hit_ops {
	int (*read)(void *ctx, void *dst, u64 addr, u32 len);
	u64 (*clock)(void *ctx);
	u64 (*wall_ns)(void *ctx);
	s64 (*builtin)(void *ctx, enum gtp_tsv_builtin which, u32 entered);
	u32 (*stack)(void *ctx, struct gtp_walk *walk, const struct gtp_regs *regs, u64 pc, u64 *to,
		     u32 max);
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
