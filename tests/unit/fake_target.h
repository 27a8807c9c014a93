/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fake machine to trace: memory, probes that the test fires, CPUs, clocks, and allocations that
 * fail.
 */
#ifndef _GTP_FAKE_TARGET_H
#define _GTP_FAKE_TARGET_H

#include "base/base.h"
#include "hit/returns.h"
#include "session/trace.h"

enum {
	FAKE_CPUS_MAX = 8,
	FAKE_CPU_BYTES = 65536,	   /* size of a CPU's buffer if none is set */
	FAKE_BYTES_MAX = 16 << 20, /* the most bytes of all buffers together */
	FAKE_LOG_MAX = 16384,
	FAKE_STACK_MAX = 200,
	FAKE_STACK_LOST = 1, /* stands for GTP_STACKS_LOST */
};

struct fake_map {
	struct fake_map *next;
	u64 addr;
	u32 len;
	u8 bytes[];
};

/**
 * struct fake - the machine; its address is the ctx of every callback
 * @trace: the session that runs on it, set up by fake_init()
 * @ncpus: number of CPUs for which ->buffers_get makes a buffer; 1 by default
 * @cpu: the CPU on which hits happen
 * @clock: the clock of hits, to which every reading first adds @clock_step
 * @wall_us: microseconds since the epoch
 * @memory_most: the most bytes that aggregations may use
 * @allocs: the number of allocations so far
 * @fail_alloc: the number of the allocation that fails, counted from 1; 0: none
 * @live: the number of allocations that are not freed
 * @obtain, @give: allocate zeroed memory and free it; NULL: calloc() and free()
 * @refuse_arm: address that ->arm refuses with -EINVAL
 * @refuse_beside: refuse @refuse_arm only while this address is armed; 0: always
 * @refuse_done: address that ->arm_done refuses
 * @room: the number of places at which a fast probe fits
 * @jump: the address at which a probe is a jump
 * @marker: address of the only kernel tracepoint, 0 if there is none; its record is the value of
 * rsi
 * @armed: the number of armed locations
 * @missed: the number of missed hits that ->disarm reports for every location
 * @stopping: the number of calls of ->stopping
 * @while_reading: called once, in the middle of the next ->read, as an interrupt would be
 * @while_arming: called after every successful ->arm, to make hits before the reply to QTStart
 * @while_disarming: called when ->disarm begins, to finish hits that have begun
 * @while_exchanging: called before a CPU switches to its other tables, or to its other buffer
 * @while_telling: called for every text for the user's console
 * @stack: the callers that hits collect, ended by a 0; @deep: bytes of the stack
 * @stacks_bytes: memory for the table of stacks
 * @task, @pid: values of the built-in variables; @born: the start time of the task
 * @contexts: the value of preempt_count(); @entered: the part that the probe's exception added
 * @wall_reads: how often hits read the time of day; each reading is one ns later than the last one
 * @tsv_stuck: another CPU holds the variables' lock, and has been stopped for good
 * @tsv_locked: the variables' lock is held; @tsv_locks: how often it was taken
 * @log: "arm ADDR\n", "disarm ADDR\n", "buffers BYTES linear|circular\n", "free\n", in order
 * @told: text for the user's console
 * @printed: "TP text\n" of every printf
 * @lines: rings for the lines of dprintfs, by CPU; NULL: ->lines_get has not been called
 */
struct fake {
	struct gtp_trace trace;
	struct gtp_mem mem;
	struct fake_map *maps;
	u32 ncpus;
	u32 cpu;
	u64 clock, clock_step;
	u64 wall_us;
	u64 memory_most;
	u32 allocs, fail_alloc;
	s32 live;
	void *(*obtain)(size_t bytes);
	void (*give)(void *p);
	u64 refuse_arm;
	u64 refuse_beside;
	bool beside;
	u64 refuse_done;
	u64 jump;
	u32 room;
	u64 marker;
	u32 armed;
	u64 missed;
	u32 stopping;
	void (*while_reading)(struct fake *f);
	void (*while_arming)(struct fake *f, struct gtp_location *loc);
	void (*while_disarming)(struct fake *f, struct gtp_location *loc);
	void (*while_exchanging)(struct fake *f, struct gtp_cpu *cpu);
	void (*while_telling)(struct fake *f, const char *text);
	u64 stack[FAKE_STACK_MAX];
	struct gtp_ustack_from ustack;
	u32 deep;
	u64 stacks_bytes;
	u64 task, born;
	s64 pid;
	u32 contexts, entered;
	u32 wall_reads;
	bool tsv_stuck;
	bool tsv_locked;
	u32 tsv_locks;
	struct gtp_lines *lines[FAKE_CPUS_MAX];
	char log[FAKE_LOG_MAX];
	char told[FAKE_LOG_MAX];
	char printed[FAKE_LOG_MAX];
};

