/* SPDX-License-Identifier: GPL-2.0-only */
/* A pad at a function's entry calls the rest of the function, to be there when it returns. */
#ifndef _GTP_FOLLOW_H
#define _GTP_FOLLOW_H

#include "base/why.h"
#include "hit/returns.h"
#include "kernel/pad/follow_entry.h"

/*
 * The stack of a call that is followed, S being where its return address lies:
 *
 *	framed	S		the return address, the caller's
 *		S - 8		the caller's rbp; rbp points here
 *		S - 16		unused
 *		S - 216		struct gtp_follow_record, which ends with the registers
 *		S - 224		return address of the gate's call; the function goes on below
 *
 *	bare	S		the return address, the caller's
 *		S - 8		return address of the gate's call; the function goes on below
 *
 * Framed is a function's frame as any other. Bare is for stacks that have no room for that: the
 * record is in a pool then, by S. Control never depends on a record: what returns to a gate finds
 * its way on the stack, whether or not there is a record, a location or a run for it.
 */

/**
 * struct gtp_follow_record - what is kept of a call
 * @number: of its pad
 * @ticket: of its location among all that have had @number
 * @mark: of one that is on a stack: says where it is, until the call has returned
 * @p: what the tracepoints need
 */
struct gtp_follow_record {
	u32 number;
	u32 ticket;
	u64 mark;
	struct gtp_pending p;
};

/* gtp_follow_enter - at the entry, called by gtp_pad_followed. Return: GTP_FOLLOW_NOT, ... */
u32 gtp_follow_enter(struct gtp_follow_record *r, u32 word);

/*
 * gtp_follow_leave, _bare - at the return, called from behind the gates; @sp: S; @flags: are there
 * only with CONFIG_TRACE_IRQFLAGS, as nothing else looks at them
 */
void gtp_follow_leave(struct gtp_follow_record *r, u64 value, u64 flags);
void gtp_follow_leave_bare(u64 sp, u64 value, u64 flags);

/*
 * gtp_follow_get - pads may follow calls from here on: this module stays until all are back; 0 or
 * -errno. gtp_follow_put - one pad less that can. Process context, gtp_lock
 */
int gtp_follow_get(void);
void gtp_follow_put(void);

/* gtp_follow_exit - this module goes; without gtp_lock */
void gtp_follow_exit(void);

/* gtp_follow_inside - calls that have been entered and not left, of tasks that live */
long gtp_follow_inside(void);

#endif /* _GTP_FOLLOW_H */
