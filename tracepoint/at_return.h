/* SPDX-License-Identifier: GPL-2.0-only */
/* Find out from a tracepoint's expressions whether it is reported when its function returns. */
#ifndef _GTP_AT_RETURN_H
#define _GTP_AT_RETURN_H

#include "tracepoint/tracepoint.h"

/*
 * GDB has no command to trace a function's return. So a tracepoint at a function's first
 * instruction is reported at the return if its condition or an action names $ret ($kret), $latency
 * or $entry_clock. GDB compiles the expressions for the first instruction. At the return they see
 * the registers of the entry, and memory as it is then.
 *
 * A condition that names none of $ret, $kret and $latency is evaluated at the entry.
 */

/* gtp_expr_reads - true if an expression reads memory, collects, prints, or sets a variable */
bool gtp_expr_reads(const struct gtp_expr *e);

enum gtp_at_return {
	GTP_AT_RETURN_NOT,   /* uses no value of the call */
	GTP_AT_RETURN_ENTRY, /* uses values known at the entry */
	GTP_AT_RETURN_LATE,  /* uses values known only at the return */
};

/*
 * gtp_at_return_settle - set @tp->at_return and the three members after it, @tp->reads and
 * @tp->cond_reads from its expressions
 */
void gtp_at_return_settle(struct gtp_tracepoint *tp);

#endif /* _GTP_AT_RETURN_H */
