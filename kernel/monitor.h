/* SPDX-License-Identifier: GPL-2.0-only */
/* `monitor` commands that only the kernel can answer: about its code and its probes. */
#ifndef _GTP_MONITOR_H
#define _GTP_MONITOR_H

#include "stub/stub.h"

/*
 * gtp_kernel_monitor - implement struct gtp_stub_ops' monitor; @ctx is not used. Context: gtp_lock
 */
int gtp_kernel_monitor(void *ctx, struct gtp_stub *stub, const char *command, struct gtp_why *why);

#endif /* _GTP_MONITOR_H */
