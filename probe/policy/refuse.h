/* SPDX-License-Identifier: GPL-2.0-only */
/* Where and when no probe of any kind can be set, in words. */
#ifndef _GTP_REFUSE_H
#define _GTP_REFUSE_H

#include "base/why.h"

/* gtp_probe_refuse - may nothing be probed there or now? 0, or -errno with @why. gtp_lock */
int gtp_probe_refuse(u64 addr, struct gtp_why *why);

/* gtp_probe_interrupted - is the client gone, or was it ^C? 0, or -EINTR with @why. gtp_lock */
int gtp_probe_interrupted(struct gtp_why *why);

/* gtp_probe_explain - an error of register_kprobe() in words */
void gtp_probe_explain(int err, struct gtp_why *why);

#endif /* _GTP_REFUSE_H */
