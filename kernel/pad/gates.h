/* SPDX-License-Identifier: GPL-2.0-only */
/* Gates. Each gate calls the rest of a function, so that the function returns to the gate. */
#ifndef _GTP_GATES_H
#define _GTP_GATES_H

#define GTP_GATES 4096	   /* gates of each kind; see kernel/pad/follow.h for framed and bare */
#define GTP_GATE 16	   /* bytes of each gate */
#define GTP_GATE_BACK 5	   /* offset in a gate to which its call returns */
#define GTP_GATES_TAIL 128 /* bytes after the gates of a kind, at most */

#ifndef __ASSEMBLER__

#include "base/base.h"
#include "pad/pad.h"

/* Functions that begin with GTP_GATE bytes of their own, and continue after the gates. */
extern u8 gtp_gates_framed[], gtp_gates_bare[];

/* gtp_gates_nth - return gate @n of a kind; the code for returns is at the end of the last gate */
static inline u8 *gtp_gates_nth(u8 *gates, u32 n)
{
	OPTIMIZER_HIDE_VAR(gates); /* keep objtool from seeing addresses inside functions */
	return gates + GTP_GATE + n * GTP_GATE;
}

/* gtp_gates_end - return the end of the gates of both kinds, which begin at gtp_gates_framed */
static inline u64 gtp_gates_end(void)
{
	return (u64)gtp_gates_nth(gtp_gates_bare, GTP_GATES) + GTP_GATES_TAIL;
}

/* Context of all functions below: process, under gtp_lock; they may sleep. */

/*
 * gtp_gates_take - take a gate of each kind and store their addresses in @gates; return their
 * number, at least 1, or 0 if no gate is free. gtp_gates_give - give both back when nothing leads
 * there any more; calls that have not returned yet may still return to them. gtp_gates_wipe - write
 * int3 over the calls of all gates that were given back; if there is no memory for that, these
 * gates stay taken until the next wipe
 */
u32 gtp_gates_take(struct gtp_pad_gates *gates);
void gtp_gates_give(u32 number);
void gtp_gates_wipe(void);

/*
 * gtp_gates_lead - make both gates of a number call @rest; return 0 or -ENOMEM. Every CPU must see
 * the new code before anything leads to the gates
 */
int gtp_gates_lead(u32 number, u64 rest);

#endif /* __ASSEMBLER__ */

#endif /* _GTP_GATES_H */
