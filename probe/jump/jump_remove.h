/* SPDX-License-Identifier: GPL-2.0-only */
/* Disarms jumps: removes them from the text. */
#ifndef _GTP_JUMP_REMOVE_H
#define _GTP_JUMP_REMOVE_H

#include "probe/jump/jump.h"

struct module;

/* Context of all except gtp_jump_remove_exit(): process, under gtp_lock; they may sleep. */

/*
 * gtp_jump_disarm - implement disarm of struct gtp_probe_backend. A jump with another kprobe on it
 * stays, disconnected, and its removal is tried again later
 */
void gtp_jump_disarm(struct gtp_location *first);

/* gtp_jump_leave - mark a disconnected jump as stuck, and detach its location; no hit may use it */
void gtp_jump_leave(struct gtp_jump *j);

/*
 * gtp_jump_sweep_once - remove the stuck jumps that can be removed now; a second call does nothing
 * before gtp_jump_sweep_again()
 */
void gtp_jump_sweep_once(void);
void gtp_jump_sweep_again(void);

/* gtp_jump_text_goes - implement text_goes of struct gtp_probe_backend */
void gtp_jump_text_goes(const struct module *mod, bool init);

/* gtp_jump_remove_exit - wait until no jump is stuck any more. Without gtp_lock */
void gtp_jump_remove_exit(void);

#endif /* _GTP_JUMP_REMOVE_H */
