// SPDX-License-Identifier: GPL-2.0-only
/* The stack of callers and the task of hits on the fake machine; tests set them. */
#include "fake_target.h"

u32 fake_stack(void *ctx, struct gtp_walk *walk, const struct gtp_regs *regs, u64 pc, u64 *to,
	       u32 max)
{
	const struct fake *f = ctx;
	u32 n = 0;

	to[n++] = pc;
	while (n < max && f->stack[n - 1]) {
		u64 addr = f->stack[n - 1];

		to[n++] = addr == FAKE_STACK_LOST ? GTP_STACKS_LOST : addr;
	}
	return n;
}

void fake_ustack(void *ctx, const struct gtp_regs *regs, struct gtp_ustack_from *from)
{
	*from = ((const struct fake *)ctx)->ustack;
}

u32 fake_stack_bytes(void *ctx, const struct gtp_regs *regs, u64 pc)
{
	return ((const struct fake *)ctx)->deep;
}

u64 fake_task(void *ctx, u64 *born)
{
	const struct fake *f = ctx;

	*born = f->born;
	return f->task;
}

u64 fake_stacks_bytes(void *ctx)
{
	return ((const struct fake *)ctx)->stacks_bytes;
}
