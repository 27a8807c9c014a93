// SPDX-License-Identifier: GPL-2.0-only
/* Marks a hit that never ends because the kernel died in it. */
#include "hit/hit.h"

void gtp_hit_lost(struct gtp_cpu *cpu)
{
	struct gtp_run *run = cpu->run;

	WRITE_ONCE(cpu->in_hit, GTP_HIT_LOST);
	/* Without a run, the hit was that of a dprintf, and there is no run to end. */
	if (!run->tsvs.in_use || !gtp_claim(&run->ending))
		return;
	run->ended_by = GTP_STOP_OOPS;
	WRITE_ONCE(run->active, false);
	gtp_publish(&run->ending, GTP_ENDING_WRITTEN);
	run->hit_ops->stopping(run->ctx);
}
