/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides whether an address of the running kernel can become a jump, by the table of regions, the
 * live code and the kernel's blacklist.
 */
#ifndef _GTP_CAN_JUMP_H
#define _GTP_CAN_JUMP_H

#include "base/why.h"
#include "regions/region.h"

/* Context of all functions: process, under gtp_lock; they may sleep. */

/**
 * gtp_can_jump() - decide whether the code at one address can become a jump
 * @addr: the address
 * @only_falls: also refuse if control may reach @addr other than from the instruction before it
 * @r: the displaced instructions; filled in if the result is 0
 * @no_jump: set if the result is -EOPNOTSUPP: the reason, a constant that the user can read
 * @why: the refusal; set if the result is any other error
 *
 * Checks the kernel's blacklist or, where that cannot be read, registers a disabled kprobe at the
 * address. Such kprobes stay registered until gtp_kprobe_list_read() or gtp_kprobe_list_forget()
 * unregisters all of them with one wait: do not patch text before that.
 *
 * Decodes the code with the original bytes in place of our own probes. Compare @r->bytes with the
 * live code once more when you patch it.
 *
 * Return: 0; -EOPNOTSUPP: leave the address to another backend; other errors: no probe can be set
 * there at all.
 */
int gtp_can_jump(u64 addr, bool only_falls, struct gtp_region *r, const char **no_jump,
		 struct gtp_why *why);

/* gtp_can_jump_end - free the memory that is kept between calls of gtp_can_jump() */
void gtp_can_jump_end(void);

#endif /* _GTP_CAN_JUMP_H */
