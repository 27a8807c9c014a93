/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follows calls to their return: a pad calls the rest of a function through a gate, so the function
 * returns to the gate.
 */
#ifndef _GTP_FOLLOW_H
#define _GTP_FOLLOW_H

#include "base/why.h"
#include "hit/returns.h"
#include "kernel/pad/follow_entry.h"

/*
 * The stack of a call that is followed, where S is the address of its return address:
 *
 *	framed	S		the return address into the caller
 *		S - 8		the caller's rbp; rbp points here
 *		S - 16		unused
 *		S - 216		struct gtp_follow_record, which ends with the registers
 *		S - 224		return address of the gate's call; the function goes on below
 *
 *	bare	S		the return address into the caller
 *		S - 8		return address of the gate's call; the function goes on below
 *
 * A framed call has the stack frame of an ordinary function. A bare call is on a stack without room
 * for that: the record is then in a pool, found by S. Control never depends on a record: a call
 * that returns to a gate finds its way on the stack, even if its record, location or run no longer
 * exists.
 */

/**
 * struct gtp_follow_record - the record of a call that is followed
 * @number: the number of the call's pad
 * @ticket: distinguishes the location from earlier ones with the same @number
 * @mark: in a record on a stack: derived from the record's address, until the call has returned
 * @p: the data that the tracepoints need at the return
 */
struct gtp_follow_record {
	u32 number;
	u32 ticket;
	u64 mark;
	struct gtp_pending p;
};

/*
 * gtp_follow_enter - handle the entry of a call, called by gtp_pad_followed; return GTP_FOLLOW_NOT,
 * GTP_FOLLOW_FRAMED or GTP_FOLLOW_BARE
 */
u32 gtp_follow_enter(struct gtp_follow_record *r, u32 word);

/*
 * gtp_follow_leave, _bare - handle the return of a call, called by the code after the gates; @sp:
 * S, see above; @flags: valid only with CONFIG_TRACE_IRQFLAGS, because nothing else reads them
 */
void gtp_follow_leave(struct gtp_follow_record *r, u64 value, u64 flags);
void gtp_follow_leave_bare(u64 sp, u64 value, u64 flags);

/*
 * gtp_follow_get - let one more pad follow calls, and keep this module loaded until all calls have
 * returned; return 0 or -errno. gtp_follow_put - undo one gtp_follow_get(). Process context,
 * gtp_lock
 */
int gtp_follow_get(void);
void gtp_follow_put(void);

/* gtp_follow_exit - free the pool of records at module exit; without gtp_lock */
void gtp_follow_exit(void);

/* gtp_follow_inside - return the number of calls of live tasks that were entered and not left */
long gtp_follow_inside(void);

#endif /* _GTP_FOLLOW_H */
