/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds where the user stack of a hit's task begins: its registers, and the process that it belongs
 * to.
 */
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

/*
 * gtp_ustack_begin_at - like gtp_ustack_begin(), for a hit in a program: the stack begins with the
 * registers of that hit
 */
void gtp_ustack_begin_at(const struct gtp_user_hit *user, struct gtp_ustack_from *from);

#endif /* _GTP_USTACK_KERNEL_H */
