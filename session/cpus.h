/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocate each CPU's struct gtp_cpu for a run or the first dprintf, and free it when the frames
 * are dropped.
 */
#ifndef _GTP_CPUS_H
#define _GTP_CPUS_H

#include "session/session.h"

/**
 * gtp_cpus_get() - give each CPU its buffer and counters, and prepare it for hits
 * @t: the session, whose CPUs have no struct gtp_cpu yet
 * @bytes: size of the buffers, as for ->buffers_get
 * @nslots: number of each CPU's counters
 * @why: the refusal
 *
 * Context: may sleep, under the caller's lock. Return: 0 or -ENOMEM.
 */
int gtp_cpus_get(struct gtp_trace *t, u64 bytes, u32 nslots, struct gtp_why *why);

/* gtp_cpus_set_local - if a variable is per-CPU, set it to its initial value on each CPU */
void gtp_cpus_set_local(struct gtp_trace *t, u32 num);

/*
 * gtp_cpus_sum_local - return the total of a per-CPU variable: the initial value plus the
 * difference on each CPU. Hits may be setting the variable meanwhile
 */
s64 gtp_cpus_sum_local(const struct gtp_trace *t, const struct gtp_tsv *tsv);

/* gtp_cpus_put - free each CPU's struct gtp_cpu, if allocated; nothing may be armed */
void gtp_cpus_put(struct gtp_trace *t);

/* gtp_cpus_nested - return the number of nested hits in the run, and of dprintfs after its end */
u64 gtp_cpus_nested(const struct gtp_trace *t);

/* gtp_cpus_nested_in_run - return the number of nested hits in the run, without later dprintfs */
u64 gtp_cpus_nested_in_run(const struct gtp_trace *t);

#endif /* _GTP_CPUS_H */
