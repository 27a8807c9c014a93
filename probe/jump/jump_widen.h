/* SPDX-License-Identifier: GPL-2.0-only */
/* Redirects a jump to another pad when a second tracepoint is added at its location. */
#ifndef _GTP_JUMP_WIDEN_H
#define _GTP_JUMP_WIDEN_H

#include "probe/jump/jump.h"

/* Implements widen of struct gtp_probe_backend. Context: process, under gtp_lock; may sleep */
int gtp_jump_widen(struct gtp_location *loc, struct gtp_why *why);

#endif /* _GTP_JUMP_WIDEN_H */
