/* SPDX-License-Identifier: GPL-2.0-only */
/* Handles one hit: evaluates the condition, runs the actions, writes one frame. */
#ifndef _GTP_HIT_H
#define _GTP_HIT_H

#include "base/moving.h"
#include "hit/run.h"
#include "jit/jit.h"

/**
 * gtp_hit_prepare() - prepare a CPU's struct gtp_cpu for a run
 * @cpu: the struct; its buffer, its counters, @id and @env.tsc are set
 * @run: the run
 *
 * Context: any; nothing is armed yet, so no hit uses it.
 */
void gtp_hit_prepare(struct gtp_cpu *cpu, struct gtp_run *run);

/**
 * gtp_hit_settle() - find out whether hits of a tracepoint can be quick
 * @run: the run, whose CPUs each have a struct gtp_cpu
 * @tp: a tracepoint whose definition or machine code has changed
 *
 * Context: any; the tracepoint may be armed, and other CPUs may hit it meanwhile.
 */
void gtp_hit_settle(const struct gtp_run *run, struct gtp_tracepoint *tp);

/**
 * gtp_hit() - handle a hit of a location
 * @first: the location's first tracepoint; the others follow it
 * @cpu: this CPU's struct, from gtp_hit_prepare(); the caller stays on this CPU
 * @regs: the registers before the probed instruction, except rip: the hit uses @first->addr instead
 * @entered: the amount that the probe's own code has added to preempt_count, see struct ax_env
 *
 * For each enabled tracepoint, starting with @first, evaluates the condition, checks the pass
 * count, counts the hit, runs the actions and writes the frame. The run ends, and ->stopping is
 * called once, if the buffer is full, a pass count is reached, or an expression fails (unless
 * @pass_errors of the run is set).
 *
 * Context: any, NMI included; preemption off. A hit inside a hit is counted and skipped.
 */
void gtp_hit(struct gtp_tracepoint *first, struct gtp_cpu *cpu, const struct gtp_regs *regs,
	     u32 entered);

/*
 * gtp_hit_held - handle a hit like gtp_hit(), but the first tracepoint's condition is known to hold
 */
void gtp_hit_held(struct gtp_tracepoint *first, struct gtp_cpu *cpu, const struct gtp_regs *regs,
		  u32 entered);

/*
 * gtp_hit_frame_flags - return the flags for a frame of @tp; @rc is nonzero if a collection failed.
 * Any instruction can hit a watchpoint or a sample, so each of their frames has its own pc
 */
static inline u16 gtp_hit_frame_flags(const struct gtp_tracepoint *tp, int rc)
{
	u16 flags = rc ? GTP_FRAME_PARTIAL : 0;

	if (READ_ONCE(tp->several) || gtp_moving_is(tp->addr))
		flags |= GTP_FRAME_SEVERAL_LOCATIONS;
	return flags;
}

/**
 * gtp_hit_lost() - mark this CPU's hit as one that never ends, because the kernel has died in it
 * @cpu: this CPU's own struct
 *
 * The kernel kills the task that was hit, so the hit cannot end, and nothing may wait for it. From
 * then on, hits on this CPU count as nested, and the run ends. If the hit continues after all (in a
 * debugger), its end removes the mark.
 * Context: any, NMI included.
 */
void gtp_hit_lost(struct gtp_cpu *cpu);

/* --- The fast path of a hit, inline in the code of a backend --- */

/*
 * Parts of a hit that are out of line, so that the fast path saves no registers for them.
 * gtp_hit_turns - handle @tp and all tracepoints after it at the location; gtp_hit_held_turns - the
 * same if the condition of @tp is known to hold; gtp_hit_failed - after a snippet has failed: keep
 * the blocks that it has written, then end the run, or count the failure and run the other actions
 */
void gtp_hit_turns(struct gtp_cpu *cpu, struct gtp_tracepoint *tp);
void gtp_hit_held_turns(struct gtp_cpu *cpu, struct gtp_tracepoint *tp);
void gtp_hit_failed(struct gtp_cpu *cpu);

/*
 * The following functions are parts of a hit. Code outside hit/hit.c may call them only between
 * gtp_hit_begin() and gtp_hit_end().
 */

/*
 * gtp_hit_holds - true if @cpu->tp has no condition, or the condition holds; false if the condition
 * cannot be evaluated
 */
bool gtp_hit_holds(struct gtp_cpu *cpu);

/* gtp_hit_turn - handle @tp if it is enabled; @held is true if its condition is known to hold */
void gtp_hit_turn(struct gtp_cpu *cpu, struct gtp_tracepoint *tp, bool held);

/*
 * gtp_hit_begin - mark this CPU as in a hit; return false if the run is not active. If the CPU is
 * in a hit already, count this hit as nested and return false
 *
 * The plain read of @active and the following gtp_order_loads() are an acquire. Unlike
 * gtp_acquire(), they let the compiler compare @active in memory.
 */
static __always_inline bool gtp_hit_begin(struct gtp_cpu *cpu)
{
	if (unlikely(!cpu->run->active))
		return false;
	/* Pairs with the store of @active: all other members of the run were written before it. */
	gtp_order_loads();
	/*
	 * If an interrupt hits between the test and the store, it finds 0, handles its own hit
	 * completely, and leaves 0. This hit then continues as if it had begun later. So neither
	 * access needs to be atomic.
	 */
	if (unlikely(cpu->in_hit)) {
		gtp_inc_local(&cpu->nested);
		return false;
	}
	WRITE_ONCE(cpu->in_hit, GTP_HIT_BEGUN);
	barrier();
	return true;
}

