/* SPDX-License-Identifier: GPL-2.0-only */
/* A hit of a location, for mechanisms that need not have it inline. */
#ifndef _GTP_HIT_H
#define _GTP_HIT_H

#include "hit/run.h"

/**
 * gtp_hit() - handle a hit of a location
 * @loc: the location
 * @cpu: this CPU's own, prepared; the caller stays on this CPU
 * @regs: as they were at the instruction, but for rip (see @loc->addr)
 *
 * For each enabled tracepoint of the location: condition, counters, pass count, actions, frame. An
 * expression that fails, a full buffer, or a pass count that is reached ends the run (once) and
 * calls ->stopping.
 *
 * Context: any, NMI included; preemption off. A hit inside a hit is counted and skipped.
 */
void gtp_hit(const struct gtp_location *loc, struct gtp_cpu *cpu, const struct gtp_regs *regs);

#endif /* _GTP_HIT_H */
