// SPDX-License-Identifier: GPL-2.0-only
/* A location that is probed through a jump pad, however control gets to the pad. */
#include <linux/bitmap.h>
#include <linux/kprobes.h>

#include "base/mem_kernel.h"
#include "base/params_kernel.h"
#include "hit/cpu_kernel.h"
#include "hit/hit.h"
#include "hit/irqsave_notrace.h"
#include "jit/pad.h"
#include "probe/pad_probe.h"
#include "probe/self.h"

enum { PADS_MAX = 16384 }; /* at a time */

/*
 * Locations by the word that the pad pushes, two words for each. A location is removed here before
 * it is freed; interrupts are off during a hit, so a grace period of RCU waits for hits that read
 * the entry before.
 */
static struct gtp_location *by_word[2 * PADS_MAX];
static DECLARE_BITMAP(numbers, PADS_MAX);

/* --- hits --- */

/* GDB's own tasks: hits count only in an interrupt, or with the module parameter self_trace. */
static noinline void hit_self(struct gtp_location *loc, struct gtp_regs *regs, u32 held)
{
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (!gtp_self_skip(preempt_count()))
		gtp_hit_inline(loc, cpu, regs, held);
}

static noinline void hit_no_buffer(struct gtp_location *loc)
{
	struct gtp_pad_probe *p = loc->probe;

	atomic_long_inc(&p->no_buffer);
}

/*
 * Any function may be the one that was hit, so call none before this CPU is marked as in a hit. The
 * context is that of the probed code: there is no exception in between.
 */
static __always_inline void hit(struct gtp_location *loc, struct gtp_regs *regs, u32 held)
{
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (unlikely(!cpu))
		hit_no_buffer(loc);
	else if (unlikely(gtp_self_maybe()))
		hit_self(loc, regs, held);
	else
		gtp_hit_inline(loc, cpu, regs, held);
}

void gtp_pad_probe_hit(struct gtp_regs *regs, u32 word)
{
	struct gtp_location *loc;
	bool tell = gtp_irqs_off_notrace(regs->eflags);

	loc = gtp_acquire(&by_word[word]);
	if (likely(loc))
		hit(loc, regs, word & GTP_PAD_HELD);
	gtp_irqs_restored_notrace(tell);
}

NOKPROBE_SYMBOL(gtp_pad_probe_hit);

void gtp_pad_probe_connect(struct gtp_pad_probe *p)
{
	gtp_publish(&by_word[p->number << 1], p->loc);
	gtp_publish(&by_word[p->number << 1 | GTP_PAD_HELD], p->loc);
}

void gtp_pad_probe_disconnect(struct gtp_pad_probe *p)
{
	gtp_publish(&by_word[p->number << 1], NULL);
	gtp_publish(&by_word[p->number << 1 | GTP_PAD_HELD], NULL);
}

/* --- coming and going --- */

static u32 take_number(void)
{
	static u32 next;
	u32 number = find_next_zero_bit(numbers, PADS_MAX, next);

	if (number == PADS_MAX)
		number = find_first_zero_bit(numbers, PADS_MAX);
	if (number < PADS_MAX) {
		__set_bit(number, numbers);
		next = number + 1;
	}
	return number;
}

int gtp_pad_probe_init(struct gtp_pad_probe *p, const void *owner, struct gtp_location *loc, u64 at)
{
	if (cpu_feature_enabled(X86_FEATURE_XENPV)) { /* see hit/irqsave_notrace.h */
		loc->no_jump = "this is a paravirtual guest of Xen";
		return -EOPNOTSUPP;
	}
	p->number = take_number();
	if (p->number == PADS_MAX) {
		loc->no_jump = "there are as many jumps as there may be";
		return -EOPNOTSUPP;
	}
	p->loc = loc;
	p->armed.owner = owner;
	p->armed.addr = at;
	p->armed.text = at;
	gtp_armed_add(&p->armed);
	loc->probe = p;
	return 0;
}

void gtp_pad_probe_part(struct gtp_pad_probe *p)
{
	if (!p->loc)
		return;
	p->loc->missed += atomic_long_read(&p->no_buffer);
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
	__clear_bit(p->number, numbers);
	gtp_armed_remove(&p->armed);
}

/* --- the pad --- */

const struct ax_verified *gtp_pad_probe_condition(const struct gtp_location *loc)
{
	const struct gtp_tracepoint *tp = loc->first;

	if (!tp->cond || tp->next_here || !READ_ONCE(gtp_jit) ||
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

static int make(struct gtp_pad_probe *p, const struct gtp_region *region,
		const struct ax_verified *cond, struct gtp_jit_pad *pad, u32 *copies)
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
	};

	target.pad_hit = p->called ? (u64)gtp_pad_called : (u64)gtp_pad_hit;
	p->conditional = cond;
	return gtp_jit_pad_make(&req, pad);
}

int gtp_pad_probe_make(struct gtp_pad_probe *p, const struct gtp_region *region, u32 *copies)
{
	const struct ax_verified *cond = gtp_pad_probe_condition(p->loc);
	int err = make(p, region, cond, &p->pad, copies);

	p->loc->no_room = err == -ENOSPC;
	if (err && cond)
		err = make(p, region, NULL, &p->pad, copies);
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
	int err = gtp_jit_open();

	if (err)
		return err;
	err = make(p, region, NULL, &pad, NULL);
	gtp_jit_close();
	if (!err)
		err = lead(p, pad.addr);
	if (!err) {
		p->old_pad = p->pad;
		p->pad = pad;
		return 0;
	}
	p->conditional = true;
	if (pad.len)
		gtp_jit_pad_free(&pad);
	return err;
}
