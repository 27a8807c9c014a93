// SPDX-License-Identifier: GPL-2.0-only
/* Simulates, on the fake machine, calls whose returns are reported. */
#include <assert.h>
#include "fake_target.h"

static const struct gtp_location *find(struct fake *f, u64 addr)
{
	const struct gtp_location *loc;
	const struct gtp_dprintf *dp;

	assert(f->cpu < f->ncpus);
	for (loc = f->trace.locs; loc; loc = loc->next)
		if (loc->addr == addr && loc->kind == GTP_LOCATION_RETURN && loc->probe)
			return loc;
	for (dp = f->trace.dprintfs.list; dp; dp = dp->next)
		if (dp->own && dp->addr == addr && dp->own->probe)
			return dp->own;
	return NULL;
}

bool fake_enter(struct fake *f, u64 addr, const struct gtp_regs *regs, struct gtp_pending *p)
{
	const struct gtp_location *loc = find(f, addr);

	memset(p, 0xee, sizeof(*p));
	return loc && gtp_returns_enter(loc->first, f->trace.run.cpus[f->cpu], regs, p, false, 0);
}

bool fake_leave(struct fake *f, u64 addr, const struct gtp_pending *p, u64 value)
{
	const struct gtp_location *loc = find(f, addr);

	if (loc)
		gtp_returns_leave(loc->first, f->trace.run.cpus[f->cpu], p, value);
	return loc;
}
