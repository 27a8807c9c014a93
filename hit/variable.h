/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads and sets trace state variables at a hit, and finds the time of the hit. */
#ifndef _GTP_VARIABLE_H
#define _GTP_VARIABLE_H

#include "base/moving.h"
#include "hit/run.h"

/*
 * gtp_hit_pc - return the pc for the hit's frames: the tracepoint's address; for a watchpoint, the
 * address of the instruction after the one that has accessed the variable; for a sample, the
 * address of the interrupted instruction
 */
static inline u64 gtp_hit_pc(const struct gtp_cpu *cpu)
{
	u64 addr = cpu->tp->addr;

	return unlikely(gtp_moving_is(addr)) ? gtp_regs_pc(cpu->env.regs) : addr;
}

enum { GTP_NS_PER_SEC = 1000000000 };

/* gtp_hit_now - return the current time, in the unit of the times in frames */
static __always_inline u64 gtp_hit_now(const struct gtp_cpu *cpu)
{
	return likely(cpu->env.tsc) ? gtp_read_tsc() : cpu->run->hit_ops->clock(cpu->run->ctx);
}

/* gtp_hit_now_ns - return the current time in ns; @cpu may be another CPU's */
static inline u64 gtp_hit_now_ns(const struct gtp_cpu *cpu)
{
	u64 now = gtp_hit_now(cpu);

	return cpu->env.tsc ? gtp_calibration_ns(cpu->env.tsc, now) : now;
}

/*
 * Return the time of the hit. It is read once, so that $clock equals the time of all the hit's
 * frames and lines.
 */
static __always_inline u64 gtp_hit_time(struct gtp_cpu *cpu)
{
	if (!cpu->env.time)
		cpu->env.time = gtp_hit_now(cpu);
	return cpu->env.time;
}

/*
 * Return the time of the hit in ns. Frames keep the counter's raw value instead, which is converted
 * only if a reader asks for the time.
 */
static inline u64 gtp_hit_time_ns(struct gtp_cpu *cpu)
{
	u64 time = gtp_hit_time(cpu);

	return cpu->env.tsc ? gtp_calibration_ns(cpu->env.tsc, time) : time;
}

/* gtp_hit_getv - implements getv of struct ax_ops; @ctx is the struct gtp_cpu */
s64 gtp_hit_getv(void *ctx, u16 num);

/*
 * gtp_hit_task_value - return the current task's value of a variable that is AX_TSV_TASK. Context:
 * any in which the task cannot set the variable meanwhile
 */
s64 gtp_hit_task_value(const struct gtp_run *run, u16 num);

/*
 * gtp_hit_add_stack - collect $bt: add all registers except the flags, the bytes of the stack from
 * its top on, and the number of these bytes to the open frame. Return 0, -ENOSPC or -E2BIG
 */
int gtp_hit_add_stack(struct gtp_cpu *cpu);

/* gtp_hit_setv, gtp_hit_addv - implement setv and addv of struct ax_ops, like gtp_hit_getv() */
void gtp_hit_setv(void *ctx, u16 num, s64 value);
s64 gtp_hit_addv(void *ctx, u16 num, s64 by);

/* gtp_hit_pair - implements pair of struct ax_ops; also called by gtp_hit_setv() */
bool gtp_hit_pair(void *ctx, u16 num, u64 key);

#endif /* _GTP_VARIABLE_H */
