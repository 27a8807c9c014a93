// SPDX-License-Identifier: GPL-2.0-only
/* A location that is probed through a jump pad, however control gets to the pad. */
#include <linux/kprobes.h>

#include "base/mem_kernel.h"
#include "base/params_kernel.h"
#include "hit/cpu_kernel.h"
#include "hit/hit.h"
#include "hit/irqsave_notrace.h"
#include "jit/pad.h"
#include "probe/follow.h"
#include "probe/gates.h"
#include "probe/pad_frame.h"
#include "probe/pad_number.h"
#include "probe/pad_probe.h"
#include "probe/self.h"

/* --- hits --- */

/* GDB's own tasks: hits count only in an interrupt, or where that is wanted. */
static noinline void hit_self(struct gtp_location *loc, struct gtp_regs *regs, u32 held)
{
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (!gtp_self_skip(loc, preempt_count()))
		gtp_hit_inline(loc, cpu, regs, held, 0);
}

/*
 * Any function may be the one that was hit, so call none before this CPU is marked as in a hit. The
 * context is that of the probed code: there is no exception in between.
 */
static __always_inline void hit(struct gtp_location *loc, struct gtp_regs *regs, u32 word)
{
	u32 held = word & GTP_PAD_HELD;
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (unlikely(!cpu))
		gtp_pad_number_missed(word >> 1);
	else if (unlikely(gtp_self_maybe()))
		hit_self(loc, regs, held);
	else
		gtp_hit_inline(loc, cpu, regs, held, 0);
}

void gtp_pad_probe_hit(struct gtp_regs *regs, u32 word)
{
	struct gtp_location *loc;
	bool tell = gtp_irqs_off_notrace(regs->eflags);

	loc = gtp_pad_number_find(word);
	if (likely(loc))
		hit(loc, regs, word);
	gtp_irqs_restored_notrace(tell);
}

NOKPROBE_SYMBOL(gtp_pad_probe_hit);

void gtp_pad_probe_connect(struct gtp_pad_probe *p)
{
	gtp_pad_number_connect(p->number, p->loc);
}

void gtp_pad_probe_disconnect(struct gtp_pad_probe *p)
{
	gtp_pad_number_connect(p->number, NULL);
}

/* --- coming and going --- */

int gtp_pad_probe_init(struct gtp_pad_probe *p, const void *owner, struct gtp_location *loc, u64 at)
{
	if (cpu_feature_enabled(X86_FEATURE_XENPV)) { /* see hit/irqsave_notrace.h */
		loc->no_jump = "this is a paravirtual guest of Xen";
		return -EOPNOTSUPP;
	}
	p->number = gtp_pad_number_take();
	if (p->number == GTP_PAD_NUMBERS) {
		loc->no_jump = "there are as many jumps as there may be";
		return -EOPNOTSUPP;
	}
	if (loc->kind == GTP_LOCATION_RETURN && gtp_follow_get()) {
		loc->no_jump = GTP_PAD_NO_MEMORY;
		gtp_pad_number_give(p->number);
		return -EOPNOTSUPP;
	}
	p->follows = loc->kind == GTP_LOCATION_RETURN;
	p->loc = loc;
	p->armed.owner = owner;
	p->armed.addr = at;
	p->armed.text = at;
	gtp_armed_add(&p->armed);
	loc->probe = p;
	return 0;
}

u64 gtp_pad_probe_missed(const struct gtp_location *loc)
{
	const struct gtp_pad_probe *p = loc->probe;

	return gtp_pad_number_misses(p->number);
}

void gtp_pad_probe_part(struct gtp_pad_probe *p)
{
	if (!p->loc)
		return;
	p->loc->missed += gtp_pad_probe_missed(p->loc);
	p->loc->probe = NULL;
	p->loc = NULL;
}

void gtp_pad_probe_exit(struct gtp_pad_probe *p)
{
	gtp_pad_probe_part(p);
	if (p->pad.len)
		gtp_jit_pad_free(&p->pad);
	if (p->old_pad.len)
		gtp_jit_pad_free(&p->old_pad);
	gtp_gates_give(p->gate);
	gtp_gates_give(p->old_gate);
	if (p->follows)
		gtp_follow_put();
	gtp_pad_number_give(p->number);
	gtp_armed_remove(&p->armed);
}

/* --- the pad --- */

const struct ax_verified *gtp_pad_probe_condition(const struct gtp_location *loc)
{
	const struct gtp_tracepoint *tp = loc->first;

	if (!tp->cond || tp->cond_at_return || tp->next_here || !READ_ONCE(gtp_jit) ||
	    !gtp_pad_can(&tp->cond->ax, gtp_jit_target()))
		return NULL;
	return &tp->cond->ax;
}

