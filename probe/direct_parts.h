/* SPDX-License-Identifier: GPL-2.0-only */
/* One jump in the text, for the files that make, look up and remove them. */
#ifndef _GTP_DIRECT_PARTS_H
#define _GTP_DIRECT_PARTS_H

#include <linux/atomic.h>
#include <linux/list.h>

#include "base/compat.h"
#include "kernel/kernel.h"
#include "jit/exec_kernel.h"
#include "probe/direct.h"
#include "probe/patch.h"

enum {
	GTP_DIRECT_MAX = 16384, /* at a time */
};

enum gtp_direct_state {
	GTP_DIRECT_STAGED, /* nothing has been changed yet */
	GTP_DIRECT_ARMED,
	GTP_DIRECT_STUCK, /* mute, and to be removed as soon as that is possible */
	GTP_DIRECT_CALLED, /* no jump: the function tracer calls the pad, see probe/fentry.c */
	GTP_DIRECT_STATES,
};

/**
 * struct gtp_direct - one jump, or one call from a function's entry
 * @patch: its place, and what happens there
 * @region: what it displaces
 * @call: the call instead; NULL: it is a jump
 * @loc: whose it is; NULL when it is stuck
 * @state: enum gtp_direct_state
 * @number: what its pad pushes
 * @conditional: the pad evaluates the location's condition
 * @refused: while arming: a kprobe must do
 * @under: somebody's jump from in front may reach over it
 * @holds: a reference to our module
 * @pad: where it leads
 * @old_pad: where it led before; tasks may be there until it is disarmed. @len 0: nowhere
 * @list: of all in the same state
 * @homeless: hits on CPUs that have no buffer
 */
struct gtp_direct {
	struct gtp_patch patch;
	struct gtp_region region;
	struct gtp_ftrace_call *call;
	struct gtp_location *loc;
	enum gtp_direct_state state;
	u32 number;
	bool conditional;
	bool refused;
	bool under;
	bool holds;
	struct gtp_jit_pad pad, old_pad;
	struct list_head list;
	atomic_long_t homeless;
};

/* probe/direct.c */

#define GTP_DIRECT_NO_MEMORY "there is no memory for it" /* a no_jump */

/*
 * gtp_direct_add - on the list, STAGED, without a pad; NULL: no_jump says why not.
 * gtp_direct_drop - off it; nothing can reach it any more
 */
struct gtp_direct *gtp_direct_add(struct gtp_location *loc);
void gtp_direct_drop(struct gtp_direct *d);

/* gtp_direct_connect, gtp_direct_mute - hits of its pad mean @d from now on; mean nothing */
void gtp_direct_connect(struct gtp_direct *d);
void gtp_direct_mute(struct gtp_direct *d);

/*
 * gtp_direct_beside - may there be a jump as far as those in place are concerned? 0; -EOPNOTSUPP
 * with @no_jump: one is within its bytes; -EBUSY with @why: it is within theirs, so nothing can be
 * there
 */
int gtp_direct_beside(u64 addr, const char **no_jump, struct gtp_why *why);

/* gtp_direct_become - the state changes; gtp_direct_any - is there one in that state? */
void gtp_direct_become(struct gtp_direct *d, enum gtp_direct_state state);
bool gtp_direct_any(enum gtp_direct_state state);

/* gtp_direct_each - @work for all in a state; it may sleep, and changes no states */
void gtp_direct_each(enum gtp_direct_state state, void (*work)(struct gtp_direct *d));

/* struct gtp_direct_set - some of them, by address; @patch has room for @n */
struct gtp_direct_set {
	u32 n;
	struct gtp_direct **d;
	struct gtp_patch **patch;
};

/* gtp_direct_select - all in a state, 0 or -ENOMEM; gtp_direct_deselect - give back the memory */
int gtp_direct_select(struct gtp_direct_set *set, enum gtp_direct_state state);
void gtp_direct_deselect(struct gtp_direct_set *set);

/* gtp_direct_wait - until no task is in a pad that it cannot reach any more, or among int3s */
void gtp_direct_wait(void);

/*
 * gtp_direct_look - where kprobes are, those included whose registration has begun; false: no
 * memory. After it, until gtp_vet_batch_end(): is there one in the bytes of a place, at their
 * first, behind it?
 */
bool gtp_direct_look(void);
bool gtp_direct_has_guest(const struct gtp_patch *p);
bool gtp_direct_has_first(const struct gtp_patch *p);
bool gtp_direct_has_inner(const struct gtp_patch *p);

/*
 * gtp_direct_late_guests - while jumps were written, somebody may have come behind their first
 * bytes, and see in these instructions of the text. As long as he is there, they are blank
 */
void gtp_direct_late_guests(struct gtp_patch **p, u32 n);

/* probe/direct_arm.c */

/* gtp_direct_make_pad - into the open arena, with its location's condition if possible; 0/-errno */
int gtp_direct_make_pad(struct gtp_direct *d);

/* gtp_direct_no_pad - why that, or a jump there, was not possible: a no_jump */
const char *gtp_direct_no_pad(int err);

/* probe/direct_remove.c */

/* gtp_direct_sweep - remove what is stuck, if it can be now; _once: unless this batch has tried */
void gtp_direct_sweep(void);
void gtp_direct_sweep_once(void);

/* gtp_direct_leave - it becomes stuck, without its location; it is mute, and no hit sees it */
void gtp_direct_leave(struct gtp_direct *d);

#endif /* _GTP_DIRECT_PARTS_H */
