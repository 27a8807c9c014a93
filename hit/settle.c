// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides which checks hits of a tracepoint can skip. Called whenever the tracepoint's definition
 * or machine code changes.
 */
#include "hit/hit.h"
#include "hit/undo.h"

static u64 nothing(const struct gtp_regs *regs, struct ax_env *env)
{
	return sizeof(struct gtp_frame);
}

static bool uses_tsc(const struct gtp_run *run)
{
	for (u32 i = 0; i < run->ncpus; i++)
		if (run->cpus[i])
			return run->cpus[i]->env.tsc;
	return false;
}

/*
 * Return the code with which gtp_hit_early() evaluates the condition before anything else, or NULL.
 * The tracepoint must be the only one of its location, because with several a hit has to look at
 * all of them.
 */
static void *early(const struct gtp_tracepoint *tp)
{
	return tp->cond && tp->cond->early && !tp->next_here ? tp->cond->compiled : NULL;
}

/*
 * True if exactly one action records a string. A frame that a pad writes may have one string; a
 * snippet that C calls cannot record strings.
 */
static bool has_one_string(const struct gtp_tracepoint *tp)
{
	u32 n = 0;

	for (const struct gtp_action *a = tp->actions; a; a = a->next)
		n += a->expr && a->expr->ax.flags & AX_F_STRING;
	return n == 1;
}

void gtp_hit_settle(const struct gtp_run *run, struct gtp_tracepoint *tp)
{
	void *none = run->no_actions ? run->no_actions : (void *)nothing;
	void *code = tp->actions ? tp->code : none, *update = NULL;
	void *in_pad = !code && has_one_string(tp) ? tp->actions : code;
	bool alone = !tp->next_here && !tp->switched && !tp->pass;
	bool plain_time = uses_tsc(run) && !tp->switched;
	struct gtp_frame f = {
		.size = (u32)sizeof(f) + (tp->actions ? tp->frame_bytes : 0),
		.tp = (u16)tp->num,
		.flags = gtp_hit_frame_flags(tp, 0),
	};
	u64 start;

	static_assert(offsetof(struct gtp_frame, time) == sizeof(start), "begins with 8 bytes");
	memcpy(&start, &f, sizeof(start));
	/*
	 * Each hit of a watchpoint or a sample has its own pc, but a quick hit records the
	 * tracepoint's address.
	 */
	if (gtp_moving_is(tp->addr)) {
		code = NULL;
		in_pad = NULL;
	}
	/* If hits can switch the tracepoint on, keep the code: each hit checks ->on. */
	if ((!tp->on && !tp->switched) || tp->sdata || tp->dprintf)
		code = NULL;
	if (!tp->on || tp->sdata || tp->dprintf || tp->only_updates)
		in_pad = NULL;
	if (tp->only_updates) {
		update = code;
		code = NULL;
		start = 0; /* without a frame, quick hits add 0 bytes to the usage */
	}
	WRITE_ONCE(tp->plan.undoable, alone && gtp_hit_undoable(run, tp));
	gtp_publish(&tp->plan.early, early(tp));
	gtp_publish(&tp->plan.update_alone, alone ? update : NULL);
	WRITE_ONCE(tp->plan.start, start);
	gtp_publish(&tp->plan.quick, code);
	gtp_publish(&tp->plan.in_pad, plain_time ? in_pad : NULL);
	gtp_publish(&tp->plan.quickest, plain_time && alone ? code : NULL);
}