extern const struct gtp_target_ops fake_target_ops;
extern const struct gtp_hit_ops fake_hit_ops;

/*
 * fake_init - make a machine with empty memory and an initialised @f->trace; return
 * gtp_trace_init()'s result
 */
int fake_init(struct fake *f);

/*
 * fake_exit - end the session; return the number of allocations that leaked plus the number of
 * locations that are still armed
 */
int fake_exit(struct fake *f);

/*
 * fake_map - map memory with these bytes (NULL: zeroes) and return them; accesses elsewhere fault
 */
u8 *fake_map(struct fake *f, u64 addr, const void *bytes, u32 len);

/* fake_unmap - remove the mapping that begins at @addr */
void fake_unmap(struct fake *f, u64 addr);

/*
 * fake_read - read all bytes or none, like the ops' ->read, also across adjoining mappings; return
 * 0 or -EFAULT
 */
int fake_read(void *ctx, void *dst, u64 addr, u32 len);

/* fake_write - write all bytes or none; return 0 or -EFAULT */
int fake_write(void *ctx, u64 addr, const void *src, u32 len);

/* Callbacks for the ops: the addresses on the stack, its bytes, the memory for stacks. */
u32 fake_stack(void *ctx, struct gtp_walk *walk, const struct gtp_regs *regs, u64 pc, u64 *to,
	       u32 max);
void fake_ustack(void *ctx, const struct gtp_regs *regs, struct gtp_ustack_from *from);
u32 fake_stack_bytes(void *ctx, const struct gtp_regs *regs, u64 pc);
u64 fake_task(void *ctx, u64 *born);
u64 fake_stacks_bytes(void *ctx);

/* fake_hit - make a hit as a kprobe's handler does: call gtp_hit_early(), then gtp_hit() */
void fake_hit(const struct gtp_location *loc, struct gtp_cpu *cpu, const struct gtp_regs *regs,
	      u32 entered);

/*
 * fake_fire - execute the instruction at @addr on @f->cpu; return false if nothing is armed there
 */
bool fake_fire(struct fake *f, u64 addr, const struct gtp_regs *regs);

/*
 * fake_enter - call the function at @addr on @f->cpu. Return true if the return of this call is
 * reported; the caller must then pass @p to fake_leave(). fake_leave - let the call return @value.
 * Return false if the function is no longer armed
 */
bool fake_enter(struct fake *f, u64 addr, const struct gtp_regs *regs, struct gtp_pending *p);
bool fake_leave(struct fake *f, u64 addr, const struct gtp_pending *p, u64 value);

/* fake_call - fake_fire() with up to six arguments in the registers of the C calling convention */
bool fake_call(struct fake *f, u64 addr, u32 nargs, const u64 *args);

/*
 * fake_define - send "QTDP:" @def and, if @acts is not NULL, "QTDP:-" with the same number and
 * address and @acts; both packets must be accepted. Return the tracepoint
 */
struct gtp_tracepoint *fake_define(struct fake *f, const char *def, const char *acts);

/*
 * fake_frames - return all frames of the stopped run, one line each: number@address, "!" if an
 * error ended the frame early, then its blocks: " r5=7" " m2000=0a0b" " v6=-1"
 */
const char *fake_frames(struct fake *f);

/*
 * fake_lines - remove and return the unread lines of dprintfs: "ADDR cpu N pid N " and the text, or
 * "failed: " and the error with a newline
 */
const char *fake_lines(struct fake *f);

/* fake_status - return qTStatus' reply */
const char *fake_status(struct fake *f);

/* fake_armed - return the location that is armed at @addr, except for returns, or NULL */
struct gtp_location *fake_armed(struct fake *f, u64 addr);

/* fake_note - append to a log of FAKE_LOG_MAX bytes; text that does not fit is cut off */
__printf(2, 3) void fake_note(char *log, const char *fmt, ...);

/* fake_log_clear - discard what has been logged and printed so far */
void fake_log_clear(struct fake *f);

#endif /* _GTP_FAKE_TARGET_H */
