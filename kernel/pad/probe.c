// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handles locations that are probed through a jump pad, however control gets to the pad.
 *
 * A pad pushes a number, never an address: numbers are looked up in a table whose entries are
 * cleared before anything is freed. So a task that was preempted in a pad and reaches C late finds
 * no tracepoint, and returns. The pad's code, with its copies of instructions, stays until
 * gtp_wait_for_tasks(), called after the entry was cleared, has returned.
 */
#include <linux/kprobes.h>

#include "hit/hit.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "kernel/hit/irqsave_notrace.h"
#include "kernel/pad/follow.h"
#include "kernel/pad/gates.h"
#include "kernel/pad/number.h"
#include "kernel/pad/probe.h"
#include "pad/pad.h"
#include "probe/self.h"

/* --- hits --- */

/*
 * Handle a hit that may be in a task of GDB. Such hits count only in interrupts, or with
 * self_trace.
 */
static noinline void hit_self(struct gtp_tracepoint *tp, struct gtp_regs *regs, u32 held)
{
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (!gtp_self_skip(tp->loc, preempt_count()))
		gtp_hit_inline(tp, cpu, regs, held, 0);
}

/*
 * Handle a hit. Any function may be the one that was hit, so call none before this CPU is marked as
 * in a hit. The probed code's context is unchanged, because no exception led here.
 */
static __always_inline void hit(struct gtp_tracepoint *tp, struct gtp_regs *regs, u32 word)
{
	u32 held = word & GTP_PAD_HELD;
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (unlikely(!cpu))
		gtp_pad_number_missed(word >> 1);
	else if (unlikely(gtp_self_maybe()))
		hit_self(tp, regs, held);
	else
		gtp_hit_inline(tp, cpu, regs, held, 0);
}

/*
 * Handle a hit; gtp_pad_hit calls this with the registers and the interrupt flag of the probed
 * code. Turn interrupts off first: otherwise a hit in an interrupt would count as nested, and a
 * task that is scheduled away would leave this CPU marked as in a hit. @word is what the pad has
 * pushed: its number, and whether the condition is known to hold.
 */
void gtp_pad_probe_hit(struct gtp_regs *regs, u32 word)
{
	struct gtp_tracepoint *tp;
	bool tell = gtp_irqs_off_notrace(regs->eflags);

	tp = gtp_pad_number_find(word);
	if (likely(tp))
		hit(tp, regs, word);
	gtp_irqs_restored_notrace(tell);
}

NOKPROBE_SYMBOL(gtp_pad_probe_hit);

/* Connect each number to its own tracepoint, before any instruction leads to the pads. */
void gtp_pad_probe_connect(struct gtp_pad_probe *p)
{
	gtp_pad_number_connect(p->number, p->loc->first);
	for (u32 i = 0; i < p->nstages; i++)
		gtp_pad_number_connect(p->stage[i].number, p->stage[i].tp);
}

/*
 * Make hits of the pads do nothing from now on. A hit may have looked up its number before: wait
 * for it.
 */
void gtp_pad_probe_disconnect(struct gtp_pad_probe *p)
{
	gtp_pad_number_connect(p->number, NULL);
	for (u32 i = 0; i < p->nstages; i++)
		gtp_pad_number_connect(p->stage[i].number, NULL);
}

/* --- making and freeing probes --- */

/*
 * Prepare a location's probe. This enters the place into the index of probed places, before its
 * table of regions is looked up: see docs/jumps.md, "Arming", step 1.
 */
int gtp_pad_probe_init(struct gtp_pad_probe *p, const void *owner, struct gtp_location *loc, u64 at)
{
	if (cpu_feature_enabled(X86_FEATURE_XENPV)) { /* see kernel/hit/irqsave_notrace.h */
		loc->no_jump = "this is a paravirtual guest of Xen";
		return -EOPNOTSUPP;
	}
	p->number = gtp_pad_number_take();
	if (p->number == GTP_PAD_NUMBERS) {
		loc->no_jump = "all jump pads are in use";
		return -EOPNOTSUPP;
	}
	if (loc->kind == GTP_LOCATION_RETURN && gtp_follow_get()) {
		loc->no_jump = GTP_PAD_NO_MEMORY;
		gtp_pad_number_give(p->number);
		return -EOPNOTSUPP;
	}
	p->follows = loc->kind == GTP_LOCATION_RETURN;
	p->loc = loc;
	p->shadow.owner = owner;
	p->shadow.addr = at;
	p->shadow.text = at;
	gtp_shadow_add(&p->shadow);
	loc->probe = p;
	return 0;
}

u64 gtp_pad_probe_missed(const struct gtp_location *loc)
{
	const struct gtp_pad_probe *p = loc->probe;
	u64 missed = gtp_pad_number_misses(p->number);

	for (u32 i = 0; i < p->nstages; i++)
		missed += gtp_pad_number_misses(p->stage[i].number);
	return missed;
}

/*
 * Detach the probe from its location, which may be freed then, even if a stuck jump still leads to
 * the pad.
 */
void gtp_pad_probe_part(struct gtp_pad_probe *p)
{
	if (!p->loc)
		return;
	p->loc->missed += gtp_pad_probe_missed(p->loc);
	p->loc->probe = NULL;
	p->loc = NULL;
}

void gtp_pad_stages_drop(struct gtp_pad_probe *p)
{
	for (u32 i = 0; i < p->nstages; i++) {
		if (p->stage[i].pad.len)
			gtp_jit_pad_free(&p->stage[i].pad);
		gtp_pad_number_give(p->stage[i].number);
	}
	gtp_mem_free(p->stage);
	p->stage = NULL;
	p->nstages = 0;
}

/*
 * Free the pads. The caller has disconnected them, removed the jump or call to them from the text,
 * and waited for all tasks. Their room is reused only after gtp_pad_probes_wipe() has filled it
 * with int3.
 */
void gtp_pad_probe_exit(struct gtp_pad_probe *p)
{
	gtp_pad_probe_part(p);
	gtp_pad_stages_drop(p);
	if (p->pad.len)
		gtp_jit_pad_free(&p->pad);
	if (p->old_pad.len)
		gtp_jit_pad_free(&p->old_pad);
	gtp_gates_give(p->gate);
	gtp_gates_give(p->old_gate);
	if (p->follows)
		gtp_follow_put();
	gtp_pad_number_give(p->number);
	gtp_shadow_remove(&p->shadow);
}

/* Fill all freed room with int3: a task that reached it by mistake would trap at once. */
void gtp_pad_probes_wipe(void)
{
	gtp_jit_pads_wipe();
	gtp_gates_wipe();
}