/* A pad preserves flags that no later instruction reads only where an action collects them. */
static bool collects_flags(const struct gtp_tracepoint *tp)
{
	const struct gtp_action *a;

	for (a = tp->actions; a; a = a->next) {
		if (a->kind == GTP_ACTION_REGS && a->mask >> GTP_REG_EFLAGS & 1)
			return true;
		if (a->kind == GTP_ACTION_EXPR && a->expr->ax.regs_used >> GTP_REG_EFLAGS & 1)
			return true;
	}
	return false;
}

static u64 pad_hit(const struct gtp_pad_probe *p)
{
	if (p->follows)
		return (u64)gtp_pad_followed;
	return p->called ? (u64)gtp_pad_called : (u64)gtp_pad_hit;
}

/* Between a pad that follows calls and its gates. */
static int make_with_gates(struct gtp_pad_request *req, struct gtp_jit_pad *pad, u32 *gate)
{
	struct gtp_pad_gates gates;
	int err;

	*gate = gtp_gates_take(&gates);
	if (!*gate)
		return -ENOSPC;
	req->gates = &gates;
	err = gtp_jit_pad_make(req, pad);
	if (!err) {
		err = gtp_gates_lead(*gate, pad->addr + gates.rest);
		if (err) {
			gtp_jit_pad_free(pad);
			pad->len = 0;
		}
	}
	if (err) {
		gtp_gates_give(*gate);
		*gate = 0;
	}
	return err;
}

static int make(struct gtp_pad_probe *p, const struct gtp_region *region,
		const struct ax_verified *cond, const struct gtp_pad_frame *frame,
		struct gtp_jit_pad *pad, u32 *gate, u32 *copies)
{
	struct ax_jit_target target = *gtp_jit_target();
	struct gtp_pad_request req = {
		.region = region,
		.target = &target,
		.cond = cond,
		.at = p->loc->addr,
		.skip = p->armed.addr - p->loc->addr,
		.number = p->number,
		.keep_flags = collects_flags(p->loc->first),
		.copies = copies,
		.frame = frame,
	};

	target.pad_hit = pad_hit(p);
	p->conditional = cond;
	return p->follows ? make_with_gates(&req, pad, gate) : gtp_jit_pad_make(&req, pad);
}

/* The same, and it writes the frames by itself, if it can. */
static int make_with_frame(struct gtp_pad_probe *p, const struct gtp_region *region,
			   const struct ax_verified *cond, u32 *copies)
{
	struct gtp_pad_frame frame;
	int err;

	if (!gtp_pad_frame_get(p->loc, p->number, cond, &frame))
		return -EOPNOTSUPP;
	err = make(p, region, cond, &frame, &p->pad, &p->gate, copies);
	gtp_pad_frame_put(&frame);
	return err;
}

int gtp_pad_probe_make(struct gtp_pad_probe *p, const struct gtp_region *region, u32 *copies)
{
	const struct ax_verified *cond = gtp_pad_probe_condition(p->loc);
	int err = make_with_frame(p, region, cond, copies);

	if (!err)
		return 0;
	err = make(p, region, cond, NULL, &p->pad, &p->gate, copies);
	p->loc->no_room = err == -ENOSPC;
	if (err && cond)
		err = make(p, region, NULL, NULL, &p->pad, &p->gate, copies);
	if (err)
		p->pad.len = 0;
	return err;
}

const char *gtp_pad_probe_why_not(int err)
{
	switch (err) {
	case -ENOSPC:
		return "there is no room for more jump pads";
	case -ENOMEM:
		return GTP_PAD_NO_MEMORY;
	case -ERANGE:
		return "its pad is too far away";
	default:
		return "its instructions cannot be moved";
	}
}

int gtp_pad_probe_widen(struct gtp_pad_probe *p, const struct gtp_region *region,
			int (*lead)(struct gtp_pad_probe *p, u64 pad))
{
	struct gtp_jit_pad pad = { 0 };
	u32 gate = 0;
	int err = gtp_jit_open();

	if (err)
		return err;
	err = make(p, region, NULL, NULL, &pad, &gate, NULL);
	gtp_jit_close();
	if (!err)
		err = lead(p, pad.addr);
	if (!err) {
		p->old_pad = p->pad;
		p->old_gate = p->gate;
		p->pad = pad;
		p->gate = gate;
		return 0;
	}
	p->conditional = true;
	if (pad.len)
		gtp_jit_pad_free(&pad);
	gtp_gates_give(gate);
	return err;
}
