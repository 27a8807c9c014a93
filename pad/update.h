/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes a pad run the actions of a tracepoint whose hits write no frame. */
#ifndef _GTP_PAD_UPDATE_H
#define _GTP_PAD_UPDATE_H

#include "base/base.h"

struct ax_jit;
struct gtp_pad_request;

/* gtp_pad_update_can - true if a pad can call the snippet of the request's actions */
bool gtp_pad_update_can(const struct gtp_pad_request *req);

/*
 * gtp_pad_update_enter - save the registers as a struct gtp_regs, as far as the actions need them;
 * gtp_pad_update_leave - restore all registers and the flags
 */
void gtp_pad_update_enter(struct ax_jit *f);
void gtp_pad_update_leave(struct ax_jit *f);

/*
 * gtp_pad_update_run - emit the count of the hit, and the call of the snippet. The CPU is marked as
 * in a hit, and rax has the address of plan.update_alone, which was found to be the snippet
 */
void gtp_pad_update_run(struct ax_jit *f);

#endif /* _GTP_PAD_UPDATE_H */
