// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handles one hit of a location. A dprintf is handled like a tracepoint, but writes a line of text
 * instead of a frame.
 *
 * For each tracepoint, a hit checks the enable flag, the condition and the pass count. If they all
 * allow it, the hit increments the counter, reads the clock and writes the frame. A false condition
 * costs only its evaluation: the code for a true condition is out of line, so no registers are
 * saved for it in advance. A hit writes only memory of its own CPU, except for nine shared things:
 * trace state variables, a pass count, tables of pairs and of tasks, new stacks, the unwinder's
 * steps and rules, the value that a watchpoint has seen last, and the end of the run.
 *
 * Most hits are quick: all actions are machine code, and the buffer has room for the frame. A quick
 * hit writes the same frame with a third of the instructions. The ctx of callbacks is the gtp_cpu.
 */
#include "hit/hit.h"
#include "hit/undo.h"
#include "hit/variable.h"
#include "jit/jit.h"

enum { STRING_ROOM = 512 }; /* bytes; nearly all frames of pads that have a string are smaller */

/* --- the end of the run --- */

static noinline void end_run(struct gtp_cpu *cpu, enum gtp_stop why)
{
	struct gtp_run *run = cpu->run;

	if (!gtp_claim(&run->ending))
		return;
	run->ended_by = why;
	run->stop_tp = cpu->tp->num;
	WRITE_ONCE(run->active, false);
	gtp_publish(&run->ending, GTP_ENDING_WRITTEN);
	run->hit_ops->stopping(run->ctx);
}

/*
 * fail - record that an action (counted from 1), or the condition (0), could not be evaluated
 * Run control reads the failure only after all hits have ended, so it is complete then. Return:
 * false if the run or the hit ends.
 */
static noinline bool fail(struct gtp_cpu *cpu, u32 action, char kind)
{
	struct gtp_run *run = cpu->run;

	if (gtp_hit_undo(cpu))
		return false;
	if (gtp_claim(&run->failing)) {
		run->failure = (struct gtp_failure){ cpu->tp->num, action, kind, cpu->env.err };
		gtp_publish(&run->failing, GTP_ENDING_WRITTEN);
	}
	if (!run->pass_errors) {
		end_run(cpu, GTP_STOP_ERROR);
		return false;
	}
	cpu->stat[cpu->tp->slot].failed++;
	return true;
}

/* --- callbacks of expressions --- */

static int hit_read(void *ctx, void *dst, u64 addr, u32 len)
{
	struct gtp_cpu *cpu = ctx;

	return cpu->run->hit_ops->read(cpu->run->ctx, dst, addr, len);
}

static int hit_trace(void *ctx, u64 addr, u64 len)
{
	struct gtp_cpu *cpu = ctx;

	return gtp_buffer_add_mem(&cpu->buf, addr, len, cpu->run->hit_ops->read, cpu->run->ctx);
}

static int hit_trace_string(void *ctx, u64 addr, u64 max)
{
	struct gtp_cpu *cpu = ctx;
	struct gtp_run *run = cpu->run;

	return gtp_buffer_add_string(&cpu->buf, addr, max, run->hit_ops->read, run->ctx);
}

static int hit_tracev(void *ctx, u16 num)
{
	struct gtp_cpu *cpu = ctx;

	if (num == GTP_TSV_BT) {
		/* The bytecode has no error for an oversized variable; -ENOSPC is the closest. */
		return gtp_hit_add_stack(cpu) ? -ENOSPC : 0;
	}
	return gtp_buffer_add_var(&cpu->buf, num, gtp_hit_getv(cpu, num));
}

static void put_line(struct gtp_cpu *cpu, bool failed, const void *text, u32 len)
{
	const struct gtp_run *run = cpu->run;
	struct gtp_line line = {
		.len = len,
		.time = gtp_hit_time_ns(cpu),
		.addr = cpu->tp->addr,
		.cpu = cpu->id,
		.pid = (s32)run->hit_ops->builtin(run->ctx, GTP_TSV_CURRENT_TASK_PID, 0),
		.failed = failed,
	};

	if (!run->hit_ops->line(run->ctx, &line, text))
		cpu->tp->dprintf[cpu->id].dropped++;
}

static void hit_print(void *ctx, const char *text, u32 len)
{
	struct gtp_cpu *cpu = ctx;

	if (cpu->tp->dprintf) {
		put_line(cpu, false, text, len);
		return;
	}
	cpu->run->hit_ops->print(cpu->run->ctx, cpu->tp->num, text, len);
}

