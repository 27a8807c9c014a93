// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handles tracepoints that report a call when it returns: evaluates their conditions at the entry,
 * keeps a record of the call, and runs their actions at the return.
 *
 * A nested hit is skipped, at the entry as well as at the return. If the entry is skipped, there is
 * no record, so the return is not a hit. Each call is counted as nested at most once.
 *
 * The variables of the call ($ret, $latency, ...) are stored among this CPU's own variables, where
 * expressions read them: see tracepoint/tsv.h.
 */
#include "hit/returns.h"

/* Set $entry_clock to the time now, for a condition that is evaluated at the call's entry. */
static void enters_now(struct gtp_cpu *cpu)
{
	cpu->local[GTP_TSV_ENTRY_CLOCK] = gtp_hit_time_ns(cpu);
}

/* True if the tracepoint is enabled, and its condition holds or is evaluated at the return. */
static bool wants(struct gtp_cpu *cpu, struct gtp_tracepoint *tp, u32 held)
{
	if (!READ_ONCE(tp->on))
		return false;
	cpu->tp = tp;
	if (held || tp->cond_at_return)
		return true;
	if (tp->cond_entry_clock)
		enters_now(cpu);
	return gtp_hit_holds(cpu);
}

/*
 * Return a mask: bit n is set if the location's n-th tracepoint wants the return of the call. The
 * list of tracepoints grows only at its end, so bit n means the same tracepoint at the return.
 */
static u64 wanted(struct gtp_cpu *cpu, struct gtp_tracepoint *tp, u32 held)
{
	u64 bits = 0, bit = 1;

	static_assert(GTP_HERE_MAX <= 8 * sizeof(bits), "a bit for each");
	for (; tp; tp = gtp_acquire(&tp->next_here), bit <<= 1) {
		if (wants(cpu, tp, held))
			bits |= bit;
		held = false;
	}
	/* The evaluation of a condition may have failed and so ended the run. */
	return READ_ONCE(cpu->run->active) ? bits : 0;
}

bool gtp_returns_enter(struct gtp_tracepoint *first, struct gtp_cpu *cpu,
		       const struct gtp_regs *regs, struct gtp_pending *p, u32 held, u32 entered)
{
	if (!gtp_hit_begin(cpu))
		return false;
	cpu->env.regs = regs;
	cpu->env.time = 0;
	cpu->env.entered = entered;
	p->wanted = wanted(cpu, first, held);
	if (p->wanted) {
		if (regs != &p->regs)
			p->regs = *regs;
		p->entered = gtp_hit_time_ns(cpu);
	}
	cpu->env.entered = 0;
	gtp_hit_end(cpu);
	return p->wanted;
}

static void turn(struct gtp_cpu *cpu, struct gtp_tracepoint *tp, const struct gtp_pending *p)
{
	if (tp->latency)
		gtp_returns_latency(cpu, p->entered, gtp_hit_time_ns(cpu));
	gtp_hit_turn(cpu, tp, !tp->cond_at_return);
}

static void update_alone(struct gtp_cpu *cpu, struct gtp_tracepoint *tp,
			 const struct gtp_pending *p, ax_jit_actions_fn run)
{
	cpu->tp = tp;
	if (tp->latency)
		gtp_returns_latency(cpu, p->entered, gtp_hit_time_ns(cpu));
	gtp_hit_update(cpu, tp, &p->regs, run);
}

void gtp_returns_rest(struct gtp_cpu *cpu, struct gtp_tracepoint *tp, const struct gtp_pending *p)
{
	ax_jit_actions_fn update = (ax_jit_actions_fn)gtp_acquire(&tp->plan.update_alone);
	u64 left;

	cpu->env.time = 0;
	if (update && !tp->cond_at_return) {
		update_alone(cpu, tp, p, update);
		return;
	}
	for (left = p->wanted; left; left >>= 1, tp = gtp_acquire(&tp->next_here)) {
		if (left & 1)
			turn(cpu, tp, p);
		if (unlikely(!READ_ONCE(cpu->run->active)))
			break;
	}
}

void gtp_returns_leave(struct gtp_tracepoint *first, struct gtp_cpu *cpu,
		       const struct gtp_pending *p, u64 value)
{
	gtp_returns_leave_inline(first, cpu, p, value);
}
