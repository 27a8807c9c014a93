/* SPDX-License-Identifier: GPL-2.0-only */
/* Gates: from where the rest of a function is called, to be there when it returns. */
#ifndef _GTP_GATES_H
#define _GTP_GATES_H

#define GTP_GATES 4096	   /* of each kind; see kernel/pad/follow.h for framed and bare */
#define GTP_GATE 16	   /* bytes of one */
#define GTP_GATE_BACK 5	   /* where its call returns to */
#define GTP_GATES_TAIL 128 /* at most so many bytes are behind the gates of a kind */

#ifndef __ASSEMBLER__

#include "base/base.h"
#include "pad/pad.h"

/* Functions that begin with GTP_GATE bytes of their own, and go on behind the gates. */
extern u8 gtp_gates_framed[], gtp_gates_bare[];

/* gtp_gates_nth - a gate of one of them; behind the last is where returns go on */
static inline u8 *gtp_gates_nth(u8 *gates, u32 n)
{
	OPTIMIZER_HIDE_VAR(gates); /* for objtool, which looks for addresses inside functions */
	return gates + GTP_GATE + n * GTP_GATE;
}

/* gtp_gates_end - from gtp_gates_framed to here is all of both */
static inline u64 gtp_gates_end(void)
{
	return (u64)gtp_gates_nth(gtp_gates_bare, GTP_GATES) + GTP_GATES_TAIL;
}

/* All of the following: process context, under gtp_lock; may sleep. */

/*
 * gtp_gates_take - a gate of each kind, @gates has their addresses; their number, from 1 on; 0:
 * there is no other. gtp_gates_give - back; nothing leads there any more. Tasks may be on their
 * way back to it: that goes on to work. gtp_gates_wipe - write int3 over the calls of all that were
 * given back; without memory for that they stay taken, until the next time
 */
u32 gtp_gates_take(struct gtp_pad_gates *gates);
void gtp_gates_give(u32 number);
void gtp_gates_wipe(void);

/*
 * gtp_gates_lead - have both of a number call @rest; 0 or -ENOMEM. Every CPU has to see new code
 * before anything leads to the gates
 */
int gtp_gates_lead(u32 number, u64 rest);

#endif /* __ASSEMBLER__ */

#endif /* _GTP_GATES_H */
