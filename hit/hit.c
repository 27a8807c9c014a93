// SPDX-License-Identifier: GPL-2.0-only
/* A hit of a location, for mechanisms that need not have it inline. */
#include "hit/hit.h"
#include "hit/hit_inline.h"

void gtp_hit(const struct gtp_location *loc, struct gtp_cpu *cpu, const struct gtp_regs *regs)
{
	gtp_hit_inline(loc, cpu, regs, false);
}
