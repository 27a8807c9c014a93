/* SPDX-License-Identifier: GPL-2.0-only */
/* QTSave: the stopped run as a trace file on the machine that is traced. */
#ifndef _GTP_SAVE_H
#define _GTP_SAVE_H

#include "base/why.h"

/**
 * gtp_save() - struct gtp_stub_ops' save
 * @ctx: unused
 * @name: as the connected client's own file system sees it
 * @why: the refusal
 *
 * Context: process, under gtp_lock, called for a packet of the connected GDB. Return: 0 or -errno.
 */
int gtp_save(void *ctx, const char *name, struct gtp_why *why);

#endif /* _GTP_SAVE_H */
