/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides whether a hit that reads memory that is not paged in can be undone and repeated. */
#ifndef _GTP_UNDO_H
#define _GTP_UNDO_H

#include "hit/run.h"

/**
 * gtp_hit_undoable() - find out whether a hit can be abandoned at any of its reads and repeated
 * later
 * @run: the run to which the hit belongs
 * @tp: the tracepoint that is hit
 *
 * A hit in a program can wait until memory is paged in, but only before the hit begins. Most memory
 * is paged in already, so reading all of it in advance would cost more than the hit. So an undoable
 * hit begins at once, with @undo of struct gtp_cpu set to GTP_UNDO_ASKED. If memory is missing,
 * gtp_fetch() pages it in, and the hit is repeated.
 * Return: false if the repetition would do something twice that the hit does before a read.
 */
bool gtp_hit_undoable(const struct gtp_run *run, const struct gtp_tracepoint *tp);

/*
 * gtp_hit_undo - true if the hit has failed at memory that can be paged in; then the caller drops
 * the hit's frame and subtracts the hit from its counter
 */
static inline bool gtp_hit_undo(struct gtp_cpu *cpu)
{
	if (likely(cpu->undo == GTP_UNDO_NEVER) || cpu->env.err.code != AX_E_BAD_ADDRESS)
		return false;
	cpu->undo = GTP_UNDO_DONE;
	return true;
}

/* gtp_hit_undone - true if gtp_hit_undo() was true in this hit */
static inline bool gtp_hit_undone(const struct gtp_cpu *cpu)
{
	return unlikely(cpu->undo == GTP_UNDO_DONE);
}

#endif /* _GTP_UNDO_H */
