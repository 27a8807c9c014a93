/* SPDX-License-Identifier: GPL-2.0-only */
/* May this address of the running kernel become a jump? Tables, live code, the kernel are asked. */
#ifndef _GTP_CAN_JUMP_H
#define _GTP_CAN_JUMP_H

#include "regions/region.h"
#include "tracepoint/tracepoint.h"

/*
 * All of it under gtp_host.lock, in process context, and may sleep, unless it says otherwise.
 */

/**
 * gtp_can_jump() - decide for one address
 * @addr: the address
 * @r: filled in when the answer is 0
 * @no_jump: set when the answer is -EOPNOTSUPP: why, a constant that the user can read
 * @why: set to the refusal in all other cases
 *
 * The kernel itself vets the address by a disabled kprobe. Such kprobes stay registered until
 * gtp_can_jump_batch_begin() or gtp_can_jump_batch_end() takes all of them off with one wait: nothing may be
 * patched before.
 *
 * What it looks at is the code without our own probes; @r->bytes are to be compared with the live
 * code once more when it is patched.
 *
 * Return: 0; -EOPNOTSUPP: a kprobe must do; else no probe can be set there at all.
 */
int gtp_can_jump(u64 addr, struct gtp_region *r, const char **no_jump, struct gtp_why *why);

/* gtp_function_bounds - the function around an address, by the kernel's symbols; false: unknown */
bool gtp_function_bounds(u64 addr, u64 *start, u32 *size);

/**
 * gtp_can_jump_batch_begin() - find out where kprobes are now
 *
 * Takes off what gtp_can_jump() left registered. Again at once, without gtp_can_jump_batch_end():
 * looks again.
 * Return: 0 or -ENOMEM.
 */
int gtp_can_jump_batch_begin(void);

/* gtp_can_jump_batch_need - the same, unless that has been done and not been ended */
int gtp_can_jump_batch_need(void);

/* gtp_can_jump_batch_end - forget it; the same take-off, for a batch that never began */
void gtp_can_jump_batch_end(void);

/* gtp_can_jump_denied - may the kernel not make a jump of a kprobe there, though its rule would? */
bool gtp_can_jump_denied(u64 addr);

/* gtp_can_jump_init, gtp_can_jump_exit - /proc/gtpregions comes and goes, the tables with it; 0 or -ENOMEM */
int gtp_can_jump_init(void);
void gtp_can_jump_exit(void);

#endif /* _GTP_CAN_JUMP_H */
