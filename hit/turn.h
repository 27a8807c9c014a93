/* SPDX-License-Identifier: GPL-2.0-only */
/* What one hit does, tracepoint by tracepoint: condition, actions, one frame. */
#ifndef _GTP_TURN_H
#define _GTP_TURN_H

#include "hit/run.h"
#include "jit/jit.h"

/**
 * gtp_hit_prepare() - make a CPU's part ready for a run
 * @cpu: the part; its buffer, its counters, @id and @tsc are there
 * @run: the run
 *
 * Context: any; nothing is armed yet, so no hit uses it.
 */
void gtp_hit_prepare(struct gtp_cpu *cpu, struct gtp_run *run);

/**
 * gtp_hit_settle() - find out whether hits of a tracepoint can be quick ones
 * @run: the run; its CPUs' parts are there
 * @tp: the tracepoint; something in its definition has changed, or its machine code
 *
 * Context: any; it may be armed and hit meanwhile.
 */
void gtp_hit_settle(const struct gtp_run *run, struct gtp_tracepoint *tp);

/*
 * Parts of hit/hit_inline.h that are out of line, so that they need no registers on the short way.
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
 * Only @cpu is used after the call, so that no other register is saved and restored around it.
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

#endif /* _GTP_TURN_H */
