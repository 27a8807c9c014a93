// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hit in a process: finds the part of the thread, and handles the hit as in the kernel.
 *
 * Nothing here takes a lock. A signal may come at any instruction, and its handler may hit a pad,
 * also in the middle of gtp_agent_claim(): then the handler claims a part of its own. Of the two
 * parts, the thread keeps the one whose entry comes first in the table.
 */
#include "hit/hit.h"
#include "pad/pad.h"
#include "user/agent/inside.h"

enum { SEARCH_MAX = 64 }; /* entries of the table to look at */

/*
 * A thread finds its key before any free entry, because entries are never freed while the process
 * runs. Only the thread itself looks for its key.
 */
static struct gtp_agent_slot *search(struct gtp_agent *agent, u64 key)
{
	u32 at = gtp_agent_index(key);

	for (u32 i = 0; i < SEARCH_MAX; i++) {
		struct gtp_agent_slot *slot = &agent->slot[(at + i) % GTP_PAD_PARTS];

		if (READ_ONCE(slot->key) == key || !READ_ONCE(slot->cpu))
			return slot;
	}
	return NULL;
}

static struct gtp_agent_part *take_part(struct gtp_agent_shared *shared)
{
	u32 n;

	do {
		n = READ_ONCE(shared->claimed);
		if (n == shared->nparts)
			return NULL;
	} while (gtp_replace(&shared->claimed, n, n + 1) != n);
	return shared->part[n];
}

/*
 * Give a part to this thread. Prepare it again, because the host's pointers to functions are not
 * valid here. Another thread may take the entry of the table first. So may a signal handler of this
 * thread: then the entry has this thread's key.
 */
static struct gtp_cpu *claim(struct gtp_agent *agent, struct gtp_agent_slot *slot, u64 key)
{
	struct gtp_agent_part *part = take_part(gtp_agent_data);

	if (!part)
		return NULL;
	gtp_hit_prepare(&part->cpu, part->cpu.run);
	part->key = key;
	while (slot && gtp_replace(&slot->cpu, NULL, &part->cpu)) {
		slot = search(agent, key);
		if (slot && READ_ONCE(slot->key) == key)
			return slot->cpu;
	}
	if (!slot)
		return NULL;
	gtp_publish(&slot->key, key);
	return &part->cpu;
}

static noinline void lose(struct gtp_agent_shared *shared, u32 word)
{
	struct gtp_tracepoint *tp = gtp_acquire(&shared->first[word / 2]);

	gtp_fetch_add(&shared->no_part, 1);
	if (tp)
		gtp_fetch_add(&tp->loc->missed, 1);
}

struct gtp_cpu *gtp_agent_claim(u32 word)
{
	struct gtp_agent *agent = gtp_agent_where;
	u64 key = gtp_agent_key();
	struct gtp_agent_slot *slot;
	struct gtp_cpu *cpu;

	if (!READ_ONCE(agent->on))
		return NULL;
	slot = search(agent, key);
	if (slot && slot->key == key)
		return slot->cpu;
	cpu = slot ? claim(agent, slot, key) : NULL;
	if (!cpu)
		lose(gtp_agent_data, word);
	return cpu;
}

void gtp_agent_hit(const struct gtp_regs *regs, u32 word, struct gtp_cpu *cpu)
{
	struct gtp_tracepoint *tp = gtp_acquire(&gtp_agent_data->first[word / 2]);

	static_assert(GTP_PAD_HELD == 1, "the word without its lowest bit is the number, doubled");
	if (likely(tp))
		gtp_hit_inline(tp, cpu, regs, word & GTP_PAD_HELD, 0);
}

u64 gtp_agent_no_actions(const struct gtp_regs *regs, struct ax_env *env)
{
	return sizeof(struct gtp_frame);
}
