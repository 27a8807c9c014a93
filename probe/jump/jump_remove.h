/* SPDX-License-Identifier: GPL-2.0-only */
/* Jumps leave the text. */
#ifndef _GTP_JUMP_REMOVE_H
#define _GTP_JUMP_REMOVE_H

#include "probe/jump/jump.h"

struct module;

/* All of it but the last: process context, under gtp_lock; may sleep. */

/*
 * gtp_jump_disarm - struct gtp_probe_backend's disarm. Where another kprobe sits on a jump, the
 * jump stays, does nothing, and is tried again later
 */
void gtp_jump_disarm(struct gtp_location *first);

/* gtp_jump_leave - it becomes stuck, without its location; it is disconnected, no hit sees it */
void gtp_jump_leave(struct gtp_jump *j);

/*
 * gtp_jump_sweep_once - remove what is stuck, if that is possible now; once until
 * gtp_jump_sweep_again()
 */
void gtp_jump_sweep_once(void);
void gtp_jump_sweep_again(void);

/* gtp_jump_text_goes - struct gtp_probe_backend's text_goes */
void gtp_jump_text_goes(const struct module *mod, bool init);

/* gtp_jump_remove_exit - wait until nothing is stuck any more. Without gtp_lock */
void gtp_jump_remove_exit(void);

#endif /* _GTP_JUMP_REMOVE_H */
