/* SPDX-License-Identifier: GPL-2.0-only */
/* A location that is probed through a jump pad, however control gets to the pad. */
#ifndef _GTP_PAD_PROBE_H
#define _GTP_PAD_PROBE_H

#include "hit/run.h"
#include "kernel/jit/exec_kernel.h"
#include "probe/armed.h"

/*
 * gtp_pad_hit - where pads go with a hit, see pad/pad.h; gtp_pad_called - the same for those that
 * are called; gtp_pad_probe_hit - their C part. gtp_pad_followed - the same for those that may call
 * the rest of the function, see kernel/pad/follow.h
 */
void gtp_pad_hit(void);
void gtp_pad_called(void);
void gtp_pad_followed(void);
void gtp_pad_probe_hit(struct gtp_regs *regs, u32 word);

/* struct gtp_pad_stage - the pad of a tracepoint that is not its location's first */
struct gtp_pad_stage {
	struct gtp_tracepoint *tp;
	u32 number;
	struct gtp_jit_pad pad;
};

/**
 * struct gtp_pad_probe - a location's pad; the first member of the backend's own struct for it
 * @armed: in the index of probed places
 * @loc: the location; NULL: it is gone, the pad is not yet
 * @number: what its pad pushes
 * @called: control comes by a call, not by a jump
 * @by_itself: the pad may do without C: another tracepoint here needs another pad
 * @follows: it counts in gtp_follow_get()
 * @gate, @old_gate: of the pad's gates, where it may follow calls; 0: none
 * @stage, @nstages: the pads of further tracepoints, in their order; see kernel/pad/make.c
 * @pad: where control goes
 * @old_pad: where it went before; tasks may be there until it is disarmed. @len 0: nowhere
 */
struct gtp_pad_probe {
	struct gtp_armed armed;
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

/* All of the following: process context, under gtp_lock; may sleep. */

/**
 * gtp_pad_probe_init() - a number, and a place in the index
 * @p: zeroed, @called is set; from gtp_mem_alloc()
 * @owner: as in struct gtp_armed
 * @loc: the location; its ->probe is @p then
 * @at: where control is led to the pad: @loc's address, or behind a no-op there
 *
 * Return: 0; -EOPNOTSUPP: there can be none, @loc->no_jump says why.
 */
int gtp_pad_probe_init(struct gtp_pad_probe *p, const void *owner, struct gtp_location *loc,
		       u64 at);

/* gtp_pad_stages_drop - free further tracepoints' pads; no task is in one, nor can get there */
void gtp_pad_stages_drop(struct gtp_pad_probe *p);

/* gtp_pad_probe_exit - undo that and free the pads; no task is in one, nor can get there */
void gtp_pad_probe_exit(struct gtp_pad_probe *p);

/* gtp_pad_probes_wipe - behind gtp_pad_probe_exit() of several: int3 in all that they have freed */
void gtp_pad_probes_wipe(void);

/* gtp_pad_probe_missed - struct gtp_probe_backend's missed, of a location with a pad */
u64 gtp_pad_probe_missed(const struct gtp_location *loc);

/* gtp_pad_probe_part - detach a disconnected pad from its location; no hit uses that any more */
void gtp_pad_probe_part(struct gtp_pad_probe *p);

/* gtp_pad_probe_connect, _disconnect - hits of its pad belong to @p->loc; are ignored */
void gtp_pad_probe_connect(struct gtp_pad_probe *p);
void gtp_pad_probe_disconnect(struct gtp_pad_probe *p);

#define GTP_PAD_NO_MEMORY "there is no memory for it" /* a no_jump */

#endif /* _GTP_PAD_PROBE_H */
