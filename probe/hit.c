// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one hit does.
 *
 * Per tracepoint: enabled? condition? pass count used up? then count, read the clock, write the
 * frame. So a condition that is false costs itself and nothing else. Everything that is written
 * belongs to this CPU, but for three things that are shared on purpose: trace state variables, a
 * pass count, and the end of the run.
 */
#include "probe/hit.h"
#include "tracepoint/trace.h"

/* struct hit - one tracepoint's turn at a hit; the ctx of the expression's callbacks */
struct hit {
	struct gtp_trace *t;
	struct gtp_cpu *cpu;
	const struct gtp_location *loc;
	struct gtp_tracepoint *tp;
	u64 time; /* 0: not read yet */
	struct ax_env env;
};

/* --- the end of the run --- */

static void end_run(struct hit *h, enum gtp_stop why, u32 action, char kind)
{
	struct gtp_trace *t = h->t;

	if (!gtp_claim(&t->ending))
		return;
	t->ended_by = why;
	t->stop_tp = h->tp->num;
	t->stop_action = action;
	t->stop_kind = kind;
	t->stop_error = h->env.err;
	WRITE_ONCE(t->active, false);
	gtp_publish(&t->ending, GTP_ENDING_WRITTEN);
	t->hit_ops->stopping(t->ctx);
}

/* --- what expressions can do --- */

/* One reading serves the whole turn: $clock is the time of the frame that shows it. */
static u64 hit_time(struct hit *h)
{
	if (!h->time)
		h->time = h->t->hit_ops->clock(h->t->ctx);
	return h->time;
}

static int hit_read(void *ctx, void *dst, u64 addr, u32 len)
{
	struct hit *h = ctx;

	return h->t->hit_ops->read(h->t->ctx, dst, addr, len);
}

/* Run control has checked that every variable of every expression exists. */
static s64 hit_getv(void *ctx, u16 num)
{
	struct hit *h = ctx;

	switch (num) {
	case GTP_TSV_CPU_ID:
		return h->cpu->id;
	case GTP_TSV_CLOCK:
		return (s64)hit_time(h);
	case GTP_TSV_CURRENT_TASK:
	case GTP_TSV_CURRENT_TASK_PID:
		return h->t->hit_ops->builtin(h->t->ctx, num);
	default:
		return READ_ONCE(h->t->tsvs.slot[num]->value);
	}
}

static void hit_setv(void *ctx, u16 num, s64 value)
{
	struct hit *h = ctx;

	WRITE_ONCE(h->t->tsvs.slot[num]->value, value);
}

static int hit_trace(void *ctx, u64 addr, u64 len)
{
	struct hit *h = ctx;

	return gtp_buffer_add_mem(&h->cpu->buf, addr, len, h->t->hit_ops->read, h->t->ctx);
}

static int hit_trace_string(void *ctx, u64 addr, u64 max)
{
	struct hit *h = ctx;

	return gtp_buffer_add_string(&h->cpu->buf, addr, max, h->t->hit_ops->read, h->t->ctx);
}

static int hit_tracev(void *ctx, u16 num)
{
	struct hit *h = ctx;

	return gtp_buffer_add_var(&h->cpu->buf, num, hit_getv(h, num));
}

static void hit_print(void *ctx, const char *text, u32 len)
{
	struct hit *h = ctx;

	h->t->hit_ops->print(h->t->ctx, h->tp->num, text, len);
}

static const struct ax_ops expr_ops = {
	.read = hit_read,
	.getv = hit_getv,
	.setv = hit_setv,
	.trace = hit_trace,
	.trace_string = hit_trace_string,
	.tracev = hit_tracev,
	.print = hit_print,
};

/*
 * An expression that sets a variable is one step for all others that do: "$x = 5" between the get
 * and the set of "$x = $x + 1" would be lost too, so it is not only the ones that read as well.
 * Those that only read need nothing.
 */
static int evaluate(struct hit *h, const struct gtp_expr *e, u64 *result)
{
	const struct gtp_hit_ops *ops = h->t->hit_ops;
	unsigned long flags;
	int rc;

	if (likely(!(e->ax.flags & AX_F_SETS_TSV)))
		return ax_interp(&e->ax, &h->env, result);
	flags = ops->tsv_lock(h->t->ctx);
	rc = ax_interp(&e->ax, &h->env, result);
	ops->tsv_unlock(h->t->ctx, flags);
	return rc;
}

/* --- the frame --- */

static u64 base_value(const struct hit *h, s32 base)
{
	if (base < 0)
		return 0;
	return base == GTP_REG_RIP ? h->env.pc : gtp_regs_get(h->env.regs, (u32)base);
}

/* Puts what @rc means into the error that expressions use too. */
static int collect_mem(struct hit *h, const struct gtp_action *a)
{
	u64 addr = base_value(h, a->base) + a->offset;
	int rc = hit_trace(h, addr, a->len);

	if (rc == -EFAULT)
		h->env.err = (struct ax_error){ AX_E_BAD_ADDRESS, 0, 0, addr, a->len };
	else if (rc == -E2BIG)
		h->env.err = (struct ax_error){ AX_E_TOO_MUCH, 0, 0, a->len, 0 };
	return rc;
}

