/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides whether a hit that stops at memory that is not there can be repeated. */
#ifndef _GTP_UNDO_H
#define _GTP_UNDO_H

#include "hit/run.h"

/**
 * gtp_hit_undoable() - say whether a hit may be given up at any of its reads, and repeated
 * @run: the run to which the hit belongs
 * @tp: the tracepoint that is hit
 *
 * A hit in a program can wait for memory, but only before it begins. Most memory is there, so
 * reading all of it in advance would cost more than the hit. So an undoable hit begins at once,
 * with @undo of struct gtp_cpu set, and is made again after missing memory was brought.
 * Return: false if something that it has done before a read would be done twice.
 */
bool gtp_hit_undoable(const struct gtp_run *run, const struct gtp_tracepoint *tp);

/*
 * gtp_hit_undo - true if the hit has failed at memory that may be brought, so it must leave nothing
 * behind: the caller drops its frame and uncounts it
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
