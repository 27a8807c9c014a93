/* SPDX-License-Identifier: GPL-2.0-only */
/* The user stack of the task at a hit: its process, and the registers with which it begins. */
#ifndef _GTP_USTACK_KERNEL_H
#define _GTP_USTACK_KERNEL_H

#include "base/regs.h"
#include "hit/ustack.h"
#include "kernel/hit/user_kernel.h"

/*
 * gtp_ustack_begin - implement struct gtp_hit_ops' ustack; @ctx is not used. Context: a hit, which
 * may be in an NMI; preemption is off
 */
void gtp_ustack_begin(void *ctx, const struct gtp_regs *regs, struct gtp_ustack_from *from);

/* gtp_ustack_begin_at - do the same for a hit in a program, with the registers of that hit */
void gtp_ustack_begin_at(const struct gtp_user_hit *user, struct gtp_ustack_from *from);

#endif /* _GTP_USTACK_KERNEL_H */