static const struct ax_ops expr_ops = {
	.read = hit_read,
	.getv = gtp_hit_getv,
	.setv = gtp_hit_setv,
	.pair = gtp_hit_pair,
	.addv = gtp_hit_addv,
	.trace = hit_trace,
	.trace_string = hit_trace_string,
	.tracev = hit_tracev,
	.print = hit_print,
};

void gtp_hit_prepare(struct gtp_cpu *cpu, struct gtp_run *run)
{
	cpu->run = run;
	cpu->quick = (u64 *)(cpu->stat + run->nslots);
	cpu->env = (struct ax_env){
		.ops = &expr_ops,
		.ctx = cpu,
		.stack = cpu->stack,
		.text = cpu->text,
		.local = cpu->local,
		.tsc = cpu->env.tsc,
	};
}

static int run_expr(struct gtp_cpu *cpu, const struct gtp_expr *e, u64 *result)
{
	if (e->compiled)
		return ax_jit_run((ax_jit_fn)e->compiled, &cpu->env, result);
	return ax_interp(&e->ax, &cpu->env, result);
}

/* Not inline, because expressions that set no variable should save no registers for this. */
static noinline int evaluate_locked(struct gtp_cpu *cpu, const struct gtp_expr *e, u64 *result)
{
	const struct gtp_hit_ops *ops = cpu->run->hit_ops;
	unsigned long flags;
	int rc;

	if (unlikely(!ops->tsv_lock(cpu->run->ctx, &flags)))
		return -EBUSY;
	rc = run_expr(cpu, e, result);
	ops->tsv_unlock(cpu->run->ctx, flags);
	return rc;
}

/*
 * Expressions that set a variable are atomic with respect to each other. An expression that only
 * sets takes the lock too, because "$x = 5" between the get and the set of "$x = $x + 1" would be
 * lost. An expression that only gets needs no lock. An expression that only adds needs none if the
 * run's other expressions that set the variable also only add (AX_F_ADDS). Return: the status of
 * the evaluation; -EBUSY if the lock was not free: the caller counts the hit as missed.
 */
static int evaluate(struct gtp_cpu *cpu, const struct gtp_expr *e, u64 *result)
{
	if (unlikely(e->ax.flags & AX_F_LOCKED))
		return evaluate_locked(cpu, e, result);
	return run_expr(cpu, e, result);
}

/* --- the frame --- */

static u64 base_value(const struct gtp_cpu *cpu, s32 base)
{
	if (base < 0)
		return 0;
	return base == GTP_REG_PC ? cpu->env.pc : gtp_regs_get(cpu->env.regs, (u32)base);
}

/* Collect the memory of an M action. Return 0 or an error, with the reason in env->err. */
static int collect_mem(struct gtp_cpu *cpu, const struct gtp_action *a)
{
	u64 addr = base_value(cpu, a->base) + a->offset;
	int rc = hit_trace(cpu, addr, a->len);

	if (rc == -EFAULT)
		cpu->env.err = (struct ax_error){ AX_E_BAD_ADDRESS, 0, 0, addr, a->len };
	else if (rc == -E2BIG)
		cpu->env.err = (struct ax_error){ AX_E_TOO_MUCH, 0, 0, a->len, 0 };
	return rc;
}

static int collect_regs(struct gtp_cpu *cpu, const struct gtp_action *a)
{
	int rc;

	if (!a->mask)
		return 0;
	rc = gtp_buffer_add_regs(&cpu->buf, cpu->env.regs, cpu->env.pc, a->mask);
	if (rc == -E2BIG)
		cpu->env.err = (struct ax_error){ AX_E_TOO_MUCH, 0, 0, sizeof(struct gtp_regs), 0 };
	return rc;
}

/* Collect $_sdata. If the kernel makes no record, count that; the frame is useful without it. */
static int collect_static(struct gtp_cpu *cpu)
{
	const struct gtp_run *run = cpu->run;
	int rc = run->hit_ops->sdata(run->ctx, cpu->tp->loc, cpu->env.regs, &cpu->buf);

	if (rc == -E2BIG)
		cpu->env.err = (struct ax_error){ AX_E_TOO_MUCH, 0, 0, GTP_SDATA_RECORD_MAX, 0 };
	if (rc != -ENODATA)
		return rc;
	cpu->no_sdata++;
	return 0;
}

