/* SPDX-License-Identifier: GPL-2.0-only */
/* The shortest way through a hit, inline in the code of a mechanism. */
#ifndef _GTP_HIT_INLINE_H
#define _GTP_HIT_INLINE_H

#include "jit/jit.h"
#include "hit/turn.h"

/*
 * Act for @tp, whose condition holds. Where it is the only tracepoint here, nothing is called on
 * the way to the actions, so that few registers are needed.
 */
static __always_inline void gtp_hit_act_here(struct gtp_cpu *cpu, struct gtp_tracepoint *tp,
					     const struct gtp_regs *regs)
{
	ax_jit_actions_fn quick = (ax_jit_actions_fn)gtp_acquire(&tp->quickest);
	u64 start = READ_ONCE(tp->quick_start);
	u64 time;

	if (unlikely(!quick || !gtp_buffer_has_room(&cpu->buf, (u32)start))) {
		gtp_hit_held_turns(cpu, tp);
		return;
	}
	time = gtp_read_tsc();
	cpu->tp = tp;
	cpu->time = time;
	gtp_hit_record(cpu, tp, regs, quick, start, time);
}

/*
 * gtp_hit_inline - gtp_hit(); @held: the condition of the first tracepoint is known to hold
 *
 * Words that other CPUs write are read plainly: x86 keeps the order of loads, so barrier() is all
 * that an acquire needs, and a plain read can be part of a comparison.
 */
static __always_inline void gtp_hit_inline(const struct gtp_location *loc, struct gtp_cpu *cpu,
					   const struct gtp_regs *regs, u32 held)
{
	struct gtp_tracepoint *tp;

	if (unlikely(!loc->run->active))
		return;
	/* The rest of the run was written before @active. */
	barrier();
	/*
	 * An interrupt between the test and the store finds 0, has its own hit from beginning to
	 * end, and leaves 0 behind: then this one goes on as if it had come later. So neither needs
	 * to be atomic.
	 */
	if (unlikely(cpu->in_hit)) {
		gtp_inc_local(&cpu->nested);
		return;
	}
	WRITE_ONCE(cpu->in_hit, 1);
	barrier();
	cpu->env.regs = regs;
	tp = loc->first;
	if (held || !tp->cond)
		gtp_hit_act_here(cpu, tp, regs);
	else
		gtp_hit_turns(cpu, tp);
	barrier();
	WRITE_ONCE(cpu->in_hit, 0);
}

#endif /* _GTP_HIT_INLINE_H */
