// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the pads of a location: a single pad, or one for each of the location's tracepoints.
 *
 * A pad has one condition and one frame. If there are several tracepoints, each has a pad, and the
 * pads form a chain. A pad that handles its tracepoint by itself goes on to the next pad. A pad
 * that calls C leaves all remaining tracepoints to C, and then continues at the displaced
 * instructions. A pad that would always call C is the last of its chain.
 */
#include "kernel/base/mem_kernel.h"
#include "kernel/base/params_kernel.h"
#include "kernel/pad/frame_kernel.h"
#include "kernel/pad/gates.h"
#include "kernel/pad/make.h"
#include "kernel/pad/number.h"
#include "kernel/pad/place.h"
#include "pad/frame.h"

/**
 * struct wanted - a request for one pad
 * @p: the probe of the pad's location
 * @region: the displaced instructions; NULL if the pad is called
 * @tp: the tracepoint whose condition and frame the pad may have; NULL: the pad leaves everything
 *      to C
 * @number: the number that the pad pushes
 * @chain: the pad's place in a chain; NULL: it is the only pad
 * @copies: receives the offsets of the displaced instructions' copies; or NULL
 * @pad: receives the pad
 * @gate: receives the number of the pad's gates, if it follows calls
 */
struct wanted {
	struct gtp_pad_probe *p;
	const struct gtp_region *region;
	const struct gtp_tracepoint *tp;
	u32 number;
	struct gtp_pad_chain *chain;
	u32 *copies;
	struct gtp_jit_pad *pad;
	u32 *gate;
};

const struct ax_verified *gtp_pad_condition(const struct gtp_tracepoint *tp)
{
	if (!tp->cond || tp->cond_at_return || !READ_ONCE(gtp_jit) ||
	    !gtp_pad_can(&tp->cond->ax, gtp_jit_target(), tp->loc->run->tsvs.ways))
		return NULL;
	return &tp->cond->ax;
}

/* --- one pad --- */

static bool expr_reads_flags(const struct gtp_expr *e)
{
	return e->ax.regs_used >> GTP_REG_FLAGS & 1;
}

/*
 * True if a tracepoint reads the flags: only then must a pad preserve dead flags. A condition that
 * reads them cannot be in a pad, but the pad of another tracepoint may come before it.
 */
static bool reads_flags(const struct gtp_tracepoint *tp)
{
	const struct gtp_action *a;

	if (tp->cond && expr_reads_flags(tp->cond))
		return true;
	for (a = tp->actions; a; a = a->next) {
		if (a->kind == GTP_ACTION_REGS && a->mask >> GTP_REG_FLAGS & 1)
			return true;
		if (a->kind == GTP_ACTION_EXPR && expr_reads_flags(a->expr))
			return true;
	}
	return false;
}

/*
 * True if any tracepoint of the location reads the flags. Each pad of a chain sees the flags its
 * predecessor left: if one tracepoint reads them, all pads preserve them.
 */
static bool any_reads_flags(const struct gtp_location *loc)
{
	const struct gtp_tracepoint *tp;

	for (tp = loc->first; tp; tp = tp->next_here)
		if (reads_flags(tp))
			return true;
	return false;
}

/*
 * Return the assembly function through which the pad calls C. Each of the three functions leaves
 * the stack as its kind of pad needs it.
 */
static u64 pad_hit(const struct gtp_pad_probe *p)
{
	if (p->follows)
		return (u64)gtp_pad_followed;
	return p->called ? (u64)gtp_pad_called : (u64)gtp_pad_hit;
}

/*
 * Make a pad that follows calls. The pad needs the gates' addresses in its code, and the gates need
 * the address of the rest of the pad: take gates, make the pad, make the gates call it. Return 0;
 * or -errno, with nothing kept.
 */