static __always_inline void gtp_hit_end(struct gtp_cpu *cpu)
{
	barrier();
	WRITE_ONCE(cpu->in_hit, GTP_HIT_NONE);
}

/* enum gtp_early - the result of a condition that was evaluated before the hit begins */
enum gtp_early {
	GTP_EARLY_OPEN, /* unknown: the hit must evaluate the condition */
	GTP_EARLY_HOLDS,
	GTP_EARLY_FALSE,
};

/**
 * gtp_hit_early() - evaluate the condition of a location's only tracepoint before anything else
 * @first: the location's first tracepoint
 * @cpu: this CPU's own struct
 * @regs: the registers of the hit, as for gtp_hit()
 *
 * If the condition is false, the caller need not check whether the run is active, or which task was
 * hit. If the evaluation fails or the hit is nested, the result is GTP_EARLY_OPEN, and the hit
 * reports it. During the evaluation this CPU is marked as in a hit, because the condition may call
 * code that has a probe (a fault handler, a function that reads memory carefully).
 * Context: as gtp_hit().
 */
static __always_inline enum gtp_early
gtp_hit_early(const struct gtp_tracepoint *first, struct gtp_cpu *cpu, const struct gtp_regs *regs)
{
	ax_jit_fn cond = (ax_jit_fn)gtp_acquire(&first->plan.early);
	struct ax_jit_result r;

	if (unlikely(!cond || cpu->in_hit))
		return GTP_EARLY_OPEN;
	WRITE_ONCE(cpu->in_hit, GTP_HIT_BEGUN);
	barrier();
	r = cond(regs, &cpu->env);
	gtp_hit_end(cpu);
	if (unlikely(r.status))
		return GTP_EARLY_OPEN;
	return r.value ? GTP_EARLY_HOLDS : GTP_EARLY_FALSE;
}

/*
 * gtp_hit_record - write a frame; @run is the snippet of all actions, and the buffer must have room
 * for the frame
 *
 * After the snippet only @cpu is used, so no other register is saved around the call.
 */
static __always_inline void gtp_hit_record(struct gtp_cpu *cpu, struct gtp_tracepoint *tp,
					   const struct gtp_regs *regs, ax_jit_actions_fn run,
					   u64 start, u64 time)
{
	struct gtp_frame *f = gtp_buffer_room(&cpu->buf);
	u32 bytes;

	cpu->env.frame = (u8 *)(f + 1);
	memcpy(f, &start, sizeof(start));
	f->time = time;
	f->pc = tp->addr;
	cpu->quick[tp->slot]++;
	bytes = (u32)run(regs, &cpu->env);
	if (likely(bytes))
		gtp_buffer_push(&cpu->buf, bytes);
	else
		gtp_hit_failed(cpu);
}

/* gtp_hit_update - run the snippet @run, which performs all actions and writes no frame */
static __always_inline void gtp_hit_update(struct gtp_cpu *cpu, struct gtp_tracepoint *tp,
					   const struct gtp_regs *regs, ax_jit_actions_fn run)
{
	cpu->quick[tp->slot]++;
	if (unlikely(!run(regs, &cpu->env)))
		gtp_hit_failed(cpu);
}

/*
 * Run the actions of @tp, whose condition holds. If @tp is the only tracepoint of its location, no
 * function is called before the actions, so few registers are needed.
 */
static __always_inline void gtp_hit_act_here(struct gtp_cpu *cpu, struct gtp_tracepoint *tp,
					     const struct gtp_regs *regs)
{
	ax_jit_actions_fn quick = (ax_jit_actions_fn)gtp_acquire(&tp->plan.quickest);
	u64 start = READ_ONCE(tp->plan.start);
	u64 time;

	if (unlikely(!quick || !gtp_buffer_has_room(&cpu->buf, (u32)start))) {
		quick = (ax_jit_actions_fn)gtp_acquire(&tp->plan.update_alone);
		if (!quick) {
			gtp_hit_held_turns(cpu, tp);
			return;
		}
		cpu->tp = tp;
		cpu->env.time = 0;
		gtp_hit_update(cpu, tp, regs, quick);
		return;
	}
	time = gtp_read_tsc();
	cpu->tp = tp;
	cpu->env.time = time;
	gtp_hit_record(cpu, tp, regs, quick, start, time);
}

/*
 * gtp_hit_inline - handle a hit; @held is nonzero if the condition of @first is known to hold
 *
 * If @entered is a constant 0, env.entered is not written: it is 0 between hits.
 */
static __always_inline void gtp_hit_inline(struct gtp_tracepoint *first, struct gtp_cpu *cpu,
					   const struct gtp_regs *regs, u32 held, u32 entered)
{
	if (!gtp_hit_begin(cpu))
		return;
	if (entered)
		cpu->env.entered = entered;
	cpu->env.regs = regs;
	if (held || !first->cond)
		gtp_hit_act_here(cpu, first, regs);
	else
		gtp_hit_turns(cpu, first);
	if (entered)
		cpu->env.entered = 0;
	gtp_hit_end(cpu);
}

#endif /* _GTP_HIT_H */
