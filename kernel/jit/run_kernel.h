/* SPDX-License-Identifier: GPL-2.0-only */
/* Compiles a run's expressions to machine code in the kernel. */
#ifndef _GTP_RUN_KERNEL_H
#define _GTP_RUN_KERNEL_H

#include "base/why.h"
#include "jit/jit.h"
#include "tracepoint/tracepoint.h"
#include "tracepoint/tsv.h"

/* gtp_jit_start - make the arena ready; without it expressions are interpreted. Module init */
void gtp_jit_start(void);

/*
 * Implement struct gtp_target_ops' functions for machine code; @ctx is not used. Context: process,
 * gtp_lock; may sleep
 */
int gtp_jit_code_begin(void *ctx, const struct gtp_tsvs *tsvs, struct gtp_why *why);
int gtp_jit_code_make(void *ctx, struct gtp_expr *e, u64 pc, struct gtp_why *why);
int gtp_jit_code_make_actions(void *ctx, struct gtp_tracepoint *tp, struct gtp_why *why);
void gtp_jit_code_end(void *ctx);
void gtp_jit_code_forget(void *ctx);

#endif /* _GTP_RUN_KERNEL_H */
