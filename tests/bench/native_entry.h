/* SPDX-License-Identifier: GPL-2.0-only */
/* The assembly that a pad calls and that calls C, for userspace. */
#ifndef _GTP_NATIVE_ENTRY_H
#define _GTP_NATIVE_ENTRY_H

#include "base/regs.h"

/* bench_pad_hit - handle a hit; pads call this assembly function */
void bench_pad_hit(void);

/* bench_pad_left - assembly, called by a pad that should never call C; bench_left - its C part */
void bench_pad_left(void);
void bench_left(void);

/* bench_hit - the C part of bench_pad_hit, like gtp_pad_probe_hit() in kernel/pad/probe.c */
void bench_hit(struct gtp_regs *regs, u32 word);

#endif /* _GTP_NATIVE_ENTRY_H */
