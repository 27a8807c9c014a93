/* SPDX-License-Identifier: GPL-2.0-only */
/* Takes the kernel stack at a hit: the addresses of the callers, and where the stack ends. */
#ifndef _GTP_STACK_KERNEL_H
#define _GTP_STACK_KERNEL_H

#include "hit/run.h"

/*
 * Implement members of struct gtp_hit_ops; @ctx is not used. Context: a hit, which may be in an
 * NMI; preemption is off.
 */
u32 gtp_stack_take(void *ctx, struct gtp_walk *walk, const struct gtp_regs *regs, u64 pc, u64 *to,
		   u32 max);
u32 gtp_stack_bytes(void *ctx, const struct gtp_regs *regs, u64 pc);

/*
 * gtp_stack_hide - from now on omit the addresses in [@from, @to) from stacks, because code there
 * returns to a caller that is in the stack as well. There can be only one such range
 */
void gtp_stack_hide(u64 from, u64 to);

#endif /* _GTP_STACK_KERNEL_H */