static int collect(struct gtp_cpu *cpu, const struct gtp_action *a)
{
	switch (a->kind) {
	case GTP_ACTION_REGS:
		return collect_regs(cpu, a);
	case GTP_ACTION_MEM:
		return collect_mem(cpu, a);
	case GTP_ACTION_EXPR:
		return evaluate(cpu, a->expr, NULL);
	case GTP_ACTION_STATIC:
		return collect_static(cpu);
	}
	return 0;
}

/*
 * End the run because a frame does not fit. In circular mode it still does not fit after all old
 * frames have been dropped.
 */
static void full(struct gtp_cpu *cpu)
{
	gtp_buffer_abort(&cpu->buf);
	end_run(cpu, GTP_STOP_FULL);
}

static int start_again(struct gtp_cpu *cpu, u32 start)
{
	gtp_buffer_rewind(&cpu->buf, start);
	return -EAGAIN;
}

/*
 * Run all actions as one snippet, after one reservation of room. A snippet cannot collect static
 * data: collect it first. Return: 0; the snippet's error, with the number of the failed action in
 * @n; or -EAGAIN with an unchanged frame if there is no room for all blocks or static data failed.
 * After -EAGAIN the caller runs the actions one by one, which fills the room and reports the
 * failure.
 */
static int collect_at_once(struct gtp_cpu *cpu, u32 *n)
{
	const u32 bytes_mask = (1U << AX_PROGRESS_ACTION) - 1;
	u32 start = gtp_buffer_mark(&cpu->buf), mark;
	int rc;

	if (cpu->tp->sdata && unlikely(collect_static(cpu)))
		return start_again(cpu, start);
	mark = gtp_buffer_mark(&cpu->buf);
	cpu->env.frame = gtp_buffer_reserve(&cpu->buf, cpu->tp->frame_bytes);
	if (unlikely(!cpu->env.frame))
		return start_again(cpu, start);
	rc = ax_jit_run((ax_jit_fn)cpu->tp->code, &cpu->env, NULL);
	if (unlikely(rc)) {
		*n = cpu->env.progress >> AX_PROGRESS_ACTION;
		gtp_buffer_rewind(&cpu->buf, mark + (cpu->env.progress & bytes_mask));
	}
	return rc;
}

static const struct gtp_action *nth_action(const struct gtp_tracepoint *tp, u32 n)
{
	const struct gtp_action *a = tp->actions;

	while (--n)
		a = a->next;
	return a;
}

static bool aggregates(const struct gtp_action *a)
{
	return a->expr && a->expr->ax.flags & AX_F_AGGREGATES;
}

/*
 * Run the actions that follow the first @done ones. If @done is not 0, a snippet ran those, and the
 * last of them failed. Stop at the first failure, unless failures do not end the run, and after the
 * end of a pair without a start. If an action that sets a key failed, skip aggregations: the key is
 * that of an earlier hit. Return: 0; -ENOSPC: no room; -EBUSY: missed; else the first error.
 */
static int collect_one_by_one(struct gtp_cpu *cpu, u32 done)
{
	const struct gtp_action *a;
	bool key_failed = unlikely(done) && nth_action(cpu->tp, done)->sets_key;
	int first = 0;
	u32 n = 0;

	cpu->leave_out = false;
	for (a = cpu->tp->actions; a && likely(!cpu->leave_out); a = a->next) {
		int rc;

		if (n++ < done || (done && a->kind == GTP_ACTION_STATIC) ||
		    (unlikely(key_failed) && aggregates(a)))
			continue;
		rc = collect(cpu, a);
		if (!rc)
			continue;
		if (rc == -ENOSPC || rc == -EBUSY)
			return rc;
		key_failed |= a->sets_key;
		first = first ? first : rc;
		if (!fail(cpu, n, gtp_action_letter(a->kind)))
			break;
	}
	return first;
}

/* Report that the snippet failed at action @n. If that does not end the run, run the others. */
static int collect_behind(struct gtp_cpu *cpu, u32 n, int rc)
{
	char letter = gtp_action_letter(nth_action(cpu->tp, n)->kind);

	if (fail(cpu, n, letter) && collect_one_by_one(cpu, n) == -ENOSPC)
		return -ENOSPC;
	return rc;
}

static int collect_all(struct gtp_cpu *cpu)
{
	u32 n = 0;
	int rc = cpu->tp->code ? collect_at_once(cpu, &n) : -EAGAIN;

	if (rc == -EAGAIN)
		return collect_one_by_one(cpu, 0);
	return unlikely(rc) ? collect_behind(cpu, n, rc) : 0;
}