static int make_with_gates(struct gtp_pad_request *req, struct gtp_jit_pad *pad, u32 *gate)
{
	struct gtp_pad_gates gates;
	int err;

	*gate = gtp_gates_take(&gates);
	if (!*gate)
		return -ENOSPC;
	req->gates = &gates;
	err = gtp_pad_place(req, pad);
	if (!err) {
		err = gtp_gates_lead(*gate, pad->addr + gates.rest);
		if (err) {
			gtp_jit_pad_free(pad);
			pad->len = 0;
		}
	}
	if (err) {
		gtp_gates_give(*gate);
		*gate = 0;
	}
	return err;
}

/*
 * Make a pad that checks the condition @cond (NULL: none). If @frame, the pad also writes the
 * tracepoint's frame. Return 0 or -errno.
 */
static int make(const struct wanted *w, const struct ax_verified *cond, bool frame)
{
	struct gtp_pad_probe *p = w->p;
	struct ax_jit_target target = *gtp_jit_target();
	struct gtp_pad_request req = {
		.region = w->region,
		.target = &target,
		.cond = cond,
		.ways = p->loc->run->tsvs.ways,
		.at = p->loc->addr,
		.skip = p->shadow.addr - p->loc->addr,
		.number = w->number,
		.keep_flags = any_reads_flags(p->loc),
		.copies = w->copies,
		.chain = w->chain,
	};

	target.pad_hit = pad_hit(p);
	if (frame)
		return gtp_pad_frame_make(&req, w->tp, &gtp_pad_number_tracepoints[w->number << 1],
					  w->pad);
	return p->follows ? make_with_gates(&req, w->pad, w->gate) : gtp_pad_place(&req, w->pad);
}

/*
 * Make the best pad that is possible: one with condition and frame, or one with only the condition,
 * or one with neither. A pad with neither leaves everything to C code, and is always possible. Set
 * by_itself if the pad may handle a hit without C, so that another tracepoint here needs another
 * pad.
 */
static int make_best(const struct wanted *w)
{
	const struct ax_verified *cond = w->tp ? gtp_pad_condition(w->tp) : NULL;
	int err = w->tp ? make(w, cond, true) : -EOPNOTSUPP;

	w->p->by_itself = true;
	if (!err)
		return 0;
	err = make(w, cond, false);
	w->p->loc->no_room |= err == -ENOSPC;
	if (err && cond) {
		cond = NULL;
		err = make(w, NULL, false);
	}
	w->p->by_itself = cond || w->chain;
	if (err)
		w->pad->len = 0;
	return err;
}

/* --- chains of pads --- */

bool gtp_pad_decides(const struct gtp_tracepoint *tp)
{
	return gtp_pad_condition(tp) || gtp_pad_frame_can(tp, false);
}

/* Return the number of pads in the chain; 1 means a single pad without a chain. */
static u32 count_pads(const struct gtp_location *loc)
{
	const struct gtp_tracepoint *tp;
	u32 n = 1;

	for (tp = loc->first; tp->next_here && gtp_pad_decides(tp); tp = tp->next_here)
		n++;
	return n;
}

/*
 * Take numbers for the tracepoints after the first. On error the caller calls
 * gtp_pad_stages_drop().
 */
static int add_stages(struct gtp_pad_probe *p, u32 n)
{
	struct gtp_tracepoint *tp = p->loc->first;

	p->stage = gtp_mem_alloc(n * sizeof(*p->stage));
	if (!p->stage)
		return -ENOMEM;
	for (u32 i = 0; i < n; i++) {
		struct gtp_pad_stage *s = &p->stage[i];

		tp = tp->next_here;
		s->tp = tp;
		s->number = gtp_pad_number_take_spare();
		if (s->number == GTP_PAD_NUMBERS)
			return -ENOSPC;
		p->nstages++;
	}
	return 0;
}

/*
 * Make the pads from the last to the first, because each contains the address of the next one. Only
 * the last has the displaced instructions: @rest receives the address of the last pad, and @copies
 * the offsets in it at which trapped tasks resume.
 */
