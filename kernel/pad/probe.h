/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A location with a jump pad. A jump, an ftrace call or the code of another backend leads to the
 * pad.
 */
#ifndef _GTP_PAD_PROBE_H
#define _GTP_PAD_PROBE_H

#include "hit/run.h"
#include "kernel/jit/exec_kernel.h"
#include "probe/shadow.h"

/*
 * gtp_pad_hit - handle a hit; pads call it, see pad/pad.h. gtp_pad_called - handle a hit of a pad
 * to which a call leads, not a jump. gtp_pad_probe_hit - the C function that these two call.
 * gtp_pad_followed - handle a hit of a pad that may call the rest of the function, see
 * kernel/pad/follow.h
 */
void gtp_pad_hit(void);
void gtp_pad_called(void);
void gtp_pad_followed(void);
void gtp_pad_probe_hit(struct gtp_regs *regs, u32 word);

/* struct gtp_pad_stage - the pad of a tracepoint other than its location's first */
struct gtp_pad_stage {
	struct gtp_tracepoint *tp;
	u32 number;
	struct gtp_jit_pad pad;
};

/**
 * struct gtp_pad_probe - the pad of a location; the first member of the backend's own struct for it
 * @shadow: the probe's entry in the index of probed places, see probe/shadow.h
 * @loc: the location; NULL: the location no longer exists, but the pad does
 * @number: the number that @pad pushes
 * @called: a call leads to the pad, not a jump
 * @by_itself: the pad handles some hits without C: another tracepoint here needs another pad
 * @follows: the pad follows calls, so the probe holds a reference from gtp_follow_get()
 * @gate, @old_gate: the number of the gates of @pad and @old_pad, if they follow calls; otherwise 0
 * @stage, @nstages: the pads of further tracepoints, in their order; see kernel/pad/make.c
 * @pad: the pad to which control goes
 * @old_pad: the pad before @pad; tasks may be in it until the location is disarmed. @len 0: none
 */
struct gtp_pad_probe {
	struct gtp_shadow shadow;
	struct gtp_location *loc;
	u32 number;
	bool called;
	bool by_itself;
	bool follows;
	u32 gate, old_gate;
	struct gtp_pad_stage *stage;
	u32 nstages;
	struct gtp_jit_pad pad, old_pad;
};

/* Context of all functions below: process, under gtp_lock; they may sleep. */

/**
 * gtp_pad_probe_init() - take a number, and enter the place into the index of probed places
 * @p: zeroed, @called is set; from gtp_mem_alloc()
 * @owner: identifies the backend, see struct gtp_shadow
 * @loc: the location; its ->probe becomes @p
 * @at: the address of the jump or call to the pad: @loc's, or the end of a no-op there
 *
 * Return: 0; -EOPNOTSUPP, with the reason in @loc->no_jump, if there can be no pad.
 */
int gtp_pad_probe_init(struct gtp_pad_probe *p, const void *owner, struct gtp_location *loc,
		       u64 at);

/* gtp_pad_stages_drop - free the further tracepoints' pads; no task is in them or can reach them */
void gtp_pad_stages_drop(struct gtp_pad_probe *p);

/*
 * gtp_pad_probe_exit - undo gtp_pad_probe_init() and free the pads; no task is in them or can reach
 * them
 */
void gtp_pad_probe_exit(struct gtp_pad_probe *p);

/* gtp_pad_probes_wipe - write int3 over all freed pads, once after several gtp_pad_probe_exit() */
void gtp_pad_probes_wipe(void);

/* gtp_pad_probe_missed - implement missed of struct gtp_probe_backend for a location with a pad */
u64 gtp_pad_probe_missed(const struct gtp_location *loc);

/* gtp_pad_probe_part - detach a disconnected pad from its location, which no hit uses any more */
void gtp_pad_probe_part(struct gtp_pad_probe *p);

/*
 * gtp_pad_probe_connect - give the hits of the location's pads to @p->loc; _disconnect - ignore
 * them
 */
void gtp_pad_probe_connect(struct gtp_pad_probe *p);
void gtp_pad_probe_disconnect(struct gtp_pad_probe *p);

#define GTP_PAD_NO_MEMORY "there is no memory for it" /* for ->no_jump */

#endif /* _GTP_PAD_PROBE_H */
