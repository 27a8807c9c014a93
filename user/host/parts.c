// SPDX-License-Identifier: GPL-2.0-only
/* Allocates the parts of a run, and calibrates their clock. */
#include <time.h>

#include "base/cpu.h"
#include "user/host/parts.h"

/* --- parts --- */

static void free_part(struct gtp_space *s, struct gtp_agent_part *part)
{
	if (!part)
		return;
	gtp_space_free(s, part->cpu.buf.mem);
	gtp_space_free(s, part->cpu.stat);
	gtp_space_free(s, part);
}

static struct gtp_agent_part *make_part(struct gtp_space *s, struct gtp_agent_shared *shared,
					const struct gtp_agent_parts *p, u32 i)
{
	struct gtp_agent_part *part = gtp_space_alloc(s, sizeof(*part), true);
	void *mem;

	if (!part)
		return NULL;
	part->cpu.id = i;
	part->cpu.env.tsc = &shared->clock;
	if (p->stacks)
		part->stack_top = p->stacks + (i + 1ULL) * GTP_AGENT_STACK;
	part->cpu.stat = gtp_space_alloc(s, gtp_hit_stat_bytes(p->nslots), true);
	mem = gtp_space_alloc(s, p->each, false);
	if (!part->cpu.stat || !mem || gtp_space_take_pages(s, mem, p->each)) {
		gtp_space_free(s, mem);
		free_part(s, part);
		return NULL;
	}
	gtp_buffer_init(&part->cpu.buf, mem, p->each, p->circular);
	return part;
}

struct gtp_cpu **gtp_agent_parts_get(struct gtp_space *s, struct gtp_agent_shared *shared,
				     const struct gtp_agent_parts *p)
{
	struct gtp_cpu **cpus = gtp_space_alloc(s, p->n * sizeof(*cpus), true);

	shared->part = gtp_space_alloc(s, p->n * sizeof(*shared->part), true);
	shared->nparts = p->n;
	shared->claimed = 0;
	for (u32 i = 0; cpus && shared->part && i < p->n; i++) {
		shared->part[i] = make_part(s, shared, p, i);
		if (shared->part[i])
			cpus[i] = &shared->part[i]->cpu;
	}
	if (cpus && shared->part && cpus[p->n - 1])
		return cpus;
	gtp_agent_parts_put(s, shared, cpus, p->n);
	return NULL;
}

void gtp_agent_parts_put(struct gtp_space *s, struct gtp_agent_shared *shared,
			 struct gtp_cpu **cpus, u32 n)
{
	for (u32 i = 0; shared->part && i < n; i++)
		free_part(s, shared->part[i]);
	gtp_space_free(s, shared->part);
	gtp_space_free(s, cpus);
	shared->part = NULL;
	shared->nparts = 0;
	shared->claimed = 0;
}

bool gtp_agent_parts_used(const struct gtp_agent_shared *shared)
{
	for (u32 i = 0; i < shared->nparts; i++)
		if (READ_ONCE(shared->part[i]->on_stack) || READ_ONCE(shared->part[i]->cpu.in_hit))
			return true;
	return false;
}

/* --- the clock --- */

enum { READINGS = 9, WAIT_NS = 20000000 };

struct reading {
	u64 tsc, ns;
};

static u64 clock_now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

/* Read counter and clock at the same moment: of some tries, the one that takes the least time. */
static struct reading read_both(void)
{
	struct reading best = { 0 };
	u64 least = U64_MAX;

	for (u32 i = 0; i < READINGS; i++) {
		u64 before = gtp_read_tsc();
		u64 ns = clock_now(CLOCK_MONOTONIC);
		u64 took = gtp_read_tsc() - before;

		if (took >= least)
			continue;
		least = took;
		best = (struct reading){ before + took / 2, ns };
	}
	return best;
}

void gtp_agent_calibrate(struct gtp_agent_shared *shared)
{
	struct timespec wait = { .tv_nsec = WAIT_NS };
	struct reading from = read_both(), to;

	nanosleep(&wait, NULL);
	to = read_both();
	shared->clock = (struct gtp_calibration){
		.tsc = to.tsc,
		.ns = to.ns,
		.rate = (to.ns - from.ns) * (1ULL << 32) / (to.tsc - from.tsc),
	};
	shared->wall = clock_now(CLOCK_REALTIME) - clock_now(CLOCK_MONOTONIC);
}