/*
 * Subtract the hit from @hits, which already includes it. Variables that it has set keep their new
 * values. A hit that was undone will be repeated, so do not count it as missed.
 */
static noinline void missed(struct gtp_cpu *cpu, u64 *hits)
{
	(*hits)--;
	cpu->busy += !gtp_hit_undone(cpu);
}

static bool find_room(struct gtp_cpu *cpu, u32 bytes)
{
	return likely(gtp_buffer_has_room(&cpu->buf, bytes)) ||
	       gtp_buffer_make_room(&cpu->buf, bytes);
}

static void write_frame(struct gtp_cpu *cpu, struct gtp_tp_stat *stat)
{
	struct gtp_buffer *buf = &cpu->buf;
	int rc;

	/*
	 * A pad writes a frame only if the longest string has room. Make that room now: otherwise
	 * the pad would leave the next hit to C, too.
	 */
	if (buf->circular && cpu->tp->plan.in_pad && !cpu->tp->code)
		find_room(cpu, STRING_ROOM);
	if (gtp_buffer_begin(buf, (u16)cpu->tp->num, cpu->env.pc, gtp_hit_time(cpu))) {
		end_run(cpu, GTP_STOP_FULL);
		return;
	}
	rc = collect_all(cpu);
	if (rc == -ENOSPC) {
		full(cpu);
		return;
	}
	if (unlikely(rc == -EBUSY || gtp_hit_undone(cpu))) {
		gtp_buffer_abort(buf);
		missed(cpu, &stat->hits);
		return;
	}
	stat->usage += gtp_buffer_mark(buf);
	gtp_buffer_commit(buf, gtp_hit_frame_flags(cpu->tp, rc));
}

/* Update aggregations. Out of line, so that hits that write a frame save no registers for it. */
static noinline void update_only(struct gtp_cpu *cpu, struct gtp_tp_stat *stat)
{
	if (!cpu->tp->code) {
		if (collect_one_by_one(cpu, 0) == -EBUSY)
			missed(cpu, &stat->hits);
	} else if (ax_jit_run((ax_jit_fn)cpu->tp->code, &cpu->env, NULL)) {
		collect_behind(cpu, cpu->env.progress >> AX_PROGRESS_ACTION, -EINVAL);
	}
	stat->hits -= gtp_hit_undone(cpu);
}

/* --- handling one tracepoint --- */

/* Put the error of a failed dprintf into the ring in place of a line; do not end the run. */
static noinline void dprintf_failed(struct gtp_cpu *cpu)
{
	put_line(cpu, true, &cpu->env.err, sizeof(cpu->env.err));
}

static noinline void print_line(struct gtp_cpu *cpu)
{
	struct gtp_tracepoint *tp = cpu->tp;
	int rc;

	tp->dprintf[cpu->id].hits++;
	rc = evaluate(cpu, tp->actions->expr, NULL);
	if (unlikely(rc == -EBUSY))
		missed(cpu, &tp->dprintf[cpu->id].hits);
	else if (rc)
		dprintf_failed(cpu);
}

/* Record a hit whose condition holds and whose pass count is not used up. */
static noinline void record(struct gtp_cpu *cpu)
{
	struct gtp_tracepoint *tp = cpu->tp;
	struct gtp_tp_stat *stat;

	cpu->env.pc = gtp_hit_pc(cpu);
	if (tp->dprintf) {
		print_line(cpu);
		return;
	}
	stat = &cpu->stat[tp->slot];
	stat->hits++;
	if (unlikely(tp->only_updates))
		update_only(cpu, stat);
	else
		write_frame(cpu, stat);
}

/* Finish a frame after its snippet failed: the bytes counted in env.progress are valid. */
void gtp_hit_failed(struct gtp_cpu *cpu)
{
	struct gtp_tracepoint *tp = cpu->tp;
	u32 n = cpu->env.progress >> AX_PROGRESS_ACTION;

	cpu->quick[tp->slot]--;
	if (gtp_hit_undo(cpu)) /* the frame has not been added to the buffer */
		return;
	cpu->env.pc = tp->addr; /* the interpreter reads it as rip */
	cpu->stat[tp->slot].hits++;
	if (tp->only_updates) {
		collect_behind(cpu, n, -EINVAL);
		return;
	}
	cpu->buf.open = (u32)sizeof(struct gtp_frame) +
			(cpu->env.progress & ((1U << AX_PROGRESS_ACTION) - 1));
	if (collect_behind(cpu, n, -EINVAL) == -ENOSPC) {
		full(cpu);
		return;
	}
	cpu->stat[tp->slot].usage += cpu->buf.open;
	gtp_buffer_commit(&cpu->buf, gtp_hit_frame_flags(tp, -EINVAL));
}

