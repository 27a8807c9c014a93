/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes a pad in userspace. */
#ifndef _GTP_PADMAKE_H
#define _GTP_PADMAKE_H

#include "user/jit/exec_user.h"
#include "pad/pad.h"

/**
 * padmake() - plan and emit a pad
 * @u: the arena; it is emptied if it is full
 * @req: the request for the pad; its target is filled in
 * @len: receives the length of the pad in bytes
 *
 * Return: the address of the pad; 0 if it was refused.
 */
u64 padmake(struct jit_user *u, const struct gtp_pad_request *req, u32 *len);

#endif /* _GTP_PADMAKE_H */
