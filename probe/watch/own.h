/* SPDX-License-Identifier: GPL-2.0-only */
/* Refuses watchpoints in memory where they would be harmful or useless. */
#ifndef _GTP_OWN_H
#define _GTP_OWN_H

#include "base/why.h"

/**
 * gtp_watch_refuse() - refuse to watch variables of gdbtp or of the kernel's entry code, and code
 * @addr: a watch address
 * @why: the refusal
 *
 * Context: process, under gtp_lock. Return: 0, or -EINVAL with @why.
 */
int gtp_watch_refuse(u64 addr, struct gtp_why *why);

#endif /* _GTP_OWN_H */
