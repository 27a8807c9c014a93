// SPDX-License-Identifier: GPL-2.0-only
/* Makes jump pads in the kernel write frames by themselves. */
#include <linux/sched.h>
#include <asm/segment.h>

#include "base/compat.h"
#include "hit/hit.h"
#include "jit/item.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/base/params_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "kernel/pad/frame_kernel.h"
#include "pad/frame.h"
#include "probe/self.h"

/*
 * True if pads may write frames on this machine. A pad turns interrupts off without reporting it to
 * lockdep. If lockdep tracks the interrupt state, a fault in a pad would leave lockdep with a wrong
 * state.
 */
static bool may_write(void)
{
	return !IS_ENABLED(CONFIG_PROVE_LOCKING) && READ_ONCE(gtp_jit) &&
	       !cpu_feature_enabled(X86_FEATURE_XENPV); /* see kernel/hit/irqsave_notrace.h */
}

/* True if a pad's instructions can use this address as a sign-extended displacement. */
static bool is_near(unsigned long address)
{
	return (s64)address == (s32)address;
}

static bool describe_kernel(struct gtp_pad_frame *frame, unsigned long location)
{
	unsigned long cpu = (__force unsigned long)&gtp_this_cpu;

	frame->cpu = (s32)cpu;
	frame->task = GTP_CURRENT_TASK;
	frame->tgid = offsetof(struct task_struct, tgid);
	frame->location = location;
	frame->self_mask = (u64)&gtp_self_test.mask;
	frame->self_value = (u64)&gtp_self_test.value;
	frame->cs = __KERNEL_CS;
	frame->ss = __KERNEL_DS;
	frame->cli = true;
	return is_near(cpu) && is_near(location) && is_near((unsigned long)&gtp_self_test);
}

/* Describe the tracepoint's frame. Return false if a pad cannot write it, or there is no memory. */
static bool describe(struct gtp_pad_frame *frame, const struct gtp_tracepoint *tp,
		     struct gtp_tracepoint *const *connected)
{
	struct ax_jit_item *items;

	BUILD_BUG_ON(sizeof(gtp_self_test.mask) != 4);
	*frame = (struct gtp_pad_frame){ .tp = tp };
	if (!describe_kernel(frame, (unsigned long)connected))
		return false;
	if (!tp->actions)
		return true;
	if (tp->only_updates) {
		frame->update = (u64)READ_ONCE(tp->plan.update_alone);
		frame->failed = (u64)gtp_hit_failed;
		frame->ways = tp->loc->run->tsvs.ways;
		frame->clac = cpu_feature_enabled(X86_FEATURE_SMAP);
		if (!frame->update)
			return false;
	}
	items = gtp_mem_alloc(tp->nactions * sizeof(*items));
	if (!items)
		return false;
	for (const struct gtp_action *a = tp->actions; a; a = a->next)
		items[frame->nitems++] = gtp_jit_item(a);
	frame->items = items;
	return true;
}

int gtp_pad_frame_make(struct gtp_pad_request *req, const struct gtp_tracepoint *tp,
		       struct gtp_tracepoint *const *connected, struct gtp_jit_pad *pad)
{
	struct gtp_pad_frame frame;
	int err;

	if (!may_write() || !gtp_pad_frame_can(tp, req->cond) || !describe(&frame, tp, connected))
		return -EOPNOTSUPP;
	req->frame = &frame;
	err = gtp_pad_place(req, pad);
	req->frame = NULL;
	gtp_mem_free((void *)frame.items);
	return err;
}
