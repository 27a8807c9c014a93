/* SPDX-License-Identifier: GPL-2.0-only */
/* One jump in the text: what there is of it, and which there are. */
#ifndef _GTP_JUMP_H
#define _GTP_JUMP_H

#include <linux/list.h>

#include "probe/jump/patch.h"
#include "probe/pad_probe.h"

enum gtp_jump_state {
	GTP_JUMP_STAGED, /* nothing has been changed yet */
	GTP_JUMP_ARMED,
	GTP_JUMP_STUCK, /* disconnected, and to be removed as soon as that is possible */
	GTP_JUMP_STATES,
};

/**
 * struct gtp_jump - one jump
 * @p: its pad; ->loc is NULL when the jump is stuck
 * @patch: its place, and what happens there
 * @region: what it displaces
 * @state: enum gtp_jump_state
 * @refused: while arming: another backend must do
 * @under: a jump of others, from in front, may reach over it
 * @holds: a reference to our module
 * @list: of all in the same state
 */
struct gtp_jump {
	struct gtp_pad_probe p;
	struct gtp_patch patch;
	struct gtp_region region;
	enum gtp_jump_state state;
	bool refused;
	bool under;
	bool holds;
	struct list_head list;
};

/* All of it: process context, under gtp_lock; may sleep. */

static inline struct gtp_jump *gtp_jump_of_pad(struct gtp_pad_probe *p)
{
	return container_of(p, struct gtp_jump, p);
}

/*
 * gtp_jump_add - STAGED, without a pad; NULL: no_jump says why not.
 * gtp_jump_drop - forget it; nothing can reach it any more
 */
struct gtp_jump *gtp_jump_add(struct gtp_location *loc);
void gtp_jump_drop(struct gtp_jump *j);

/* gtp_jump_become - the state changes; gtp_jump_any - is there one in that state? */
void gtp_jump_become(struct gtp_jump *j, enum gtp_jump_state state);
bool gtp_jump_any(enum gtp_jump_state state);

/* gtp_jump_count - how many jumps are in the text */
u32 gtp_jump_count(void);

/* gtp_jump_each - @work for all in a state; it may sleep, and changes no states */
void gtp_jump_each(enum gtp_jump_state state, void (*work)(struct gtp_jump *j));

/* struct gtp_jump_set - some of them, by address; @patch has room for @n */
struct gtp_jump_set {
	u32 n;
	struct gtp_jump **jump;
	struct gtp_patch **patch;
};

/* gtp_jump_select - all in a state, 0 or -ENOMEM; gtp_jump_deselect - give back the memory */
int gtp_jump_select(struct gtp_jump_set *set, enum gtp_jump_state state);
void gtp_jump_deselect(struct gtp_jump_set *set);

/*
 * gtp_jump_beside - may there be a jump as far as those in place are concerned? 0; -EOPNOTSUPP
 * with @no_jump: one is within its bytes; -EBUSY with @why: it is within theirs, so nothing can be
 * there
 */
int gtp_jump_beside(u64 addr, const char **no_jump, struct gtp_why *why);

/*
 * After gtp_kprobe_list_settle(): is there a kprobe in the bytes of a place, at their first, behind
 * it?
 */
bool gtp_jump_has_other_kprobe(const struct gtp_patch *p);
bool gtp_jump_has_first(const struct gtp_patch *p);
bool gtp_jump_has_inner(const struct gtp_patch *p);

#endif /* _GTP_JUMP_H */
