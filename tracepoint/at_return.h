/* SPDX-License-Identifier: GPL-2.0-only */
/* Which tracepoints are reported when their function returns: their expressions say so. */
#ifndef _GTP_AT_RETURN_H
#define _GTP_AT_RETURN_H

#include "tracepoint/tracepoint.h"

/*
 * GDB has no command for a function's return. So what makes a tracepoint at a function's first
 * instruction one of its return is that its condition or an action names $ret ($kret), $latency or
 * $entry_clock. Its expressions are compiled by GDB for the first instruction: they see the
 * registers as they were there, and the memory as it is at the return.
 *
 * A condition that names none of $ret, $kret and $latency is known at the entry, and decided there.
 */

enum gtp_at_return {
	GTP_AT_RETURN_NOT,   /* nothing of the call is asked for */
	GTP_AT_RETURN_ENTRY, /* what is known at its entry already */
	GTP_AT_RETURN_LATE,  /* what is known only when it returns */
};

/* gtp_at_return_settle - @tp->at_return and its kin, of a condition and actions so far */
void gtp_at_return_settle(struct gtp_tracepoint *tp);

#endif /* _GTP_AT_RETURN_H */