static int collect_regs(struct hit *h, const struct gtp_action *a)
{
	int rc;

	if (!a->mask)
		return 0;
	rc = gtp_buffer_add_regs(&h->cpu->buf, h->env.regs, h->env.pc, a->mask);
	if (rc == -E2BIG)
		h->env.err = (struct ax_error){ AX_E_TOO_MUCH, 0, 0, sizeof(struct gtp_regs), 0 };
	return rc;
}

/* A record that is not there is no error: the rest of the frame is worth having without it. */
static int collect_static(struct hit *h)
{
	int rc = h->t->hit_ops->sdata(h->t->ctx, h->loc, h->env.regs, &h->cpu->buf);

	if (rc == -E2BIG)
		h->env.err = (struct ax_error){ AX_E_TOO_MUCH, 0, 0, GTP_SDATA_RECORD_MAX, 0 };
	if (rc != -ENODATA)
		return rc;
	h->cpu->no_sdata++;
	return 0;
}

static int collect(struct hit *h, const struct gtp_action *a)
{
	switch (a->kind) {
	case GTP_ACTION_REGS:
		return collect_regs(h, a);
	case GTP_ACTION_MEM:
		return collect_mem(h, a);
	case GTP_ACTION_EXPR:
		return evaluate(h, a->expr, NULL);
	case GTP_ACTION_STATIC:
		return collect_static(h);
	}
	return 0;
}

/*
 * A frame that does not fit ends the run whatever the buffer's mode: a circular one drops old
 * frames first.
 */
static void full(struct hit *h)
{
	gtp_buffer_abort(&h->cpu->buf);
	end_run(h, GTP_STOP_FULL, 0, 0);
}

static u16 frame_flags(const struct gtp_tracepoint *tp, int rc)
{
	u16 flags = rc ? GTP_FRAME_PARTIAL : 0;

	return READ_ONCE(tp->several) ? flags | GTP_FRAME_SEVERAL_LOCATIONS : flags;
}

static void write_frame(struct hit *h, struct gtp_tp_stat *stat)
{
	struct gtp_buffer *buf = &h->cpu->buf;
	const struct gtp_action *a;
	u32 n = 0;
	int rc = 0;

	if (gtp_buffer_begin(buf, (u16)h->tp->num, h->env.pc, hit_time(h))) {
		end_run(h, GTP_STOP_FULL, 0, 0);
		return;
	}
	for (a = h->tp->actions; a; a = a->next) {
		n++;
		rc = collect(h, a);
		if (rc)
			break;
	}
	if (rc == -ENOSPC) {
		full(h);
		return;
	}
	stat->usage += gtp_buffer_mark(buf);
	gtp_buffer_commit(buf, frame_flags(h->tp, rc));
	if (rc)
		end_run(h, GTP_STOP_ERROR, n, gtp_action_letter(a->kind));
}

/* --- the turn --- */

static bool condition_holds(struct hit *h)
{
	u64 result;

	if (!h->tp->cond)
		return true;
	if (evaluate(h, h->tp->cond, &result)) {
		end_run(h, GTP_STOP_ERROR, 0, 'c');
		return false;
	}
	return result != 0;
}

static void take_turn(struct hit *h)
{
	struct gtp_tracepoint *tp = h->tp;
	struct gtp_tp_stat *stat;
	u64 nth = 0;

	if (!condition_holds(h))
		return;
	if (tp->pass) {
		nth = gtp_fetch_add(&tp->pass_hits, 1) + 1;
		/* Another CPU had the last one; it is stopping the run right now. */
		if (nth > tp->pass)
			return;
	}
	stat = &h->cpu->stat[tp->slot];
	stat->hits++;
	write_frame(h, stat);
	if (nth && nth == tp->pass)
		end_run(h, GTP_STOP_PASSCOUNT, 0, 0);
}

static void handle(const struct gtp_location *loc, struct gtp_cpu *cpu, const struct gtp_regs *regs)
{
	struct gtp_trace *t = loc->trace;
	struct gtp_tracepoint *tp;

	/*
	 * One that ends the run is the last one: the others at this address are not asked any more.
	 */
	for (tp = loc->first; tp && READ_ONCE(t->active); tp = gtp_acquire(&tp->next_here)) {
		struct hit h = {
			.t = t,
			.cpu = cpu,
			.loc = loc,
			.tp = tp,
			.env = {
				.ops = &expr_ops,
				.regs = regs,
				.pc = loc->addr,
				.stack = cpu->stack,
				.text = cpu->text,
			},
		};

		if (!READ_ONCE(tp->enabled))
			continue;
		h.env.ctx = &h;
		take_turn(&h);
	}
}

void gtp_hit(const struct gtp_location *loc, struct gtp_cpu *cpu, const struct gtp_regs *regs)
{
	/* Acquire: what the run is made of was written before this. */
	if (!gtp_acquire(&loc->trace->active))
		return;
	/*
	 * An interrupt between the test and the store finds 0, has its own hit from beginning to
	 * end, and leaves 0 behind: then this one goes on as if it had come later. So neither needs
	 * to be atomic.
	 */
	if (READ_ONCE(cpu->in_hit)) {
		gtp_inc_local(&cpu->nested);
		return;
	}
	WRITE_ONCE(cpu->in_hit, 1);
	barrier();
	handle(loc, cpu, regs);
	barrier();
	WRITE_ONCE(cpu->in_hit, 0);
}
