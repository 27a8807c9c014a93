/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handles tracepoints that report a call when it returns: at the call's entry, and at its return.
 */
#ifndef _GTP_RETURNS_H
#define _GTP_RETURNS_H

#include "hit/hit.h"
#include "hit/variable.h"

/**
 * struct gtp_pending - a call whose return is wanted, recorded at its entry
 * @wanted: bit n is set if the location's n-th tracepoint wants the return
 * @entered: the value of $entry_clock
 * @regs: the registers at the entry
 */
struct gtp_pending {
	u64 wanted;
	u64 entered;
	struct gtp_regs regs;
};

/**
 * gtp_returns_enter() - handle the entry of a call of the location's function
 * @first: the location's first tracepoint; it is of the kind GTP_LOCATION_RETURN
 * @cpu: this CPU's own struct, prepared; the caller stays on this CPU
 * @regs: the registers at the entry
 * @p: filled in if a tracepoint wants the return; @regs may be &@p->regs
 * @held: the condition of the first tracepoint is known to hold
 * @entered: the amount added to preempt_count, as for gtp_hit()
 *
 * Evaluates the conditions that can be evaluated at the entry. A condition that is false or fails
 * has the same effects as at any other hit.
 *
 * Context: as gtp_hit(). Return: true if the caller must call gtp_returns_leave().
 */
bool gtp_returns_enter(struct gtp_tracepoint *first, struct gtp_cpu *cpu,
		       const struct gtp_regs *regs, struct gtp_pending *p, u32 held, u32 entered);

/**
 * gtp_returns_leave() - handle the return of a call that gtp_returns_enter() recorded
 * @first: the location's first tracepoint; it has not been disarmed since the entry
 * @cpu: this CPU's own struct; the entry may have happened on another CPU
 * @p: the record that gtp_returns_enter() filled in
 * @value: the return value
 *
 * Like gtp_hit(), for the tracepoints that want the return: they see the registers of the entry,
 * and memory as it is now. Context: as gtp_hit().
 */
void gtp_returns_leave(struct gtp_tracepoint *first, struct gtp_cpu *cpu,
		       const struct gtp_pending *p, u64 value);

/* --- The fast paths at entry and return, inlined into the backends --- */

/*
 * gtp_returns_enter_quickly - record the entry without evaluating anything or calling a function
 *
 * That is possible if @tp is the only tracepoint of its location, and its condition is known to
 * hold or is evaluated when the call returns. The caller has put the registers of the entry into
 * @p->regs. Return: false if nothing was done.
 */
static __always_inline bool gtp_returns_enter_quickly(const struct gtp_tracepoint *tp,
						      const struct gtp_cpu *cpu,
						      struct gtp_pending *p, bool held)
{
	if (!held && tp->cond && unlikely(!tp->cond_at_return))
		return false;
	/*
	 * @quickest and @update_alone are set only if @tp is enabled and is the only tracepoint of
	 * its location.
	 */
	if (unlikely(!gtp_acquire(&tp->plan.quickest)) &&
	    (!gtp_acquire(&tp->plan.update_alone) || unlikely(!cpu->env.tsc)))
		return false;
	if (unlikely(!cpu->run->active || cpu->in_hit))
		return false;
	p->wanted = 1;
	p->entered = gtp_calibration_ns(cpu->env.tsc, gtp_read_tsc());
	return true;
}

/*
 * gtp_returns_rest - handle the return for all tracepoints that want it, if the fast path cannot.
 * Out of line, so that the fast path saves no registers for it
 */
void gtp_returns_rest(struct gtp_cpu *cpu, struct gtp_tracepoint *tp, const struct gtp_pending *p);

/* gtp_returns_latency - set $latency for a call that was entered at @entered and returns at @ns */
static __always_inline void gtp_returns_latency(struct gtp_cpu *cpu, u64 entered, u64 ns)
{
	s64 latency = (s64)(ns - entered);

	WRITE_ONCE(cpu->local[GTP_TSV_LATENCY], (u64)latency);
	/*
	 * If the task has moved to another CPU, the two times are from two clocks, which may differ
	 * by some ticks.
	 */
	if (unlikely(latency < 0))
		cpu->local[GTP_TSV_LATENCY] = 0;
}

/* gtp_returns_leave_inline - do the same as gtp_returns_leave(), inline in a backend's code */
static __always_inline void gtp_returns_leave_inline(struct gtp_tracepoint *tp, struct gtp_cpu *cpu,
						     const struct gtp_pending *p, u64 value)
{
	ax_jit_actions_fn quick;
	u64 start, time;

	if (!gtp_hit_begin(cpu))
		return;
	cpu->env.regs = &p->regs;
	cpu->local[GTP_TSV_RET] = value;
	cpu->local[GTP_TSV_KRET] = value;
	cpu->local[GTP_TSV_ENTRY_CLOCK] = p->entered;
	/*
	 * @quickest is set only if @tp is the only tracepoint of its location: every recorded call
	 * is for @tp.
	 */
	quick = (ax_jit_actions_fn)gtp_acquire(&tp->plan.quickest);
	start = READ_ONCE(tp->plan.start);
	if (unlikely(!quick || tp->cond_at_return || !gtp_buffer_has_room(&cpu->buf, (u32)start))) {
		gtp_returns_rest(cpu, tp, p);
	} else {
		time = gtp_read_tsc();
		cpu->tp = tp;
		cpu->env.time = time;
		if (tp->latency)
			gtp_returns_latency(cpu, p->entered,
					    gtp_calibration_ns(cpu->env.tsc, time));
		gtp_hit_record(cpu, tp, &p->regs, quick, start, time);
	}
	gtp_hit_end(cpu);
}

#endif /* _GTP_RETURNS_H */
