// SPDX-License-Identifier: GPL-2.0-only
/* What each CPU has for its hits: there from a run or the first dprintf on, until frames go. */
#include "hit/hit.h"
#include "session/cpus.h"

int gtp_cpus_get(struct gtp_trace *t, u64 bytes, u32 nslots, struct gtp_why *why)
{
	struct gtp_run *run = &t->run;
	int rc = t->target->buffers_get(t->ctx, bytes, t->circular, nslots, &run->cpus, &run->ncpus,
					why);
	u32 i;

	if (rc)
		return rc;
	run->nslots = nslots;
	for (i = 0; i < run->ncpus; i++)
		if (run->cpus[i])
			gtp_hit_prepare(run->cpus[i], run);
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
