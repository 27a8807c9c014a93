/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides whether any kind of probe can be set at a place at the moment; if not, says why in words.
 */
#ifndef _GTP_REFUSE_H
#define _GTP_REFUSE_H

#include "base/why.h"

/*
 * gtp_probe_refuse - check whether a place may be probed now; return 0, or -errno with @why.
 * Context: under gtp_lock
 */
int gtp_probe_refuse(u64 addr, struct gtp_why *why);

/*
 * gtp_probe_allowed - check whether any probe may be set now; return 0, or -errno with @why if the
 * kernel is locked down or the client interrupts. Context: under gtp_lock
 */
int gtp_probe_allowed(struct gtp_why *why);

/*
 * gtp_probe_interrupted - return -EINTR with @why if the client has left or sent ^C, otherwise 0.
 * Context: under gtp_lock
 */
int gtp_probe_interrupted(struct gtp_why *why);

/* gtp_probe_explain - put an error of register_kprobe() into words */
void gtp_probe_explain(int err, struct gtp_why *why);

#endif /* _GTP_REFUSE_H */
