/* SPDX-License-Identifier: GPL-2.0-only */
/* Each CPU's own for its hits: there from a run or the first dprintf on, until frames go. */
#ifndef _GTP_CPUS_H
#define _GTP_CPUS_H

#include "session/session.h"

/**
 * gtp_cpus_get() - give each CPU its buffer and counters, and prepare it for hits
 * @t: the session; it has none
 * @bytes: of buffers, as for ->buffers_get
 * @nslots: counters
 * @why: the refusal
 *
 * Context: may sleep, caller's lock. Return: 0 or -ENOMEM.
 */
int gtp_cpus_get(struct gtp_trace *t, u64 bytes, u32 nslots, struct gtp_why *why);

/* gtp_cpus_set_local - if every CPU has its own of this variable, each gets the initial value */
void gtp_cpus_set_local(struct gtp_trace *t, u32 num);

/*
 * gtp_cpus_sum_local - the value of one of those over all CPUs: the initial value, and what each
 * CPU has added to it. Hits may be setting it
 */
s64 gtp_cpus_sum_local(const struct gtp_trace *t, const struct gtp_tsv *tsv);

/* gtp_cpus_put - give back what there is; nothing is armed */
void gtp_cpus_put(struct gtp_trace *t);

/* gtp_cpus_nested - hits inside another hit: of the run, and those of dprintfs after its end */
u64 gtp_cpus_nested(const struct gtp_trace *t);

/* gtp_cpus_nested_in_run - of the run alone, while it goes on or after it */
u64 gtp_cpus_nested_in_run(const struct gtp_trace *t);

#endif /* _GTP_CPUS_H */
