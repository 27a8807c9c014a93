/* SPDX-License-Identifier: GPL-2.0-only */
/* May this address of the running kernel become a jump? Tables, live code, the kernel are asked. */
#ifndef _GTP_CAN_JUMP_H
#define _GTP_CAN_JUMP_H

#include "base/why.h"
#include "regions/region.h"

/*
 * All of it under gtp_lock, in process context, and may sleep.
 */

/**
 * gtp_can_jump() - decide for one address
 * @addr: the address
 * @r: filled in when the answer is 0
 * @no_jump: set when the answer is -EOPNOTSUPP: why, a constant that the user can read
 * @why: set to the refusal in all other cases
 *
 * The kernel itself is asked by its blacklist, or by a disabled kprobe at the address. Such kprobes
 * stay registered until gtp_kprobe_list_read() or gtp_kprobe_list_forget() takes all of them off
 * with one wait: nothing may be patched before.
 *
 * What it looks at is the code without our own probes; @r->bytes are to be compared with the live
 * code once more when it is patched.
 *
 * Return: 0; -EOPNOTSUPP: another backend must do; else no probe can be set there at all.
 */
int gtp_can_jump(u64 addr, struct gtp_region *r, const char **no_jump, struct gtp_why *why);

/* gtp_can_jump_end - no more questions for now: free what was kept for them */
void gtp_can_jump_end(void);

#endif /* _GTP_CAN_JUMP_H */
