/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel as GDB's target. */
#ifndef _GTP_KERNEL_TARGET_H
#define _GTP_KERNEL_TARGET_H

#include "stub/stub.h"

extern const struct gtp_stub_ops gtp_kernel_target;

#endif /* _GTP_KERNEL_TARGET_H */