static int make_stages(struct gtp_pad_probe *p, const struct gtp_region *region, u32 *copies,
		       u64 *rest)
{
	struct gtp_pad_chain chain = { 0 };

	for (u32 i = p->nstages + 1; i--;) {
		struct gtp_pad_stage *s = i ? &p->stage[i - 1] : NULL;
		struct wanted w = {
			.p = p,
			.region = region,
			.tp = s ? s->tp : p->loc->first,
			.number = s ? s->number : p->number,
			.chain = &chain,
			.copies = chain.next ? NULL : copies,
			.pad = s ? &s->pad : &p->pad,
		};
		int err = make_best(&w);

		if (err)
			return err;
		if (!chain.next) {
			*rest = w.pad->addr;
			chain.after = w.pad->addr + chain.rest;
		}
		chain.next = w.pad->addr;
	}
	return 0;
}

/*
 * Make a chain of pads. Return -EOPNOTSUPP if one pad is enough. After any error nothing is kept,
 * and the caller tries one pad for all.
 */
static int make_chain(struct gtp_pad_probe *p, const struct gtp_region *region, u32 *copies,
		      u64 *rest)
{
	u32 n = count_pads(p->loc);
	int err;

	if (n == 1 || p->follows)
		return -EOPNOTSUPP;
	err = add_stages(p, n - 1);
	if (!err)
		err = make_stages(p, region, copies, rest);
	if (err)
		gtp_pad_stages_drop(p);
	return err;
}

/* --- all pads of a location --- */

/*
 * Make the pads. @copies: for each displaced instruction the address at which a task trapped there
 * resumes.
 */
int gtp_pad_probe_make(struct gtp_pad_probe *p, const struct gtp_region *region, u64 *copies)
{
	u32 offsets[GTP_REGION_JUMP] = { 0 };
	struct wanted w = {
		.p = p,
		.region = region,
		.tp = p->loc->n == 1 ? p->loc->first : NULL,
		.number = p->number,
		.copies = offsets,
		.pad = &p->pad,
		.gate = &p->gate,
	};
	u64 rest;
	int err;

	p->loc->no_room = false;
	err = make_chain(p, region, offsets, &rest);
	if (err) {
		p->loc->no_room = err == -ENOSPC;
		err = make_best(&w);
		rest = p->pad.addr;
	}
	for (u32 i = 0; !err && region && i < region->n; i++)
		copies[i] = rest + offsets[i];
	return err;
}

const char *gtp_pad_probe_why_not(int err)
{
	switch (err) {
	case -ENOSPC:
		return "there is no room for more jump pads";
	case -ENOMEM:
		return GTP_PAD_NO_MEMORY;
	case -ERANGE:
		return "its pad is too far away";
	default:
		return "its instructions cannot be moved";
	}
}

/*
 * Make a pad that serves one more tracepoint. The new pad has the old pad's number, so hits of both
 * pads reach the same list of tracepoints. The old pad is kept, because tasks may be in it, and is
 * freed with the location.
 */
int gtp_pad_probe_widen(struct gtp_pad_probe *p, const struct gtp_region *region,
			int (*lead)(struct gtp_pad_probe *p, u64 pad))
{
	struct gtp_jit_pad pad = { 0 };
	u32 gate = 0;
	struct wanted w = {
		.p = p,
		.region = region,
		.number = p->number,
		.pad = &pad,
		.gate = &gate,
	};
	int err = gtp_jit_open();

	if (err)
		return err;
	err = make(&w, NULL, false);
	gtp_jit_close();
	if (!err)
		err = lead(p, pad.addr);
	if (!err) {
		p->by_itself = false;
		p->old_pad = p->pad;
		p->old_gate = p->gate;
		p->pad = pad;
		p->gate = gate;
		return 0;
	}
	if (pad.len)
		gtp_jit_pad_free(&pad);
	gtp_gates_give(gate);
	return err;
}
