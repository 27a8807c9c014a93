// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocate each CPU's struct gtp_cpu for a run or the first dprintf, and free it when the frames
 * are dropped.
 */
#include "hit/hit.h"
#include "session/cpus.h"

void gtp_cpus_set_local(struct gtp_trace *t, u32 num)
{
	u32 i;

	if (t->run.tsvs.ways[num] != AX_TSV_LOCAL)
		return;
	for (i = 0; i < t->run.ncpus; i++)
		if (t->run.cpus[i])
			WRITE_ONCE(t->run.cpus[i]->local[num], (u64)t->run.tsvs.slot[num]->initial);
}

/* Return the total of a per-CPU variable: the initial value plus the difference on each CPU. */
s64 gtp_cpus_sum_local(const struct gtp_trace *t, const struct gtp_tsv *tsv)
{
	u64 sum = (u64)tsv->initial;
	u32 i;

	for (i = 0; i < t->run.ncpus; i++)
		if (t->run.cpus[i])
			sum += READ_ONCE(t->run.cpus[i]->local[tsv->num]) - (u64)tsv->initial;
	return (s64)sum;
}

int gtp_cpus_get(struct gtp_trace *t, u64 bytes, u32 nslots, struct gtp_why *why)
{
	struct gtp_run *run = &t->run;
	int rc = t->target->buffers_get(t->ctx, bytes, t->circular, nslots, &run->cpus, &run->ncpus,
					why);
	u32 i, num;

	if (rc)
		return rc;
	run->nslots = nslots;
	for (i = 0; i < run->ncpus; i++)
		if (run->cpus[i])
			gtp_hit_prepare(run->cpus[i], run);
	for (num = 0; num < GTP_TSV_MAX; num++)
		gtp_cpus_set_local(t, num);
	return 0;
}

void gtp_cpus_put(struct gtp_trace *t)
{
	if (t->run.cpus)
		t->target->buffers_put(t->ctx, t->run.cpus, t->run.ncpus);
	t->run.cpus = NULL;
	t->run.ncpus = 0;
	t->run.nslots = 0;
}

u64 gtp_cpus_nested(const struct gtp_trace *t)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < t->run.ncpus; i++)
		if (t->run.cpus[i])
			sum += READ_ONCE(t->run.cpus[i]->nested);
	return sum;
}

u64 gtp_cpus_nested_in_run(const struct gtp_trace *t)
{
	return gtp_trace_running(t) ? gtp_cpus_nested(t) : t->nested;
}
