/* SPDX-License-Identifier: GPL-2.0-only */
/* One jump in the text: its state, and the lists of all jumps. */
#ifndef _GTP_JUMP_H
#define _GTP_JUMP_H

#include <linux/list.h>

#include "kernel/pad/probe.h"
#include "probe/jump/patch.h"

enum gtp_jump_state {
	GTP_JUMP_STAGED, /* its text has not been changed yet */
	GTP_JUMP_ARMED,
	GTP_JUMP_STUCK, /* disconnected; removed as soon as no other kprobe needs it */
	GTP_JUMP_STATES,
};

/**
 * struct gtp_jump - one jump
 * @p: the pad; its ->loc is NULL when the jump is stuck
 * @patch: the place of the jump in the text
 * @region: the instructions that the jump displaces
 * @state: enum gtp_jump_state
 * @refused: while arming: the location is left to another backend
 * @under: another prober's jump may begin before this one and cover its first bytes
 * @no_memory: the place stays int3 because there was no memory to map its text again
 * @holds: the jump has a reference to our module
 * @list: links the jump into the list of its state
 */
struct gtp_jump {
	struct gtp_pad_probe p;
	struct gtp_patch patch;
	struct gtp_region region;
	enum gtp_jump_state state;
	bool refused;
	bool under;
	bool no_memory;
	bool holds;
	struct list_head list;
};

/* Context of all functions: process, under gtp_lock; they may sleep. */

static inline struct gtp_jump *gtp_jump_of_pad(struct gtp_pad_probe *p)
{
	return container_of(p, struct gtp_jump, p);
}

/* gtp_jump_is_behind - true if the jump follows a no-op that is at its location's address */
static inline bool gtp_jump_is_behind(const struct gtp_jump *j)
{
	return j->p.loc && j->p.loc->addr != j->patch.addr;
}

/*
 * gtp_jump_add - make a jump at @at, STAGED and without a pad; return NULL with the reason in
 * @loc->no_jump if that is not possible. gtp_jump_drop - free a jump and its pad; no task can reach
 * them any more
 */
struct gtp_jump *gtp_jump_add(struct gtp_location *loc, u64 at);
void gtp_jump_drop(struct gtp_jump *j);

/* gtp_jump_become - change a jump's state; gtp_jump_any - true if any jump is in the state */
void gtp_jump_become(struct gtp_jump *j, enum gtp_jump_state state);
bool gtp_jump_any(enum gtp_jump_state state);

/* gtp_jump_count - return how many jumps are in the text */
u32 gtp_jump_count(void);

/*
 * gtp_jump_forget_kprobes - gtp_kprobe_list_forget(); if no jump is left, also close the list
 */
void gtp_jump_forget_kprobes(void);

/*
 * gtp_jump_each - call @work for all jumps in a state; @work may sleep, but must not change states
 */
void gtp_jump_each(enum gtp_jump_state state, void (*work)(struct gtp_jump *j));

/* struct gtp_jump_set - some of the jumps, sorted by address; @patch has room for @n pointers */
struct gtp_jump_set {
	u32 n;
	struct gtp_jump **jump;
	struct gtp_patch **patch;
};

/*
 * gtp_jump_select - list all jumps in a state, return 0 or -ENOMEM; gtp_jump_deselect - free the
 * list
 */
int gtp_jump_select(struct gtp_jump_set *set, enum gtp_jump_state state);
void gtp_jump_deselect(struct gtp_jump_set *set);

/*
 * gtp_jump_beside - check whether existing jumps allow a jump at @addr. Return 0; -EOPNOTSUPP with
 * @no_jump if a jump begins in the five bytes from @addr; -EBUSY with @why if @addr is within a
 * jump, so that no probe of any kind can be there
 */
int gtp_jump_beside(u64 addr, const char **no_jump, struct gtp_why *why);

/*
 * Call these after gtp_kprobe_list_settle(). They return true if a kprobe is anywhere in the bytes
 * of a place (_other_kprobe), at byte 0 (_first), or after byte 0 (_inner).
 */
bool gtp_jump_has_other_kprobe(const struct gtp_patch *p);
bool gtp_jump_has_first(const struct gtp_patch *p);
bool gtp_jump_has_inner(const struct gtp_patch *p);

/* gtp_jump_is_hit - true if hits reach the jump's pad, by the jump or by an int3 of ours */
bool gtp_jump_is_hit(const struct gtp_jump *j);

/* gtp_jump_kind - return, in words for the user, the kind of probe that the location has now */
const char *gtp_jump_kind(const struct gtp_jump *j);

#endif /* _GTP_JUMP_H */
