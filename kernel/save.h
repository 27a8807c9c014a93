/* SPDX-License-Identifier: GPL-2.0-only */
/* QTSave: write the stopped run to a new trace file, in one folder of the traced machine. */
#ifndef _GTP_SAVE_H
#define _GTP_SAVE_H

#include "base/why.h"

/**
 * gtp_save() - implement save of struct gtp_stub_ops
 * @ctx: unused
 * @name: the name of the new file, without '/'
 * @why: the refusal
 *
 * Context: process, under gtp_lock, called for a packet of the connected GDB. Return: 0 or -errno.
 */
int gtp_save(void *ctx, const char *name, struct gtp_why *why);

#endif /* _GTP_SAVE_H */
