/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds room for jump pads in the arena. */
#ifndef _GTP_PAD_PLACE_H
#define _GTP_PAD_PLACE_H

#include "kernel/jit/exec_kernel.h"
#include "pad/pad.h"

/**
 * gtp_pad_place() - put a jump pad into the open arena
 * @req: the request for the pad; its target is gtp_jit_target()'s, with the caller's pad_hit
 * @pad: receives the pad, which may run after gtp_jit_close()
 *
 * Pads that write frames may use only a part of the room. Return: 0, -ENOMEM, -ENOSPC (no room for
 * another pad), -EOPNOTSUPP (these instructions cannot be moved, or not that far; or a pad cannot
 * do what the request asks), -ERANGE (cannot happen: a bug).
 */
int gtp_pad_place(const struct gtp_pad_request *req, struct gtp_jit_pad *pad);

#endif /* _GTP_PAD_PLACE_H */