static __always_inline void act_once(struct gtp_cpu *cpu, struct gtp_tracepoint *tp)
{
	ax_jit_actions_fn quick = (ax_jit_actions_fn)gtp_acquire(&tp->plan.quick);
	u64 start = READ_ONCE(tp->plan.start);

	if (unlikely(!quick || !find_room(cpu, (u32)start))) {
		record(cpu);
		return;
	}
	gtp_hit_record(cpu, tp, cpu->env.regs, quick, start, gtp_hit_time(cpu));
}

static noinline void act_counted(struct gtp_cpu *cpu, struct gtp_tracepoint *tp)
{
	u64 nth = gtp_fetch_add(&tp->pass_hits, 1) + 1;

	/* A hit on another CPU has used up the pass count and is ending the run. */
	if (unlikely(nth > tp->pass))
		return;
	act_once(cpu, tp);
	if (unlikely(nth == tp->pass))
		end_run(cpu, GTP_STOP_PASSCOUNT);
}

/* Count the hit of a tracepoint whose condition holds, and record it. */
static noinline void act(struct gtp_cpu *cpu)
{
	struct gtp_tracepoint *tp = cpu->tp;

	if (unlikely(tp->pass))
		act_counted(cpu, tp);
	else
		act_once(cpu, tp);
}

/* Evaluate a condition that needs the interpreter or the lock; false if the evaluation fails. */
static noinline bool holds_slowly(struct gtp_cpu *cpu, const struct gtp_expr *cond)
{
	int rc;

	cpu->env.pc = gtp_hit_pc(cpu);
	rc = evaluate(cpu, cond, &cpu->value);
	if (!rc)
		return cpu->value;
	if (rc == -EBUSY) {
		cpu->busy++;
		return false;
	}
	if (cpu->tp->dprintf) {
		cpu->tp->dprintf[cpu->id].hits++;
		dprintf_failed(cpu);
		return false;
	}
	fail(cpu, 0, 'c');
	return false;
}

static __always_inline bool holds(struct gtp_cpu *cpu, const struct gtp_expr *cond)
{
	struct ax_jit_result r;

	if (unlikely(!cond->compiled || cond->ax.flags & AX_F_LOCKED))
		return holds_slowly(cpu, cond);
	r = ((ax_jit_fn)cond->compiled)(cpu->env.regs, &cpu->env);
	if (likely(!r.status))
		return r.value;
	fail(cpu, 0, 'c');
	return false;
}

static __always_inline void take_turn(struct gtp_cpu *cpu, struct gtp_tracepoint *tp, bool held)
{
	if (!READ_ONCE(tp->on))
		return;
	cpu->tp = tp;
	if (held || !tp->cond || holds(cpu, tp->cond))
		act(cpu);
}

bool gtp_hit_holds(struct gtp_cpu *cpu)
{
	return !cpu->tp->cond || holds(cpu, cpu->tp->cond);
}

void gtp_hit_turn(struct gtp_cpu *cpu, struct gtp_tracepoint *tp, bool held)
{
	take_turn(cpu, tp, held);
}

/*
 * Handle all tracepoints of the location, beginning with @tp; stop if the run ends. Nearly always
 * there is only one.
 */
static __always_inline void take_turns(struct gtp_cpu *cpu, struct gtp_tracepoint *tp, bool held)
{
	cpu->env.time = 0;
	take_turn(cpu, tp, held);
	while ((tp = gtp_acquire(&tp->next_here)) && READ_ONCE(cpu->run->active))
		take_turn(cpu, tp, false);
}

void gtp_hit_turns(struct gtp_cpu *cpu, struct gtp_tracepoint *tp)
{
	take_turns(cpu, tp, false);
}

void gtp_hit_held_turns(struct gtp_cpu *cpu, struct gtp_tracepoint *tp)
{
	take_turns(cpu, tp, true);
}

void gtp_hit(struct gtp_tracepoint *first, struct gtp_cpu *cpu, const struct gtp_regs *regs,
	     u32 entered)
{
	gtp_hit_inline(first, cpu, regs, false, entered);
}

void gtp_hit_held(struct gtp_tracepoint *first, struct gtp_cpu *cpu, const struct gtp_regs *regs,
		  u32 entered)
{
	gtp_hit_inline(first, cpu, regs, true, entered);
}
