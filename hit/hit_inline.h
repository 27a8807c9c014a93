/* SPDX-License-Identifier: GPL-2.0-only */
/* The shortest way through a hit, for those who have it in their own code. */
#ifndef _GTP_HIT_INLINE_H
#define _GTP_HIT_INLINE_H

#include "jit/jit.h"
#include "hit/hit.h"

/*
 * Parts of it that are elsewhere, lest they cost where they are not needed.
 * gtp_hit_turns - evaluate and act, for all from @tp on; gtp_hit_held_turns - the same, but the
 * first one's condition holds; gtp_hit_failed - machine code could not do it all: keep what it has,
 * end the run
 */
void gtp_hit_turns(struct gtp_cpu *cpu, struct gtp_tracepoint *tp);
void gtp_hit_held_turns(struct gtp_cpu *cpu, struct gtp_tracepoint *tp);
void gtp_hit_failed(struct gtp_cpu *cpu);

/*
 * gtp_hit_record - a frame, when all that is to be done has been made into @run, and there is room
 *
 * Nothing but @cpu is kept over the call, lest it be saved and restored.
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

/*
 * The one tracepoint here, if there is but one: @tp's condition holds. Nothing is called on the way
 * to the actions, so that few registers are needed.
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
 * Words that others write are read plainly here: x86 keeps the order of loads, so barrier() is all
 * that an acquire needs, and a plain read can be part of a comparison.
 */
static __always_inline void gtp_hit_inline(const struct gtp_location *loc, struct gtp_cpu *cpu,
					 const struct gtp_regs *regs, u32 held)
{
	struct gtp_tracepoint *tp;

	if (unlikely(!loc->run->active))
		return;
	/* What the run is made of was written before @active was. */
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
