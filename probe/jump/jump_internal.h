/* SPDX-License-Identifier: GPL-2.0-only */
/* One jump in the text, for the files that make, look up and remove them. */
#ifndef _GTP_JUMP_INTERNAL_H
#define _GTP_JUMP_INTERNAL_H

#include <linux/atomic.h>
#include <linux/list.h>

#include "base/compat.h"
#include "kernel/kernel.h"
#include "jit/exec_kernel.h"
#include "probe/jump/jump.h"
#include "probe/jump/patch.h"
#include "probe/kprobe_list.h"

enum {
	GTP_JUMP_MAX = 16384, /* at a time */
};

enum gtp_jump_state {
	GTP_JUMP_STAGED, /* nothing has been changed yet */
	GTP_JUMP_ARMED,
	GTP_JUMP_STUCK, /* mute, and to be removed as soon as that is possible */
	GTP_JUMP_CALLED, /* no jump: the function tracer calls the pad, see probe/fentry.c */
	GTP_JUMP_STATES,
};

/**
 * struct gtp_jump - one jump, or one call from a function's entry
 * @patch: its place, and what happens there
 * @region: what it displaces
 * @call: the call instead; NULL: it is a jump
 * @loc: whose it is; NULL when it is stuck
 * @state: enum gtp_jump_state
 * @number: what its pad pushes
 * @conditional: the pad evaluates the location's condition
 * @refused: while arming: a kprobe must do
 * @under: somebody's jump from in front may reach over it
 * @holds: a reference to our module
 * @pad: where it leads
 * @old_pad: where it led before; tasks may be there until it is disarmed. @len 0: nowhere
 * @list: of all in the same state
 * @no_buffer: hits on CPUs that have no buffer
 */
struct gtp_jump {
	struct gtp_patch patch;
	struct gtp_region region;
	struct gtp_ftrace_call *call;
	struct gtp_location *loc;
	enum gtp_jump_state state;
	u32 number;
	bool conditional;
	bool refused;
	bool under;
	bool holds;
	struct gtp_jit_pad pad, old_pad;
	struct list_head list;
	atomic_long_t no_buffer;
};

/* probe/jump/jump.c */

#define GTP_JUMP_NO_MEMORY "there is no memory for it" /* a no_jump */

/*
 * gtp_jump_add - on the list, STAGED, without a pad; NULL: no_jump says why not.
 * gtp_jump_drop - off it; nothing can reach it any more
 */
struct gtp_jump *gtp_jump_add(struct gtp_location *loc);
void gtp_jump_drop(struct gtp_jump *d);

/* gtp_jump_connect, gtp_jump_disconnect - hits of its pad mean @d from now on; mean nothing */
void gtp_jump_connect(struct gtp_jump *d);
void gtp_jump_disconnect(struct gtp_jump *d);

/*
 * gtp_jump_beside - may there be a jump as far as those in place are concerned? 0; -EOPNOTSUPP
 * with @no_jump: one is within its bytes; -EBUSY with @why: it is within theirs, so nothing can be
 * there
 */
int gtp_jump_beside(u64 addr, const char **no_jump, struct gtp_why *why);

/* gtp_jump_become - the state changes; gtp_jump_any - is there one in that state? */
void gtp_jump_become(struct gtp_jump *d, enum gtp_jump_state state);
bool gtp_jump_any(enum gtp_jump_state state);

/* gtp_jump_each - @work for all in a state; it may sleep, and changes no states */
void gtp_jump_each(enum gtp_jump_state state, void (*work)(struct gtp_jump *d));

/* struct gtp_jump_set - some of them, by address; @patch has room for @n */
struct gtp_jump_set {
	u32 n;
	struct gtp_jump **d;
	struct gtp_patch **patch;
};

/* gtp_jump_select - all in a state, 0 or -ENOMEM; gtp_jump_deselect - give back the memory */
int gtp_jump_select(struct gtp_jump_set *set, enum gtp_jump_state state);
void gtp_jump_deselect(struct gtp_jump_set *set);

/* gtp_jump_wait - until no task is in a pad that it cannot reach any more, or among int3s */
void gtp_jump_wait(void);

/*
 * gtp_jump_look - where kprobes are, those included whose registration has begun; false: no
 * memory. After it, until gtp_can_jump_batch_end(): is there one in the bytes of a place, at their
 * first, behind it?
 */
bool gtp_jump_look(void);
bool gtp_jump_has_other_kprobe(const struct gtp_patch *p);
bool gtp_jump_has_first(const struct gtp_patch *p);
bool gtp_jump_has_inner(const struct gtp_patch *p);

/*
 * gtp_jump_late_kprobes - while jumps were written, somebody may have come behind their first
 * bytes, and see in these instructions of the text. As long as he is there, they are blank
 */
void gtp_jump_late_kprobes(struct gtp_patch **p, u32 n);

/* probe/jump/jump_arm.c */

/* gtp_jump_make_pad - into the open arena, with its location's condition if possible; 0/-errno */
int gtp_jump_make_pad(struct gtp_jump *d);

/* gtp_jump_no_pad - why that, or a jump there, was not possible: a no_jump */
const char *gtp_jump_no_pad(int err);

/* probe/jump/jump_remove.c */

/* gtp_jump_sweep - remove what is stuck, if it can be now; _once: unless this batch has tried */
void gtp_jump_sweep(void);
void gtp_jump_sweep_once(void);

/* gtp_jump_leave - it becomes stuck, without its location; it is mute, and no hit sees it */
void gtp_jump_leave(struct gtp_jump *d);

#endif /* _GTP_JUMP_INTERNAL_H */
